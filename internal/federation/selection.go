package federation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Labels every member carries for selectors, beside its own.
const (
	NameLabel   = "kubernetes.io/metadata.name"
	RegionLabel = "topology.kubernetes.io/region"
	ZoneLabel   = "topology.kubernetes.io/zone"
)

// Requirement is one entry of match_expressions.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// Selector chooses by label, as a Kubernetes label selector does: everything in it must hold. An empty one chooses everything.
type Selector struct {
	MatchLabels      map[string]string
	MatchExpressions []Requirement
}

// Selection is a choice of members: by name or by label, never both.
type Selection struct {
	// Clusters are names; nil means absent, an empty list none.
	Clusters []string
	// Selector is nil when absent.
	Selector *Selector
}

// Member is one cluster, as placement and overrides see it.
type Member struct {
	Name   string
	Labels map[string]string
	// Region and Zones are the user's, or what the nodes say; empty when unknown.
	Region string
	Zones  []string
	// Availability is one of the constants below; empty means active.
	Availability string
}

// What a member may be used for.
const (
	Active   = "active"
	Cordoned = "cordoned"
	Draining = "draining"
	Offline  = "offline"
)

// SelectorLabels gives the labels a selector sees: the member's own, its name and its region; and its zone when it has exactly one.
// A member of several zones has no single zone label: Matches knows all of them.
func (m Member) SelectorLabels() map[string]string {
	out := make(map[string]string, len(m.Labels)+3)
	for key, value := range m.Labels {
		out[key] = value
	}
	out[NameLabel] = m.Name
	if m.Region != "" {
		out[RegionLabel] = m.Region
	}
	if len(m.Zones) == 1 {
		out[ZoneLabel] = m.Zones[0]
	}
	return out
}

// allowedOperators are the operators of match_expressions.
var allowedOperators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
}

// Compile checks the selector and makes a Kubernetes selector of it. The path of an InputError begins with cluster_selector.
func (s Selector) Compile() (labels.Selector, error) {
	compiled := labels.NewSelector()
	var findings []*InputError
	for _, key := range sortedKeys(s.MatchLabels) {
		requirement := Requirement{Key: key, Operator: "In", Values: []string{s.MatchLabels[key]}}
		compiled = addRequirement(compiled, requirement, &findings, func(string) []string { return []string{"match_labels", key} })
	}
	for i, requirement := range s.MatchExpressions {
		compiled = addRequirement(compiled, requirement, &findings, func(field string) []string {
			return []string{"match_expressions", strconv.Itoa(i), field}
		})
	}
	return compiled, Below(joinFindings(findings), "cluster_selector")
}

// addRequirement adds one requirement, or what is wrong with it to the findings.
func addRequirement(to labels.Selector, r Requirement, findings *[]*InputError, path func(field string) []string) labels.Selector {
	found := r.check(path)
	if len(found) > 0 {
		*findings = append(*findings, found...)
		return to
	}
	compiled, err := labels.NewRequirement(r.Key, allowedOperators[r.Operator], r.Values)
	if err != nil {
		*findings = append(*findings, &InputError{Path: path("key"), Summary: "Invalid selector", Detail: sentence(err.Error())})
		return to
	}
	return to.Add(*compiled)
}

// check applies Kubernetes' rules for a requirement, so that what is wrong is said at its own attribute.
func (r Requirement) check(path func(field string) []string) []*InputError {
	var found []*InputError
	refuse := func(field, summary, format string, args ...any) {
		found = append(found, &InputError{Path: path(field), Summary: summary, Detail: fmt.Sprintf(format, args...)})
	}
	if problems := validation.IsQualifiedName(r.Key); len(problems) > 0 {
		refuse("key", "Invalid label key", "%q is no label key: %s.", r.Key, strings.Join(problems, "; "))
	}
	for _, value := range r.Values {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			refuse("values", "Invalid label value", "%q is no label value: %s.", value, strings.Join(problems, "; "))
		}
	}
	switch r.Operator {
	case "In", "NotIn":
		if len(r.Values) == 0 {
			refuse("values", "Missing selector values", "Operator %s needs at least one value.", r.Operator)
		}
	case "Exists", "DoesNotExist":
		if len(r.Values) > 0 {
			refuse("values", "Needless selector values", "Operator %s takes no values.", r.Operator)
		}
	default:
		refuse("operator", "Invalid selector operator", "%q is no operator: In, NotIn, Exists and DoesNotExist are.", r.Operator)
	}
	return found
}

// Validate checks that exactly one of clusters and cluster_selector is there, and that the selector compiles.
func (s Selection) Validate() error {
	_, err := s.compile()
	return err
}

func (s Selection) compile() (matcher, error) {
	switch {
	case s.Clusters != nil && s.Selector != nil:
		return matcher{}, &InputError{Path: []string{"cluster_selector"}, Summary: "Two selections",
			Detail: "clusters and cluster_selector exclude each other: remove one."}
	case s.Clusters != nil:
		return matcher{names: s.Clusters}, nil
	case s.Selector == nil:
		return matcher{}, &InputError{Summary: "Missing selection",
			Detail: "Set clusters (names) or cluster_selector ({} chooses every member)."}
	}
	compiled, err := s.Selector.Compile()
	if err != nil {
		return matcher{}, err
	}
	requirements, _ := compiled.Requirements()
	return matcher{bySelector: true, requirements: requirements}, nil
}

// Matches tells whether the selection chooses a member. On the zone label a member of several zones has all of them: In and Exists hold
// if they hold for one zone, NotIn only if no zone is in the values. Errors are InputErrors, as Validate's.
func (s Selection) Matches(m Member) (bool, error) {
	compiled, err := s.compile()
	if err != nil {
		return false, err
	}
	return compiled.matches(m), nil
}

// matcher is a checked selection.
type matcher struct {
	names        []string
	bySelector   bool
	requirements labels.Requirements
}

func (c matcher) matches(m Member) bool {
	if !c.bySelector {
		return slices.Contains(c.names, m.Name)
	}
	set := labels.Set(m.SelectorLabels())
	for i := range c.requirements {
		requirement := &c.requirements[i]
		if requirement.Key() == ZoneLabel && len(m.Zones) > 1 {
			if !matchesZones(requirement, m.Zones) {
				return false
			}
			continue
		}
		if !requirement.Matches(set) {
			return false
		}
	}
	return true
}

func matchesZones(requirement *labels.Requirement, zones []string) bool {
	matches := func(zone string) bool { return requirement.Matches(labels.Set{ZoneLabel: zone}) }
	if requirement.Operator() == selection.NotIn {
		return !slices.ContainsFunc(zones, func(zone string) bool { return !matches(zone) })
	}
	return slices.ContainsFunc(zones, matches)
}
