package registry

import (
	"context"
	"slices"
)

// The labels by which nodes say where they are.
const (
	regionLabel = "topology.kubernetes.io/region"
	zoneLabel   = "topology.kubernetes.io/zone"
)

// Topology is where the nodes of a member are.
type Topology struct {
	Region string   // "" if the nodes name none, or more than one
	Zones  []string // sorted
}

// NodeTopology reads where a member's nodes are from their topology labels, once per process. Ask only where the user has given neither
// region nor zones and a selector needs them: it is a request to the member. An account that may not see nodes gives an empty answer.
// The errors are those of Open, and a member.UnreachableError.
func (r *Registry) NodeTopology(ctx context.Context, name string) (Topology, error) {
	r.mu.Lock()
	slot := r.topologies[name]
	if slot == nil {
		slot = &shared[Topology]{}
		r.topologies[name] = slot
	}
	r.mu.Unlock()
	return slot.get(ctx, func(ctx context.Context) (Topology, error) { return r.readTopology(ctx, name) })
}

func (r *Registry) readTopology(ctx context.Context, name string) (Topology, error) {
	c, err := r.open(ctx, name)
	if err != nil {
		return Topology{}, err
	}
	nodes, err := c.plain.List(ctx, nodeKind, "", "")
	if isForbidden(err) {
		return Topology{}, nil
	}
	if err != nil {
		return Topology{}, err
	}
	var regions, zones []string
	for i := range nodes {
		labels := nodes[i].Labels
		regions, zones = append(regions, labels[regionLabel]), append(zones, labels[zoneLabel])
	}
	regions, zones = distinct(regions), distinct(zones)
	found := Topology{Zones: zones}
	if len(regions) == 1 {
		found.Region = regions[0]
	}
	return found, nil
}

// distinct sorts and leaves out duplicates and "".
func distinct(list []string) []string {
	list = slices.Compact(sorted(list))
	if len(list) > 0 && list[0] == "" {
		list = list[1:]
	}
	return list
}
