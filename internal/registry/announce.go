package registry

import "slices"

// placement is a resolved placement: whose it is, and whether it chooses an entry.
type placement struct {
	resource string
	chooses  func(Entry) bool
}

// Announce tells of a cluster that this run is going to join or to change; until the process ends that outranks what the host says. An
// OrderError says that placements were resolved before which this cluster changes: they need a reference to it, or depends_on.
func (r *Registry) Announce(a Announcement) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.knownLocked(a.Name)
	r.announced[a.Name] = a
	delete(r.left, a.Name)
	if a.LabelsUnknown {
		return nil
	}
	after := a.over(before)
	var early []string
	for _, p := range r.placements {
		if p.chooses(after) != (known && p.chooses(before)) {
			early = append(early, p.resource)
		}
	}
	if early == nil {
		return nil
	}
	slices.Sort(early)
	return &OrderError{Cluster: a.Name, Placements: slices.Compact(early)}
}

// knownLocked is the entry as a placement resolved until now has seen it.
func (r *Registry) knownLocked(name string) (Entry, bool) {
	entry, known := Entry{}, false
	if rec, ok := r.readLocked()[name]; ok {
		entry, known = rec.entry(), true
	}
	if a, ok := r.announced[name]; ok {
		entry, known = a.over(entry), true
	}
	return entry, known
}

// Announced reports whether this run has announced a cluster.
func (r *Registry) Announced(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.announced[name]
	return ok
}

// Announcements lists the clusters that this run has announced, by name, as they will be; nothing is dialled.
func (r *Registry) Announcements() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, read := map[string]Entry{}, r.readLocked()
	for name, a := range r.announced {
		var before Entry
		if rec, ok := read[name]; ok {
			before = rec.entry()
		}
		entries[name] = a.over(before)
	}
	return byName(entries)
}

// AnnounceRights tells that this run is going to change what the account of a member may do: until then a refusal says nothing.
func (r *Registry) AnnounceRights(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rights[name] = true
}

// RightsAnnounced reports whether this run changes what the account of a member may do.
func (r *Registry) RightsAnnounced(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rights[name]
}

// AnnounceControlPlane tells that this run is going to install the control plane: until then a host without its kinds has no members.
func (r *Registry) AnnounceControlPlane() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.controlPlane = true
}

// NotePlacement remembers a resolved placement, so that a cluster announced later, which it would have chosen, is told to be announced
// earlier. chooses must not change afterwards, and must not call the registry.
func (r *Registry) NotePlacement(resource string, chooses func(Entry) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.placements = append(r.placements, placement{resource, chooses})
}
