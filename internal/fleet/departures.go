package fleet

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// place is a namespace, or a kind, on a member: what goes takes along the objects in it.
type place struct {
	member, namespace string
	kind              schema.GroupKind
}

// departures is what one plan does to places: which of them go with their Namespace or CustomResourceDefinition, and which objects stay there.
// Terraform plans in its own order, so whoever comes second finds the contradiction.
type departures struct {
	mu      sync.Mutex
	going   map[place]string   // → what takes it away
	staying map[place][]string // → what stays in it
}

func newDepartures() *departures {
	return &departures{going: map[place]string{}, staying: map[place][]string{}}
}

func (d *departures) goes(p place, object string) (stay []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.going[p] = object
	return slices.Clone(d.staying[p])
}

func (d *departures) stays(p place, object string) (goesWith string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.staying[p] = append(d.staying[p], object)
	return d.going[p]
}

// CheckDepartures finds objects that a plan leaves on a member, by placement or as orphans, while their namespace or their kind goes from
// there in the same plan and would take them along.
func (f *Fleet) CheckDepartures(r *Resolution, change *Change) []Finding {
	if !r.IDKnown {
		return nil
	}
	t := change.Target
	var findings []Finding
	if r.Template != nil && !t.Deletion.Orphan {
		for _, name := range change.Leaving {
			if at, contains := containedIn(r, name); contains {
				if stay := f.memory.departures.goes(at, t.ID.String()); len(stay) > 0 {
					findings = append(findings, takesAlong(name, t.ID.String(), stay))
				}
			}
		}
	}
	keeps := r.Placed
	if t.Deletion.Orphan {
		keeps = slices.Concat(keeps, change.Leaving)
	}
	for _, name := range keeps {
		for _, at := range []place{{member: name, namespace: t.ID.Namespace}, {member: name, kind: t.GVK.GroupKind()}} {
			if at.namespace == "" && at.kind.Empty() {
				continue
			}
			if container := f.memory.departures.stays(at, t.ID.String()); container != "" {
				findings = append(findings, t.wouldGo(name, container, slices.Contains(change.Leaving, name)))
			}
		}
	}
	return findings
}

// containedIn is the place on a member that goes with a Namespace or a CustomResourceDefinition.
func containedIn(r *Resolution, name string) (at place, contains bool) {
	switch {
	case isNamespace(r.ID):
		return place{member: name, namespace: r.ID.Name}, true
	case isDefinition(r.ID):
		return place{member: name, kind: definedKind(r.Template)}, true
	}
	return place{}, false
}

func definedKind(definition map[string]any) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

func takesAlong(name, container string, stay []string) Finding {
	slices.Sort(stay)
	return Finding{Error: true, Path: []string{"placement"}, Members: []string{name}, Summary: "Objects would go along",
		Detail: fmt.Sprintf("%s is to be deleted there, and would take along what this plan leaves in it: %s.", container, strings.Join(shorten(slices.Compact(stay)), ", ")),
		Advice: leaveInOrder}
}

func (t *Target) wouldGo(name, container string, orphan bool) Finding {
	why := "placed there"
	if orphan {
		why = "to be kept there (deletion.policy = \"orphan\")"
	}
	return Finding{Error: true, Path: []string{"placement"}, Members: []string{name}, Summary: "Object would go along",
		Detail: fmt.Sprintf("%s is %s, while %s is to be deleted there in this plan, and would take it along.", t.ID, why, container), Advice: leaveInOrder}
}

const leaveInOrder = "Take the member out of the placement of the objects first (with `exclude`, where a selector chooses it), apply, and then out of that of the namespace or definition; " +
	"or take it out of both at once, where nothing is to be kept as an orphan."
