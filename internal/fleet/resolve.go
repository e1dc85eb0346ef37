package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// Desired is what one member shall hold.
type Desired struct {
	Tree  map[string]any // nil when something it depends on is unknown; shared, not to be modified
	Used  []int          // override entries in it
	Known bool

	variant string // the same for members that get the same
}

// Resolution is what a spec means: which object, on which members, and what each of them gets.
type Resolution struct {
	GVK      schema.GroupVersionKind
	ID       federation.ID
	IDKnown  bool
	Template map[string]any // normalized; nil when not wholly known
	Scope    *Scope

	Placed      []string // sorted
	PlacedKnown bool
	Desired     map[string]Desired // by placed member
	Findings    []Finding

	order   federation.Rollout
	members map[string]federation.Member // that are known, by name
}

// Object names the object for messages.
func (r *Resolution) Object() string { return r.ID.String() }

// Resolve computes placement and content from a spec and what is known of the members: stored facts, or (stored nil) the registry as it
// is. placed are the members that have the object. Errors in the spec become findings; the error is about the registry.
func (f *Fleet) Resolve(ctx context.Context, spec Spec, stored *Facts, placed []string) (*Resolution, error) {
	r := &Resolution{Desired: map[string]Desired{}}
	candidates, known, err := f.candidates(ctx, spec, stored)
	if err != nil {
		return nil, err
	}
	r.place(spec, candidates, known, placed)
	r.leaveFormer(stored)
	r.arrange(spec, candidates, known, placed)
	r.identify(spec)
	if HasError(r.Findings) {
		return r, nil
	}
	if r.Scope = scopeIn(stored); r.Scope == nil && r.GVK.Kind != "" {
		r.Scope = f.scopeOf(ctx, r.GVK, r.Placed)
	}
	r.normalize(spec)
	f.skip(ctx, r, spec, stored)
	r.render(spec, candidates)
	return r, nil
}

func scopeIn(facts *Facts) *Scope {
	if facts == nil {
		return nil
	}
	return facts.Scope
}

func (r *Resolution) place(spec Spec, candidates []Candidate, known bool, placed []string) {
	if spec.PlacementUnknown || (!known && spec.Placement.Selector != nil) {
		return
	}
	had := map[string]bool{}
	for _, name := range placed {
		had[name] = true
	}
	choice, err := spec.Placement.Choose(members(candidates), had)
	if err != nil {
		r.fault(federation.Below(err, "placement"))
		return
	}
	r.Placed, r.PlacedKnown = slices.Clone(choice.Clusters), true
	if spec.Placement.Selector != nil && len(choice.Clusters) == 0 {
		r.Findings = append(r.Findings, Finding{Path: []string{"placement", "cluster_selector"}, Summary: "No member is selected",
			Detail: "No member matches the selector: none gets the object, and those that have it lose it.", Advice: "Check the selector against the members' labels, which data.kubefed_clusters shows."})
	}
	if spec.Placement.Clusters != nil {
		r.Placed = slices.Compact(slices.Sorted(slices.Values(spec.Placement.Clusters)))
	}
}

// leaveFormer takes out members that had the object and are registered no longer: they are leaving, and do not answer.
func (r *Resolution) leaveFormer(stored *Facts) {
	if stored == nil {
		return
	}
	r.Placed = slices.DeleteFunc(r.Placed, func(name string) bool { return slices.Contains(stored.Former, name) })
}

func (r *Resolution) fault(err error) {
	r.Findings = append(r.Findings, inputFindings(err)...)
}

// identify reads which object the template is about, as far as that is known.
func (r *Resolution) identify(spec Spec) {
	if touches(spec.TemplateUnknown, "/apiVersion", "/kind", "/metadata/name") {
		return
	}
	apiVersion, id, err := federation.Identify(spec.Template)
	if err != nil {
		r.fault(federation.Below(err, "template"))
		return
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		r.Findings = append(r.Findings, Finding{Error: true, Path: []string{"template"}, Summary: "Invalid apiVersion", Detail: err.Error()})
		return
	}
	r.GVK, r.ID = gv.WithKind(id.Kind), id
}

// touches reports whether one of the unknown pointers is, holds or is part of one of paths.
func touches(unknown []string, paths ...string) bool {
	for _, u := range unknown {
		for _, path := range paths {
			if u == path || strings.HasPrefix(path, u+"/") || u == "" {
				return true
			}
		}
	}
	return false
}

// normalize brings the template into the form that is sent, and completes the identity by the namespace.
func (r *Resolution) normalize(spec Spec) {
	if r.GVK.Kind == "" {
		return
	}
	options := federation.TemplateOptions{DefaultNamespace: spec.DefaultNamespace}
	if r.Scope != nil {
		options.Namespaced, options.HasStatus = &r.Scope.Namespaced, r.Scope.Status
	}
	template, warnings, err := federation.Normalize(spec.Template, options)
	if err != nil {
		r.fault(federation.Below(err, "template"))
		return
	}
	_, r.ID, err = federation.Identify(template)
	if err != nil {
		r.fault(federation.Below(err, "template"))
		return
	}
	namespaceOpen := r.ID.Namespace == "" && (r.Scope == nil || r.Scope.Namespaced)
	r.IDKnown = !touches(spec.TemplateUnknown, "/metadata/namespace") && !namespaceOpen
	if len(spec.TemplateUnknown) == 0 && r.IDKnown {
		r.Template = template
	}
	for _, text := range warnings {
		r.Findings = append(r.Findings, Finding{Path: []string{"template"}, Summary: "Template is not used as it is", Detail: text})
	}
}

// skip leaves out the members that lack the kind or the namespace where the policy says so. In a plan that creates, nobody has stored
// which these are, and it may be otherwise when Terraform plans again: then the placement is unknown.
func (f *Fleet) skip(ctx context.Context, r *Resolution, spec Spec, stored *Facts) {
	if !spec.skips() || !r.PlacedKnown || r.GVK.Kind == "" {
		return
	}
	var lacking map[string]string
	if stored != nil && stored.Lacking != nil {
		lacking = stored.Lacking
	} else if lacking = f.lacking(ctx, spec, r.GVK, r.ID.Namespace, r.Placed); len(lacking) > 0 && !f.memory.isApplying() {
		r.Placed, r.PlacedKnown = nil, false
		return
	}
	r.Placed = slices.DeleteFunc(r.Placed, func(name string) bool { return lacking[name] != "" })
}

// render computes what each placed member gets.
func (r *Resolution) render(spec Spec, candidates []Candidate) {
	byName := map[string]Candidate{}
	for _, c := range candidates {
		byName[c.Name] = c
	}
	renderer := &renderer{template: r.Template, spec: spec, overrides: spec.overrides(), done: map[string]Desired{}}
	for _, name := range r.Placed {
		c, known := byName[name]
		if r.Template == nil || spec.OverridesUnknown || spec.replicasUnknown(name) || !known || matchesUnknown(spec, c.member()) {
			r.Desired[name] = Desired{}
			continue
		}
		desired, err := renderer.of(c.member())
		if err != nil {
			r.fault(err)
			continue
		}
		r.Desired[name] = desired
	}
	for _, text := range renderer.warnings {
		r.Findings = append(r.Findings, Finding{Path: []string{"overrides"}, Summary: "Override may not do what is meant", Detail: text})
	}
}

// renderer renders what members get. Most get the same, which is rendered once.
type renderer struct {
	template  map[string]any
	spec      Spec
	overrides []federation.Override
	done      map[string]Desired // by variant
	warnings  []string
}

func (r *renderer) of(m federation.Member) (Desired, error) {
	replicas, sets := r.spec.replicasOf(m.Name)
	variant := fmt.Sprint(r.matching(m), sets, replicas)
	if desired, ok := r.done[variant]; ok {
		return desired, nil
	}
	tree, used, warnings, err := federation.Render(r.template, r.overrides, m)
	if err != nil {
		return Desired{}, err
	}
	if sets {
		if err := federation.SetReplicas(tree, replicas); err != nil {
			return Desired{}, federation.Below(err, "replicas")
		}
	}
	for _, text := range warnings {
		if !slices.Contains(r.warnings, text) {
			r.warnings = append(r.warnings, text)
		}
	}
	r.done[variant] = Desired{Tree: tree, Used: used, Known: true, variant: variant}
	return r.done[variant], nil
}

// matching are the overrides of a member. An error in one is left to Render, which says it better: -1 keeps it apart.
func (r *renderer) matching(m federation.Member) []int {
	var list []int
	for i, o := range r.overrides {
		matches, err := o.Matches(m)
		if err != nil {
			return []int{-1}
		}
		if matches {
			list = append(list, i)
		}
	}
	return list
}

// matchesUnknown reports whether an override whose content is unknown applies to the member.
func matchesUnknown(spec Spec, m federation.Member) bool {
	return slices.ContainsFunc(spec.Overrides, func(o Override) bool {
		if !o.Unknown {
			return false
		}
		matches, err := o.Matches(m)
		return err == nil && matches
	})
}
