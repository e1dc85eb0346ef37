package provider_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// world is one resource of the configuration: an object of some kind, what the members get otherwise, and what others have done to it.
type world struct {
	randomKind
	r      *rand.Rand
	name   string // of the Terraform resource
	object names
	knobs  []*knob

	base      map[*knob]any // what the template sets
	nulls     map[*knob]bool
	overrides []alteration
	replicas  map[string]int64
	placed    []string
	gone      []string // names that the object had before
	policy    map[string]string
	written   writing

	theirs   map[string]map[*knob]holding // member → what others have put in
	beside   map[string]map[*knob]bool    // member → what of ours others have written whole, and may hold more of than we
	restored map[string]bool              // members on which others have just made the object anew, with our mark
	strange  map[string]bool              // and without it
	notes    []string
}

// writing is how the template is written.
type writing struct {
	form      string // object, json or yaml
	namespace bool   // in the template, not in default_namespace
	plain     bool   // a Secret's data as stringData
	sensitive string // a pointer in sensitive_fields
}

// alteration is an entry of overrides.
type alteration struct {
	members    []string
	selectedBy string // clusters, labels or all
	sets       map[*knob]any
	how        map[*knob]form
}

// holding is a value that another manager holds: whether it was applied, and whether it is one of ours. Such a one stays when we drop it.
type holding struct {
	value              any
	applied, contested bool
}

func newWorld(r *rand.Rand, kind randomKind, name string, n names, members []string) *world {
	w := &world{randomKind: kind, r: r, name: name, object: n, theirs: map[string]map[*knob]holding{}, beside: map[string]map[*knob]bool{}, placed: members}
	if kind.clusterScoped {
		w.object.namespace = ""
	}
	w.knobs = append(metadataKnobs(), kind.knobs...)
	w.base, w.nulls = map[*knob]any{}, map[*knob]bool{}
	for _, k := range w.knobs {
		if value := k.drawn(r); value != nil {
			w.base[k] = value
		}
	}
	w.policy = map[string]string{"on_existing": one(r, "error", "adopt"), "on_conflict": one(r, "error", "force")}
	if r.IntN(4) == 0 && len(members) > 1 {
		w.placed = without(members, one(r, members...))
	}
	w.rewrite()
	w.override(members)
	return w
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return n == name })
}

// rewrite draws how the template is written.
func (w *world) rewrite() {
	w.written = writing{form: one(w.r, "object", "json", "yaml"), namespace: w.r.IntN(2) == 0, plain: w.r.IntN(2) == 0}
	if isDecomposed(w.template()) {
		w.written.form = "json"
	}
	w.nulls = map[*knob]bool{}
	for _, k := range w.knobs {
		if _, there := k.in(w.template()); !there && !k.hasItems() && w.r.IntN(6) == 0 {
			w.nulls[k] = true
		}
	}
	if w.r.IntN(3) == 0 {
		hidden := one(w.r, w.knobs...).place
		if i := slices.IndexFunc(hidden, step.isItem); i >= 0 {
			hidden = hidden[:i]
		}
		w.written.sensitive = hidden[:min(len(hidden), 2)].String()
	}
}

// override draws the overrides.
func (w *world) override(members []string) {
	w.overrides, w.replicas = nil, nil
	for range w.r.IntN(4) {
		c := alteration{sets: map[*knob]any{}, how: map[*knob]form{}, members: []string{one(w.r, members...)}, selectedBy: one(w.r, "clusters", "labels")}
		if w.r.IntN(3) == 0 {
			c.members, c.selectedBy = slices.Clone(members), one(w.r, "clusters", "all", "labels")
		}
		for range 1 + w.r.IntN(3) {
			w.overrideOne(&c)
		}
		if len(c.sets) > 0 {
			w.overrides = append(w.overrides, c)
		}
	}
	count := w.knob("/spec/replicas")
	if count == nil || w.r.IntN(3) > 0 {
		return
	}
	w.replicas = map[string]int64{one(w.r, members...): w.r.Int64N(3)}
	if w.r.IntN(2) == 0 {
		w.replicas["*"] = w.r.Int64N(3)
	}
}

func (w *world) overrideOne(c *alteration) {
	k := one(w.r, w.knobs...)
	if _, twice := c.sets[k]; twice || k.same != nil && k.fixed {
		return
	}
	value := k.drawn(w.r)
	how, alone := byPatch, len(c.members) == 1
	if k.form != byPatch && value != nil && !isDecomposed(value) && (alone || k.form != byArgs && k.form != byEmbedded) && w.r.IntN(3) > 0 {
		how = k.form
	}
	mergeable := !k.hasItems() && !isMap(value)
	if how == byPatch && len(c.members) > 1 && !mergeable {
		return // a JSON patch is written for one member, whose object is known
	}
	c.sets[k], c.how[k] = value, how
}

func isMap(value any) bool {
	_, is := value.(map[string]any)
	return is
}

// knob finds a knob by its place.
func (w *world) knob(pointer string) *knob {
	for _, k := range w.knobs {
		if k.place.String() == at(pointer).String() {
			return k
		}
	}
	return nil
}

// template is the object before overrides, nothing written as null.
func (w *world) template() tree {
	var object any = tree{}
	if w.skeleton != nil {
		object = w.skeleton(w.object)
	}
	object = at("/apiVersion").put(object, w.apiVersion)
	object = at("/kind").put(object, w.kind)
	object = at("/metadata/name").put(object, w.object.object)
	if !w.clusterScoped {
		object = at("/metadata/namespace").put(object, w.object.namespace)
	}
	for _, k := range w.knobs {
		if value, set := w.base[k]; set {
			object = k.put(object, copied(value))
		}
	}
	return object.(tree)
}

// rendered is what a member shall hold.
func (w *world) rendered(member string) tree {
	var object any = w.template()
	for _, c := range w.overrides {
		if slices.Contains(c.members, member) {
			object = c.on(w, object)
		}
	}
	if n, sets := w.replicasOf(member); sets {
		object = at("/spec/replicas").put(object, n)
	}
	return object.(tree)
}

func (w *world) replicasOf(member string) (int64, bool) {
	if n, own := w.replicas[member]; own {
		return n, true
	}
	n, all := w.replicas["*"]
	return n, all
}

// on applies an entry.
func (c alteration) on(w *world, object any) any {
	for _, k := range w.knobs {
		value, sets := c.sets[k]
		switch {
		case !sets:
		case value == nil:
			object = k.drop(object)
		case c.how[k] == byEnv:
			object = k.place[:len(k.place)-1].put(object, tree{"name": k.place[len(k.place)-2].item["name"], "value": value})
		default:
			object = k.put(object, copied(value))
		}
	}
	return object
}

// note remembers what has been done.
func (w *world) note(format string, arguments ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, arguments...))
}

// describe tells all that has happened in the world.
func (w *world) describe() string {
	return fmt.Sprintf("%s (%s %s)\n%s", w.name, w.id(), w.object.object, strings.Join(w.notes, "\n"))
}

// vary changes the configuration at random, but for what Kubernetes or another manager stands against.
func (w *world) vary(members []string) {
	before := map[string]tree{}
	for _, member := range members {
		before[member] = w.rendered(member)
	}
	for range 100 {
		next := *w
		next.base = maps.Clone(w.base)
		next.mutate(members)
		if next.object != w.object {
			next.theirs, next.beside = map[string]map[*knob]holding{}, map[string]map[*knob]bool{}
		}
		if next.object != w.object || next.allowed(before, w.placed) {
			next.noteChanges(before)
			*w = next
			return
		}
	}
	w.note("no change is allowed")
}

// noteChanges notes what is otherwise than before on each member.
func (w *world) noteChanges(before map[string]tree) {
	w.note("configured anew, on %v", w.placed)
	for _, member := range w.placed {
		after := w.rendered(member)
		for _, k := range w.knobs {
			was, had := k.in(before[member])
			is, has := k.in(after)
			if had != has || !reflect.DeepEqual(was, is) {
				w.note("%s: %s is no longer %v (%v) but %v (%v)", member, k, was, had, is, has)
			}
		}
	}
}

func (w *world) mutate(members []string) {
	if w.r.IntN(15) == 0 && len(w.strange) == 0 {
		w.gone = append(w.gone[:len(w.gone):len(w.gone)], w.object.object)
		w.object.object += "-r"
	}
	for range 1 + w.r.IntN(3) {
		k := one(w.r, w.knobs...)
		if value := k.drawn(w.r); value != nil {
			w.base[k] = value
		} else {
			delete(w.base, k)
		}
	}
	if w.r.IntN(3) == 0 {
		w.override(members)
	}
	if w.r.IntN(4) == 0 {
		w.placed = members
		if w.r.IntN(2) == 0 {
			w.placed = without(members, one(w.r, members...))
		}
	}
	w.rewrite()
}

// allowed reports whether a change leaves alone what must not change, and what others hold. Something of theirs with the same value, and
// something that they applied, would be held by both.
func (w *world) allowed(before map[string]tree, placed []string) bool {
	for _, member := range placed {
		if !slices.Contains(w.placed, member) {
			if w.strange[member] {
				return false // what is not marked is left behind
			}
			continue
		}
		after := w.rendered(member)
		for _, k := range w.knobs {
			was, had := k.in(before[member])
			is, has := k.in(after)
			if k.fixed && (had != has || !k.equal(was, is)) {
				return false
			}
			if w.beside[member][k] && has && !contains(was, is) && w.policy["on_conflict"] != "force" {
				return false
			}
			theirs, held := w.theirs[member][k]
			if held && theirs.contested && !has {
				return false
			}
			if held && !theirs.contested && has && !w.strange[member] && (w.policy["on_conflict"] != "force" || k.equal(theirs.value, is)) {
				return false
			}
		}
	}
	return true
}
