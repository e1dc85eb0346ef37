package provider_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// expectation is what the next plan shall say of a world after others have been at it.
type expectation struct {
	changed map[string][]meddling // member → what of ours is not as we wrote it
	lost    []string              // members that hold the object no longer
}

// meddling is a change of something of ours.
type meddling struct {
	place
	k     *knob // nil for an order, or a mark
	value any   // what it is now
}

func (e expectation) quiet() bool { return len(e.changed) == 0 && len(e.lost) == 0 }

// action is what Terraform plans.
func (e expectation) action(w *world) string {
	switch {
	case e.quiet():
		return ""
	case len(e.lost) == len(w.placed):
		return "create"
	}
	return "update"
}

// meddler lets others write to the members.
type meddler struct {
	*federation
	count int
}

// meddle lets others do something to the object on some members, and says what of it the next plan shall report.
func (m *meddler) meddle(w *world) expectation {
	e := expectation{changed: map[string][]meddling{}}
	w.restored, w.strange = map[string]bool{}, map[string]bool{}
	if w.r.IntN(12) == 0 {
		for _, member := range w.placed {
			m.remove(w, member)
		}
		e.lost = w.placed
		return e
	}
	for _, member := range w.placed {
		switch w.r.IntN(12) {
		case 0:
			m.remove(w, member)
			e.lost = append(e.lost, member)
			continue
		case 1:
			m.restore(w, member, true)
			w.restored[member] = true
		case 2:
			if w.policy["on_existing"] == "adopt" {
				m.restore(w, member, false)
				w.strange[member] = true
				e.lost = append(e.lost, member)
				continue
			}
		}
		if w.r.IntN(2) == 0 {
			m.add(w, member)
		}
		if w.kind == "Widget" && w.r.IntN(2) == 0 {
			m.sites[member].MergePatch(m.t, w.apiVersion, w.kind, w.object.namespace, w.object.object, tree{"status": tree{"phase": text(w.r)}}, "status")
		}
		if found := m.change(w, member); len(found) > 0 {
			e.changed[member] = found
		}
	}
	return e
}

func (m *meddler) live(w *world, member string) tree {
	return m.sites[member].Get(m.t, w.apiVersion, w.kind, w.object.namespace, w.object.object).Object
}

// edit lets a manager rewrite the object.
func (m *meddler) edit(w *world, member, manager string, change func(object any) any) {
	m.sites[member].Edit(m.t, manager, w.apiVersion, w.kind, w.object.namespace, w.object.object, func(object tree) tree { return change(object).(tree) })
}

// manager is a field manager nobody has used.
func (m *meddler) manager(name string) string {
	m.count++
	return fmt.Sprintf("%s-%d", name, m.count)
}

// apply lets a manager apply one value by force.
func (m *meddler) apply(w *world, member string, k *knob, value any) {
	var object any = tree{"apiVersion": w.apiVersion, "kind": w.kind, "metadata": tree{"name": w.object.object, "namespace": w.object.namespace}}
	if w.clusterScoped {
		object = at("/metadata/namespace").drop(object)
	}
	m.sites[member].Apply(m.t, m.manager("argo"), true, k.put(object, value))
}

func (m *meddler) remove(w *world, member string) {
	w.note("%s: deleted by others", member)
	m.sites[member].Delete(m.t, w.apiVersion, w.kind, w.object.namespace, w.object.object)
	m.waitGone(w, member)
	delete(w.theirs, member)
	delete(w.beside, member)
}

func (m *meddler) waitGone(w *world, member string) {
	kubetest.Eventually(m.t, func() error {
		if _, there := m.sites[member].Find(m.t, w.apiVersion, w.kind, w.object.namespace, w.object.object); there {
			return fmt.Errorf("%s %s is still on %s", w.kind, w.object.object, member)
		}
		return nil
	})
}

// restore deletes the object and makes it anew as it was, as a backup does: another object, written by another manager, with our mark or
// without it.
func (m *meddler) restore(w *world, member string, marked bool) {
	w.note("%s: deleted and made anew by others, marked %v", member, marked)
	object := m.live(w, member)
	if !marked {
		for _, mark := range []string{"/metadata/labels/terraform.kubefed.io~1owner", "/metadata/annotations/terraform.kubefed.io~1owner-name", "/metadata/annotations/terraform.kubefed.io~1resource"} {
			object = at(mark).drop(object).(tree)
		}
	}
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "finalizers", "ownerReferences"} {
		object = at("/metadata/" + field).drop(object).(tree)
	}
	if w.kind != "Gadget" { // whose status is a field like others
		delete(object, "status")
	}
	if w.kind == "Job" { // the API server makes selector and labels of the new uid
		for _, path := range []string{"/spec/selector", "/spec/template/metadata/labels/batch.kubernetes.io~1controller-uid", "/spec/template/metadata/labels/controller-uid",
			"/spec/template/metadata/labels/batch.kubernetes.io~1job-name", "/spec/template/metadata/labels/job-name"} {
			object = at(path).drop(object).(tree)
		}
	}
	m.sites[member].Delete(m.t, w.apiVersion, w.kind, w.object.namespace, w.object.object)
	m.waitGone(w, member)
	m.sites[member].Create(m.t, object)
	for k, h := range w.theirs[member] {
		if delete(w.theirs[member], k); !h.contested {
			w.hold(member, k, holding{value: h.value})
		}
	}
	rendered := w.rendered(member)
	for _, k := range w.knobs {
		value, ours := k.in(rendered)
		filled, there := k.in(object)
		switch {
		case ours && !marked:
			w.hold(member, k, holding{value: value})
		case ours:
			w.writtenWhole(member, k, value)
		case there: // by the API server
			w.hold(member, k, holding{value: filled})
		}
	}
}

// asYAML reports whether a value is another one when its JSON is read as YAML, as API servers do with what client-go applies.
func asYAML(value any) bool { return strings.ContainsAny(jsonOf(value), "\u0085\ufeff") }

// hold remembers what others hold.
func (w *world) hold(member string, k *knob, h holding) {
	if w.theirs[member] == nil {
		w.theirs[member] = map[*knob]holding{}
	}
	w.theirs[member][k] = h
}

// writtenWhole remembers that others have written a thing of many fields.
func (w *world) writtenWhole(member string, k *knob, value any) {
	if !isMap(value) {
		return
	}
	if w.beside[member] == nil {
		w.beside[member] = map[*knob]bool{}
	}
	w.beside[member][k] = true
}

// add lets others put in what we have not.
func (m *meddler) add(w *world, member string) {
	rendered := w.rendered(member)
	var free []*knob
	for _, k := range w.knobs {
		if _, ours := k.in(rendered); !ours && !k.fixed && !k.shared {
			free = append(free, k)
		}
	}
	for range 1 + w.r.IntN(2) {
		if len(free) == 0 {
			return
		}
		k := one(w.r, free...)
		value := k.draw(w.r)
		if _, held := w.theirs[member][k]; held || empty(value) {
			continue
		}
		applied := w.r.IntN(2) == 0 && !asYAML(value)
		w.note("%s: others add %s = %v, applied %v", member, k, value, applied)
		if applied {
			m.apply(w, member, k, value)
		} else {
			m.edit(w, member, m.manager("kubectl-edit"), func(object any) any { return k.put(object, value) })
		}
		w.hold(member, k, holding{value: value, applied: applied})
	}
}

// change lets others change what is ours.
func (m *meddler) change(w *world, member string) []meddling {
	switch w.r.IntN(10) {
	case 0:
		return m.reorder(w, member)
	case 1:
		return m.unmark(w, member)
	case 2, 3:
		m.respell(w, member)
		return nil
	case 4, 5:
		return nil
	}
	rendered := w.rendered(member)
	var found []meddling
	for _, i := range w.r.Perm(len(w.knobs))[:min(len(w.knobs), 1+w.r.IntN(2))] {
		k := w.knobs[i]
		value, ours := k.in(rendered)
		if !ours || k.fixed || k.shared || slices.ContainsFunc(found, func(f meddling) bool { return near(f.place, k.place) }) {
			continue
		}
		other, ok := k.another(w.r, value)
		if !ok {
			continue
		}
		m.changeOne(w, member, k, other)
		found = append(found, meddling{k.place, k, other})
	}
	return found
}

// near reports whether two places lie in one another, or in the same list: then the plan may tell of one of them alone.
func near(a, b place) bool {
	for i := range min(len(a), len(b)) {
		if a[i].isItem() && b[i].isItem() && !reflect.DeepEqual(a[i], b[i]) {
			return true
		}
		if a[i].key != b[i].key {
			return false
		}
	}
	return true
}

func (m *meddler) changeOne(w *world, member string, k *knob, value any) {
	if value == nil {
		w.note("%s: others remove %s", member, k)
		m.edit(w, member, m.manager("kubectl-edit"), func(object any) any { return k.drop(object) })
		return
	}
	if k.place.String() == "/spec/replicas" && w.r.IntN(2) == 0 {
		w.note("%s: others scale to %v", member, value)
		m.sites[member].MergePatch(m.t, w.apiVersion, w.kind, w.object.namespace, w.object.object, tree{"spec": tree{"replicas": value}}, "scale")
		return
	}
	applied := w.r.IntN(3) == 0 && !empty(value) && !isMap(value) && !asYAML(value) // what is applied to a map adds to it
	w.note("%s: others change %s to %v, applied %v", member, k, value, applied)
	if applied {
		m.apply(w, member, k, value)
		w.hold(member, k, holding{value: value, applied: true, contested: true})
		return
	}
	m.edit(w, member, m.manager("kubectl-edit"), func(object any) any { return k.put(object, value) })
	w.writtenWhole(member, k, value)
}

// reorder turns a list of ours around.
func (m *meddler) reorder(w *world, member string) []meddling {
	rendered := w.rendered(member)
	for _, p := range w.lists {
		value, _ := p.in(rendered)
		if items, _ := value.([]any); len(items) < 2 {
			continue
		}
		w.note("%s: others turn %s around", member, p)
		m.edit(w, member, "kubectl-edit", func(object any) any {
			live, _ := p.in(object)
			items := slices.Clone(live.([]any))
			slices.Reverse(items)
			return p.put(object, items)
		})
		return []meddling{{place: p}}
	}
	return nil
}

// unmark takes away the label by which objects of ours are listed.
func (m *meddler) unmark(w *world, member string) []meddling {
	mark := at("/metadata/labels/terraform.kubefed.io~1owner")
	if w.restored[member] {
		return nil // nothing would tell whose the new object is
	}
	w.note("%s: others take away our label", member)
	m.edit(w, member, "kubectl-label", func(object any) any { return mark.drop(object) })
	return []meddling{{place: mark}}
}

// respell applies a quantity of ours in another spelling of which API servers make the same.
func (m *meddler) respell(w *world, member string) {
	rendered := w.rendered(member)
	for _, k := range w.knobs {
		value, ours := k.in(rendered)
		if !ours || k.same == nil || k.form == byEmbedded || isMap(value) || k.fixed {
			continue
		}
		for range 20 {
			if other := k.draw(w.r); fmt.Sprint(value) != fmt.Sprint(other) && spelled(other) != "" && spelled(value) == spelled(other) {
				w.note("%s: others write %s as %v", member, k, other)
				m.apply(w, member, k, other)
				w.hold(member, k, holding{value: value, applied: true, contested: true})
				return
			}
		}
	}
}

// settleTheirs forgets what others hold of what is ours by now.
func (w *world) settleTheirs() {
	for member, held := range w.theirs {
		if !slices.Contains(w.placed, member) {
			delete(w.theirs, member)
			continue
		}
		rendered := w.rendered(member)
		maps.DeleteFunc(held, func(k *knob, theirs holding) bool {
			value, ours := k.in(rendered)
			return ours && !(theirs.contested && k.equal(value, theirs.value))
		})
	}
}
