package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// Facts are what planned values depend on besides configuration and prior state. Terraform plans each resource once more when it applies,
// in another process and perhaps in another world, and refuses any difference: so Read, Create and Update store the facts in private
// state, and plans use the stored ones. They hold only what this resource's placement and overrides use, sorted, without times.
type Facts struct {
	Members []Candidate       `json:"members,omitempty"` // nil unless labels matter
	Scope   *Scope            `json:"scope,omitempty"`   // nil = nobody could say
	Lacking map[string]string `json:"lacking,omitempty"` // members that a "skip" policy leaves out → why
	Ready   []string          `json:"ready,omitempty"`   // members with something pending that can be reached
	Former  []string          `json:"former,omitempty"`  // named members that are registered no longer
}

// Candidate is a member as placement and overrides see it.
type Candidate struct {
	Name         string            `json:"name"`
	Labels       map[string]string `json:"labels,omitempty"`
	Region       string            `json:"region,omitempty"`
	Zones        []string          `json:"zones,omitempty"`
	Availability string            `json:"availability,omitempty"`
}

func (c Candidate) member() federation.Member {
	return federation.Member{Name: c.Name, Labels: c.Labels, Region: c.Region, Zones: c.Zones, Availability: c.Availability}
}

func candidate(e registry.Entry) Candidate {
	return Candidate{Name: e.Name, Labels: e.Labels, Region: e.Region, Zones: e.Zones, Availability: e.Availability}
}

// ParseFacts reads facts from private state; nil without data.
func ParseFacts(data []byte) (*Facts, error) {
	if len(data) == 0 {
		return nil, nil
	}
	facts := &Facts{}
	if err := json.Unmarshal(data, facts); err != nil {
		return nil, fmt.Errorf("read the stored facts: %w", err)
	}
	return facts, nil
}

// Bytes is the facts as private state keeps them.
func (f *Facts) Bytes() ([]byte, error) { return json.Marshal(f) }

// candidates gathers the members a plan chooses from: the stored ones where they are known, else those of the registry; announced ones
// always. known is false when the registry is unknown at plan and matters.
func (f *Fleet) candidates(ctx context.Context, spec Spec, stored *Facts) (list []Candidate, known bool, err error) {
	if !spec.usesLabels() {
		for _, name := range spec.Placement.Clusters {
			list = append(list, Candidate{Name: name})
		}
		return list, true, nil
	}
	if f.config.Registry.Unknown() != "" {
		return nil, false, nil
	}
	if stored != nil && stored.Members != nil {
		list, known = f.overlay(ctx, stored.Members)
		return list, known, nil
	}
	entries, err := f.config.Registry.Members(ctx)
	if err != nil {
		return nil, false, err
	}
	return f.registered(ctx, spec, entries, nil), !slices.ContainsFunc(entries, labelsUnknown), nil
}

func labelsUnknown(e registry.Entry) bool { return e.LabelsUnknown }

// registered are the candidates in the registry, with the topology of their nodes where the user gave none and a selector asks for it; that
// of a member which does not answer is the one it had before. The nodes of an announced member are not read: its labels outrank the registry
// until the process ends.
func (f *Fleet) registered(ctx context.Context, spec Spec, entries []registry.Entry, before []Candidate) []Candidate {
	topology := spec.asksTopology()
	names := make([]string, len(entries))
	byName := map[string]registry.Entry{}
	for i, e := range entries {
		names[i], byName[e.Name] = e.Name, e
	}
	return each(ctx, f, names, func(ctx context.Context, name string) Candidate {
		e := byName[name]
		c := candidate(e)
		if topology && !e.Announced && c.Region == "" && len(c.Zones) == 0 {
			nodes, err := f.config.Registry.NodeTopology(ctx, name)
			c.Region, c.Zones = nodes.Region, nodes.Zones
			if at := slices.IndexFunc(before, func(c Candidate) bool { return c.Name == name }); err != nil && at >= 0 {
				c.Region, c.Zones = before[at].Region, before[at].Zones
			}
		}
		return c
	})
}

// overlay puts the members that this run has announced over the stored ones. Both are sorted by name, and so is the result; known is
// false when the labels of an announced one are not.
func (f *Fleet) overlay(ctx context.Context, stored []Candidate) (list []Candidate, known bool) {
	entries, err := f.config.Registry.Members(ctx)
	if err != nil {
		return stored, true
	}
	byName := make(map[string]Candidate, len(stored))
	for _, c := range stored {
		byName[c.Name] = c
	}
	known = true
	for _, e := range entries {
		if e.Announced {
			byName[e.Name] = candidate(e)
			known = known && !e.LabelsUnknown
		}
	}
	for _, name := range sortedKeys(byName) {
		list = append(list, byName[name])
	}
	return list, known
}

// GatherFacts collects for private state what the next plans of this configuration depend on. pending are the members with something
// left to write. What cannot be had now is taken from the facts stored before.
func (f *Fleet) GatherFacts(ctx context.Context, spec Spec, gvk schema.GroupVersionKind, namespace string, placed, pending []string, before *Facts) (*Facts, error) {
	facts := &Facts{}
	if before != nil {
		facts.Scope, facts.Members, facts.Lacking = before.Scope, before.Members, before.Lacking
	}
	var failed error
	if spec.usesLabels() {
		entries, err := f.config.Registry.Members(ctx)
		if failed = err; err == nil {
			joined := slices.DeleteFunc(slices.Clone(entries), func(e registry.Entry) bool { return e.Source == registry.SourceAnnounced })
			facts.Members = f.registered(ctx, spec, joined, facts.Members)
		}
	} else {
		facts.Members = nil
	}
	facts.Former = f.formerMembers(ctx, spec)
	if facts.Scope == nil {
		facts.Scope = f.scopeOf(ctx, gvk, placed)
	}
	if spec.skips() && failed == nil {
		facts.Lacking = f.lacking(ctx, spec, gvk, namespace, f.choosable(spec, facts))
	} else if !spec.skips() {
		facts.Lacking = nil
	}
	for i, ready := range each(ctx, f, pending, f.answers) {
		if ready {
			facts.Ready = append(facts.Ready, pending[i])
		}
	}
	return facts, failed
}

// formerMembers are the names in a placement that are registered no longer; none while the registry cannot be read.
func (f *Fleet) formerMembers(ctx context.Context, spec Spec) []string {
	if len(spec.Placement.Clusters) == 0 || f.config.Registry.Unknown() != "" {
		return nil
	}
	entries, err := f.config.Registry.Members(ctx)
	if err != nil {
		return nil
	}
	former := slices.Sorted(slices.Values(spec.Placement.Clusters))
	return slices.DeleteFunc(former, func(name string) bool {
		return slices.ContainsFunc(entries, func(e registry.Entry) bool { return e.Name == name })
	})
}

func (f *Fleet) answers(ctx context.Context, name string) bool {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return false
	}
	_, err = m.Kinds(ctx)
	return err == nil
}

// choosable are the members that the placement chooses before the "skip" policies are asked.
func (f *Fleet) choosable(spec Spec, facts *Facts) []string {
	if !spec.usesLabels() {
		return spec.Placement.Clusters
	}
	choice, err := spec.Placement.Choose(members(facts.Members), nil)
	if err != nil {
		return nil
	}
	return choice.Clusters
}

func members(list []Candidate) []federation.Member {
	all := make([]federation.Member, len(list))
	for i, c := range list {
		all[i] = c.member()
	}
	return all
}

func (s Spec) skips() bool {
	return maySay(s.Policy.OnMissingAPI, PolicySkip) || maySay(s.Policy.OnMissingNamespace, PolicySkip)
}

// lacking says which members a "skip" policy leaves out, and why. A member that cannot be asked is not lacking anything.
func (f *Fleet) lacking(ctx context.Context, spec Spec, gvk schema.GroupVersionKind, namespace string, names []string) map[string]string {
	reasons := each(ctx, f, names, func(ctx context.Context, name string) string {
		return f.lacks(ctx, spec.Policy, gvk, namespace, name)
	})
	lacking := map[string]string{}
	for i, reason := range reasons {
		if reason != "" {
			lacking[names[i]] = reason
		}
	}
	return lacking
}

func (f *Fleet) lacks(ctx context.Context, policy Policy, gvk schema.GroupVersionKind, namespace, name string) string {
	if f.config.Registry.Announced(name) {
		return ""
	}
	kind, err := f.kindOn(ctx, name, gvk)
	if isNotServed(err) && maySay(policy.OnMissingAPI, PolicySkip) && !f.memory.kindAnnounced(name, gvk.GroupKind()) {
		return err.Error()
	}
	if err != nil || !kind.Namespaced || !maySay(policy.OnMissingNamespace, PolicySkip) || f.memory.namespaceAnnounced(name, namespace) {
		return ""
	}
	if there, err := f.hasNamespace(ctx, name, namespace); err == nil && !there {
		return fmt.Sprintf("member %s has no namespace %q", name, namespace)
	}
	return ""
}
