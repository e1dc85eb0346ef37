package fleet

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// Override is an entry of overrides as far as it is known: with Unknown set, its selection is known and what it changes is not.
type Override struct {
	federation.Override
	Unknown bool
}

// Spec is what a configuration says about one federated resource. What is unknown at plan is left out and told by the flags.
type Spec struct {
	Template         map[string]any // as written, decoded
	TemplateUnknown  []string       // JSON pointers of what is unknown in it; "" = all
	DefaultNamespace string         // "" when unknown
	Placement        federation.Placement
	PlacementUnknown bool
	Overrides        []Override
	OverridesUnknown bool // not even known which entries apply to whom
	Replicas         map[string]int64
	ReplicasUnknown  bool
	ReplicasOpen     map[string]bool // members, or "*", of which the count is unknown
	Sensitive        []string        // JSON pointers
	Policy           Policy
	Deletion         Deletion
	Wait             Wait
	WaitUnknown      bool
	Rollout          *federation.Rollout // nil: all members at once
	RolloutUnknown   bool
}

// Deletion says how objects leave their members.
type Deletion struct {
	Orphan       bool
	Propagation  metav1.DeletionPropagation
	GraceSeconds *int64
	Protection   *bool // nil: true for Namespace and CustomResourceDefinition
}

// Protected reports whether objects of a kind must not be deleted with what is in them.
func (d Deletion) Protected(id federation.ID) bool {
	if d.Protection != nil {
		return *d.Protection
	}
	return isNamespace(id) || isDefinition(id)
}

func isNamespace(id federation.ID) bool { return id.Group == "" && id.Kind == "Namespace" }

func isDefinition(id federation.ID) bool {
	return id.Group == "apiextensions.k8s.io" && id.Kind == "CustomResourceDefinition"
}

// usesLabels reports whether the members' labels matter to the placement, to an override or to the order of the rollout.
func (s Spec) usesLabels() bool {
	return s.Placement.Selector != nil || s.ordersByLabel() ||
		slices.ContainsFunc(s.Overrides, func(o Override) bool { return o.Selector != nil })
}

func (s Spec) ordersByLabel() bool {
	return slices.ContainsFunc(s.groups(), func(g federation.Group) bool { return g.Selector != nil })
}

// groups are those of the rollout.
func (s Spec) groups() []federation.Group {
	if s.Rollout == nil {
		return nil
	}
	return s.Rollout.Groups
}

// asksTopology reports whether a selector looks at region or zone.
func (s Spec) asksTopology() bool {
	asks := func(selector *federation.Selector) bool {
		if selector == nil {
			return false
		}
		_, region := selector.MatchLabels[federation.RegionLabel]
		_, zone := selector.MatchLabels[federation.ZoneLabel]
		return region || zone || slices.ContainsFunc(selector.MatchExpressions, func(r federation.Requirement) bool {
			return r.Key == federation.RegionLabel || r.Key == federation.ZoneLabel
		})
	}
	return asks(s.Placement.Selector) || slices.ContainsFunc(s.Overrides, func(o Override) bool { return asks(o.Selector) }) ||
		slices.ContainsFunc(s.groups(), func(g federation.Group) bool { return asks(g.Selector) })
}

func (s Spec) overrides() []federation.Override {
	list := make([]federation.Override, len(s.Overrides))
	for i, o := range s.Overrides {
		list[i] = o.Override
	}
	return list
}

// replicasUnknown reports whether it is not known what `replicas` says for a member.
func (s Spec) replicasUnknown(member string) bool {
	if _, ok := s.Replicas[member]; ok {
		return s.ReplicasUnknown
	}
	return s.ReplicasUnknown || s.ReplicasOpen[member] || s.ReplicasOpen["*"]
}

// replicasOf answers what `replicas` says for a member: its own entry, else that of "*".
func (s Spec) replicasOf(member string) (int64, bool) {
	if n, ok := s.Replicas[member]; ok {
		return n, true
	}
	n, ok := s.Replicas["*"]
	return n, ok
}
