package registry

import "slices"

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
	Labels       map[string]string // the user's
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
