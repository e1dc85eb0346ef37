package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Observation is what a refresh found on one member.
type Observation struct {
	Member  string
	Gone    bool              // certainly not there any more, or being deleted
	Err     error             // nothing is known; the last state holds
	Drift   map[string]string // JSON pointer → live value, where others changed what is ours
	Drifted bool              // the refresh before had found it changed by others
	Changed string            // who changed it, and when

	FormerOwner string // the object is this resource's, and marked for an owner that the provider had before
}

// Refresh looks at every copy of a record, and notes in it what was found. Applied renders what was last written to a member.
func (f *Fleet) Refresh(ctx context.Context, t *Target, record *Record, applied *Rendering) []Observation {
	f.memory.noteRead(record.Resource)
	observations := each(ctx, f, record.Members(), func(ctx context.Context, name string) Observation {
		o := Observation{Member: name}
		o.Err = f.look(ctx, t, record, applied, &o)
		return o
	})
	f.askAgain(ctx, t, record)
	return observations
}

func (f *Fleet) look(ctx context.Context, t *Target, record *Record, applied *Rendering, o *Observation) error {
	m, err := f.config.Registry.Open(ctx, o.Member)
	if err != nil {
		return f.orRenamed(ctx, t, record, o.Member, err)
	}
	object, gone, err := t.objectOrGone(ctx, m)
	if err != nil || gone {
		o.Gone = gone
		return err
	}
	c := record.Copies[o.Member]
	o.Drifted = c.Drift
	want, err := applied.Of(record, o.Member)
	if err != nil {
		return err
	}
	listed, err := f.listed(ctx, m, object)
	if err != nil {
		return err
	}
	if listed != nil && listed.DeletionTimestamp == nil && untouched(c, object.Kind, listed, t.marked(want)) {
		return nil
	}
	return f.inspect(ctx, t, m, object, record, want, o)
}

// untouched compares what the LIST tells with what was last observed. Labels and annotations are compared on ours alone: controllers
// add theirs right after a write. Finalizers and owner references move neither generation nor labels.
func untouched(c *Copy, kind member.Kind, listed *metav1.PartialObjectMetadata, want map[string]any) bool {
	if c.Drift || c.Foreign || c.UID != listed.UID || c.Stamp != stamp(listed.Generation, listed.ResourceVersion, kind.GVK.Kind) {
		return false
	}
	ours := &unstructured.Unstructured{Object: want}
	return holds(listed.Labels, ours.GetLabels()) && holds(listed.Annotations, ours.GetAnnotations()) &&
		!slices.ContainsFunc(ours.GetFinalizers(), func(f string) bool { return !slices.Contains(listed.Finalizers, f) }) &&
		!slices.ContainsFunc(ours.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return !slices.ContainsFunc(listed.OwnerReferences, func(l metav1.OwnerReference) bool { return l.UID == r.UID })
		})
}

func holds(all, some map[string]string) bool {
	for key, value := range some {
		if have, ok := all[key]; !ok || have != value {
			return false
		}
	}
	return true
}

// inspect reads the whole object and compares the fields that are ours.
func (f *Fleet) inspect(ctx context.Context, t *Target, m *member.Member, object member.Object, record *Record, want map[string]any, o *Observation) error {
	live, err := m.Get(ctx, object)
	if err != nil {
		return err
	}
	c := record.Copies[o.Member]
	if live == nil || live.GetDeletionTimestamp() != nil || !isOurs(live, c, record) {
		o.Gone = true
		return nil
	}
	if err := t.checkMark(m, object, live, c); err != nil {
		return err
	}
	if mark, marked := member.MarkOf(live); c.Foreign && !(marked && mark.Resource == record.Resource) {
		t.inspectImported(c, live, want, o)
		return nil
	}
	if mark, ok := member.MarkOf(live); ok && mark.Owner != t.Mark.Owner {
		o.FormerOwner = mark.Owner
		f.memory.noteFormerOwner(mark.Owner)
	}
	seen := *c
	seen.Foreign, seen.From, seen.Recovered = false, "", false // imported, and marked by a write whose answer was lost
	if err := record.observe(&seen, live, m.FieldManager()); err != nil {
		return err
	}
	if seen.Fields == c.Fields && c.Fields != "" && holdsMarked(live, t.marked(want)) {
		seen.Drift = false
		*c = seen
		return nil
	}
	whole, err := t.drift(ctx, m, object, want, live, o)
	if err != nil {
		return err
	}
	seen.Drift = len(o.Drift) > 0
	if seen.Drift {
		seen.Stamp = c.Stamp
	}
	if seen.Drift || !whole { // what others hold now is not in the new hash, and must be looked at again when the object moves
		seen.Fields = c.Fields
	}
	*c = seen
	return nil
}

// IsOwnerMark reports whether a JSON pointer leads to a mark that says whose an object is.
func IsOwnerMark(pointer string) bool {
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	return pointer == "/metadata/labels/"+escape(member.OwnerLabel) || pointer == "/metadata/annotations/"+escape(member.OwnerAnnotation)
}

// isOurs: the very object we wrote, or another one that carries our mark (restored from a backup).
func isOurs(live *unstructured.Unstructured, c *Copy, record *Record) bool {
	if live.GetUID() == c.UID {
		return true
	}
	mark, ok := member.MarkOf(live)
	return ok && mark.Resource == record.Resource
}

func holdsMarked(live *unstructured.Unstructured, want map[string]any) bool {
	ours := &unstructured.Unstructured{Object: want}
	return holds(live.GetLabels(), ours.GetLabels()) && holds(live.GetAnnotations(), ours.GetAnnotations())
}

// drift compares a live object with what the API server would make of our last manifest now: that passes admission again, so what
// webhooks and defaults change is no drift. Both sides are compared on the fields that the manifest owns, list order included. whole says
// that our entry in managedFields still has all these fields: one that others have changed, and changed back, is theirs.
func (t *Target) drift(ctx context.Context, m *member.Member, object member.Object, want map[string]any, live *unstructured.Unstructured, o *Observation) (whole bool, err error) {
	answer, err := m.Apply(ctx, object, t.marked(want), member.ApplyOptions{DryRun: true, Force: true, Require: member.Precondition{UID: live.GetUID()}})
	var refused *member.RefusedError
	if errors.As(err, &refused) {
		o.Drift = t.unlike(live, want)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	owned, err := ownedBy(answer.Live, m.FieldManager())
	if err != nil {
		return false, err
	}
	o.Drift = federation.Drift(t.projected(answer.Live.Object, member.Project(answer.Live.Object, owned)),
		t.projected(live.Object, member.Project(live.Object, owned)), t.Sensitive)
	if by, ok := member.Taker(live, m.FieldManager(), owned); ok && len(o.Drift) > 0 {
		o.Changed = by.String()
	}
	held, err := ownedBy(live, m.FieldManager())
	return err == nil && owned.Difference(held).Empty(), err
}

// projected completes a projection by what says which kind it is, so that Secret data is recognised.
func (t *Target) projected(whole map[string]any, part any) map[string]any {
	tree, ok := part.(map[string]any)
	if !ok {
		tree = map[string]any{}
	}
	tree = maps.Clone(tree)
	tree["apiVersion"], tree["kind"] = whole["apiVersion"], whole["kind"]
	return tree
}

// shaped keeps of a tree what has a place in the manifest: the comparison for an account that may not even ask for a dry run.
func shaped(tree map[string]any, manifest map[string]any) map[string]any {
	kept, _ := shape(tree, manifest).(map[string]any)
	return kept
}

func shape(value, like any) any {
	switch pattern := like.(type) {
	case map[string]any:
		node, ok := value.(map[string]any)
		if !ok {
			return value
		}
		kept := map[string]any{}
		for key, child := range pattern {
			if have, ok := node[key]; ok {
				kept[key] = shape(have, child)
			}
		}
		return kept
	case []any:
		node, ok := value.([]any)
		if !ok || len(node) != len(pattern) {
			return value
		}
		kept := make([]any, len(node))
		for i := range node {
			kept[i] = shape(node[i], pattern[i])
		}
		return kept
	}
	return value
}
