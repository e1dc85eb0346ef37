package fleet

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Found is an object that exists on members without being in a state.
type Found struct {
	Members  []string // sorted
	Template map[string]any
	Patches  map[string]map[string]any // member → merge patch from the template, where it holds something else
	Scope    Scope
	Record   *Record
	Findings []Finding
}

// ScopeError says that a namespace is given for a kind that lives in none, or none for a kind that lives in one.
type ScopeError struct {
	Kind       string
	Namespaced bool // the kind lives in a namespace
}

func (e *ScopeError) Error() string {
	if e.Namespaced {
		return e.Kind + " lives in a namespace, and none is given"
	}
	return e.Kind + " lives in no namespace, and one is given"
}

// UnservedError says that no member that answers serves the kind of an object.
type UnservedError struct {
	GVK     schema.GroupVersionKind
	Members []string      // that were asked, and answered
	Named   []member.Kind // that the first of them serves by the same name, whatever its case, or by that of the resource
}

func (e *UnservedError) Error() string {
	return fmt.Sprintf("no member that answers serves %s %s; asked: %s", e.GVK.GroupVersion(), e.GVK.Kind, quoted(e.Members))
}

// Find looks on every member for an object that is to be imported. The template is what the first member's copy says, without what the API
// server and the cluster put into it. Besides those of the registry, errors are UnservedError, ScopeError, and one that says that nobody has it.
func (f *Fleet) Find(ctx context.Context, gvk schema.GroupVersionKind, id federation.ID) (*Found, error) {
	entries, err := f.config.Registry.Members(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	record, err := NewRecord()
	if err != nil {
		return nil, err
	}
	t := &Target{GVK: gvk, ID: id}
	found := &Found{Patches: map[string]map[string]any{}, Record: record}
	unserved := &UnservedError{GVK: gvk}
	copies := each(ctx, f, names, func(ctx context.Context, name string) sighting { return f.sight(ctx, t, name) })
	for i, s := range copies {
		var scope *ScopeError
		if errors.As(s.err, &scope) {
			return nil, scope
		}
		if s.err != nil {
			finding := t.finding(names[i], s.err)
			finding.Error, finding.Path = false, nil
			finding.Advice = "If it holds the object, import again when it is back."
			found.Findings = append(found.Findings, finding)
		}
		if s.unserved {
			unserved.add(names[i], s.named)
		}
		if s.live != nil {
			found.add(names[i], s)
		}
	}
	switch {
	case len(found.Members) > 0:
		found.Findings = append(found.Findings, f.taken(t, names, copies)...)
		return found, nil
	case len(unserved.Members) > 0 && len(unserved.Members)+len(found.Findings) == len(names):
		return found, unserved
	}
	return found, fmt.Errorf("no member that answers holds %s; asked: %s", id, quoted(names))
}

func (e *UnservedError) add(name string, named []member.Kind) {
	if len(e.Members) == 0 {
		e.Named = named
	}
	e.Members = append(e.Members, name)
}

// taken tells of copies that belong to another configuration, by the mark they carry: importing is how an object moves from one to the other.
func (f *Fleet) taken(t *Target, names []string, copies []sighting) []Finding {
	var findings []Finding
	for i, s := range copies {
		if s.live == nil {
			continue
		}
		if mark, marked := member.MarkOf(s.live); marked && mark.Owner != f.config.Owner {
			findings = append(findings, Finding{Members: []string{names[i]}, Summary: t.ID.String() + " is taken over",
				Detail: fmt.Sprintf("it belongs to the configuration with owner %q. The first change here makes it this configuration's, and it is not deleted before.", mark.Owner),
				Advice: "Take it out of the other configuration (a removed block with destroy = false): two that hold one object refuse each other."})
		}
	}
	return findings
}

type sighting struct {
	live     *unstructured.Unstructured
	scope    Scope
	unserved bool          // the member does not serve the kind,
	named    []member.Kind // and these by its name
	err      error
}

func (f *Fleet) sight(ctx context.Context, t *Target, name string) sighting {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return sighting{err: err}
	}
	kinds, err := m.Kinds(ctx)
	if err != nil {
		return sighting{err: err}
	}
	object, err := t.object(ctx, m)
	if isNotServed(err) {
		return sighting{unserved: true, named: kinds.Named(t.GVK.Kind)}
	}
	if err != nil {
		return sighting{err: err}
	}
	if object.Kind.Namespaced != (t.ID.Namespace != "") {
		return sighting{err: &ScopeError{Kind: t.ID.Kind, Namespaced: object.Kind.Namespaced}}
	}
	live, err := m.Get(ctx, object)
	if err == nil && live != nil && live.GetDeletionTimestamp() != nil {
		live = nil
	}
	return sighting{live: live, scope: Scope{Namespaced: object.Kind.Namespaced, Status: object.Kind.HasStatus}, err: err}
}

func (found *Found) add(name string, s sighting) {
	written := writtenBySomeone(s.live)
	if found.Template == nil {
		found.Template, found.Scope = written, s.scope
	} else if patch, differs := mergeBetween(found.Template, written).(map[string]any); differs && len(patch) > 0 {
		found.Patches[name] = patch
	}
	found.Members = append(found.Members, name)
	mark, _ := member.MarkOf(s.live)
	found.Record.Copies[name] = &Copy{UID: s.live.GetUID(), Foreign: true, From: mark.Resource}
}

// mergeBetween is the RFC 7386 patch that makes to of from; nil when they are equal.
func mergeBetween(from, to any) any {
	a, isMap := from.(map[string]any)
	b, both := to.(map[string]any)
	if !isMap || !both {
		if reflect.DeepEqual(from, to) {
			return nil
		}
		return to
	}
	patch := map[string]any{}
	for key := range a {
		if _, kept := b[key]; !kept {
			patch[key] = nil
		}
	}
	for key, value := range b {
		old, had := a[key]
		if !had {
			patch[key] = value
		} else if change := mergeBetween(old, value); change != nil {
			patch[key] = change
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}
