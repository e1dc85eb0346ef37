package registry

import (
	"maps"
	"slices"
)

// Availability is what the user says about a member, for every configuration that uses the registry; "" counts as Active.
const (
	Active   = "active"
	Cordoned = "cordoned" // gets nothing new
	Draining = "draining" // selector placements and schedules leave it
	Offline  = "offline"  // nobody dials it; as if it were down
)

// Source says where an entry comes from.
type Source string

// The sources of an entry.
const (
	SourceProvider  Source = "provider"
	SourceHost      Source = "host"
	SourceAnnounced Source = "announced" // this run is going to join it
)

// Entry is one member as the registry knows it.
type Entry struct {
	Name         string
	Labels       map[string]string // the user's; see SelectorLabels
	Region       string            // the user's; "" = not given
	Zones        []string          // the user's, sorted; nil = not given
	Availability string
	ClusterUID   string
	Source       Source

	// Announced is set once this run has announced the cluster: it counts as up, and what it announced outranks the host until the process
	// ends.
	Announced bool
	// LabelsUnknown says that labels, region or zones of an announced cluster are not known yet, and with them whether a selector chooses it.
	LabelsUnknown bool
}

// The labels that every member carries for selectors besides those the user gave.
const (
	NameLabel   = "kubernetes.io/metadata.name"
	RegionLabel = "topology.kubernetes.io/region"
	ZoneLabel   = "topology.kubernetes.io/zone"
)

// SelectorLabels are the labels by which selectors see the member: the user's, its name, and region and zone where they are given. A member
// with several zones matches a selector if it does with any of them, so there is one set of labels for each zone.
func (e Entry) SelectorLabels() []map[string]string {
	labels := maps.Clone(e.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[NameLabel] = e.Name
	if e.Region != "" {
		labels[RegionLabel] = e.Region
	}
	if len(e.Zones) == 0 {
		return []map[string]string{labels}
	}
	sets := make([]map[string]string, len(e.Zones))
	for i, zone := range e.Zones {
		sets[i] = maps.Clone(labels)
		sets[i][ZoneLabel] = zone
	}
	return sets
}

// Announcement is a cluster that this run is going to join or to change.
type Announcement struct {
	Name         string
	Labels       map[string]string
	Region       string
	Zones        []string
	Availability string
	// LabelsUnknown says that labels, region or zones are not known yet.
	LabelsUnknown bool
}

// over returns the entry as it will be once the announced change is made.
func (a Announcement) over(e Entry) Entry {
	e.Name, e.Labels, e.Region, e.Zones = a.Name, a.Labels, a.Region, sorted(a.Zones)
	e.Availability, e.Announced, e.LabelsUnknown = a.Availability, true, a.LabelsUnknown
	if e.Source == "" {
		e.Source = SourceAnnounced
	}
	return e
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
