package federation

import (
	"fmt"
	"slices"
)

// Placement says which members get an object.
type Placement struct {
	Selection
	// Exclude are names of members that a selector would choose and that do not get the object.
	Exclude []string
}

// Choice is the result of a placement.
type Choice struct {
	// Clusters are the members that get the object, sorted by name.
	Clusters []string
	// Excluded are members that the selector chooses but that do not get the object, with the reason.
	Excluded map[string]string
	// Unknown are the names in clusters that are not members, sorted. They are not in Clusters.
	Unknown []string
	// UnknownExcluded are the names in exclude that are not members, sorted: perhaps misspelt.
	UnknownExcluded []string
}

// Choose applies the placement to the members there are; placed says which of them have the object already. A choice by name takes
// these members whatever their availability. A choice by selector leaves out exclude, members being drained, and cordoned and offline
// members that do not have the object yet. Errors are InputErrors with paths below the placement.
func (p Placement) Choose(members []Member, placed map[string]bool) (Choice, error) {
	matcher, err := p.compile()
	if err != nil {
		return Choice{}, err
	}
	if p.Clusters != nil && p.Exclude != nil {
		return Choice{}, &InputError{Path: []string{"exclude"}, Summary: "Exclude without selector",
			Detail: "exclude belongs to cluster_selector: with clusters, leave the name out of clusters."}
	}
	choice := Choice{Clusters: []string{}, Excluded: map[string]string{}}
	known := make(map[string]bool, len(members))
	for _, member := range members {
		if known[member.Name] {
			continue
		}
		known[member.Name] = true
		if !matcher.matches(member) {
			continue
		}
		if reason := p.leftOut(member, placed[member.Name]); reason != "" {
			choice.Excluded[member.Name] = reason
			continue
		}
		choice.Clusters = append(choice.Clusters, member.Name)
	}
	slices.Sort(choice.Clusters)
	choice.Unknown = unknownNames(p.Clusters, known)
	choice.UnknownExcluded = unknownNames(p.Exclude, known)
	return choice, nil
}

// leftOut gives the reason why a member that the selection chooses does not get the object, or "".
func (p Placement) leftOut(m Member, placed bool) string {
	if p.Selector == nil {
		return ""
	}
	switch {
	case slices.Contains(p.Exclude, m.Name):
		return "named in exclude"
	case m.Availability == Draining:
		return "draining: what is there leaves"
	case m.Availability == Cordoned && !placed:
		return "cordoned: nothing new is placed there"
	case m.Availability == Offline && !placed:
		return "offline: nothing new is placed there"
	}
	return ""
}

// unknownNames lists, sorted and once each, the names that are not known.
func unknownNames(names []string, known map[string]bool) []string {
	var unknown []string
	for _, name := range names {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// UnknownClusters is the error, at clusters, for names that are not members. It lists the members there are.
func UnknownClusters(unknown, members []string) *InputError {
	detail := fmt.Sprintf("%s: not among the members. ", quotedList(unknown))
	if len(members) == 0 {
		detail += "No member is registered."
	} else {
		detail += fmt.Sprintf("Registered are %s.", quotedList(members))
	}
	return &InputError{Path: []string{"clusters"}, Summary: "Unknown cluster", Detail: detail}
}
