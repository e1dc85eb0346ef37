package provider_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// batchSize is how many worlds one run of Terraform handles.
const batchSize = 20

// TestAccWhatAPlanSaysIsWhatHappensForObjectsOfAnyKind makes worlds: objects of random kinds with random values and overrides on three members, on
// which others write at random. After every apply the next plan is empty, a refresh leaves all attributes as they were, and members hold what
// the configuration says beside what others have put in; what others change of ours is told by member and path, and nothing else is.
// KUBEFED_RANDOM_RUNS and KUBEFED_RANDOM_SEED make more worlds, and others. Each batch of them has a seed of its own, by which it can be
// repeated; KUBEFED_RANDOM_WORLD repeats one world of it.
func TestAccWhatAPlanSaysIsWhatHappensForObjectsOfAnyKind(t *testing.T) {
	t.Parallel()
	group := kubetest.UniqueName(t, "random") + ".example.com"
	for _, cluster := range kubetest.Members(t, 3) {
		for _, d := range definitions(group) {
			cluster.Create(t, d)
			t.Cleanup(func() {
				cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", at("/metadata/name").text(d))
			})
		}
		for _, kind := range customKinds(group) {
			cluster.AwaitServed(t, kind.apiVersion)
		}
	}
	first := setting("KUBEFED_RANDOM_SEED", 1)
	batches := (setting("KUBEFED_RANDOM_RUNS", batchSize) + batchSize - 1) / batchSize
	for seed := first; seed < first+batches; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newBatch(t, seed, group).run() })
	}
}

// text reads a text at a place.
func (p place) text(object any) string {
	value, _ := p.in(object)
	text, _ := value.(string)
	return text
}

// batch is a configuration of many worlds.
type batch struct {
	*meddler
	tf     *terraform
	r      *rand.Rand
	seed   uint64
	worlds []*world
}

func newBatch(t *testing.T, seed uint64, group string) *batch {
	f := newFederation(t, "asia", "eu", "us")
	b := &batch{meddler: &meddler{federation: f}, tf: newTerraform(t), seed: seed, r: rand.New(rand.NewPCG(seed, 0))}
	for _, s := range f.sites {
		makeNamespace(t, s.Cluster, f.namespace+"-apart")
	}
	kinds := slices.Concat(plainKinds(group), podKinds(), customKinds(group))
	b.r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for i := range batchSize {
		kind, name := kinds[i%len(kinds)], fmt.Sprintf("w%02d", i) // no name begins with another
		n := names{object: f.namespace + "-" + name, namespace: f.namespace, group: group}
		if kind.apart {
			n.namespace += "-apart"
		}
		if only := os.Getenv("KUBEFED_RANDOM_WORLD"); only != "" && only != name {
			continue
		}
		b.worlds = append(b.worlds, newWorld(rand.New(rand.NewPCG(seed, uint64(i)+1)), kind, name, n, f.names()))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return b
}

func (b *batch) run() {
	b.write()
	b.judge(b.tf.apply())
	b.settled()

	b.reset()
	expected := map[*world]expectation{}
	for _, w := range b.worlds {
		expected[w] = b.meddle(w)
	}
	b.reported(b.judge(b.tf.plan()), expected)
	b.wantNoWrites()
	b.judge(b.tf.applySaved())
	b.wroteOnly(expected)
	b.settled()

	b.vary()
	b.judge(b.tf.plan())
	b.judge(b.tf.applySaved())
	b.settled()

	for _, w := range b.worlds {
		expected[w] = b.meddle(w)
	}
	b.vary()
	b.judge(b.tf.apply())
	b.settled()

	b.judge(b.tf.destroy())
	for _, w := range b.worlds {
		for _, member := range b.names() {
			b.waitGone(w, member)
		}
	}
}

// write writes the configuration of all worlds.
func (b *batch) write() {
	b.t.Helper()
	parts := []string{b.provider()}
	for _, w := range b.worlds {
		parts = append(parts, w.configuration(b.tf.write))
		w.note("%s\n%s", w.templateFile(), parts[len(parts)-1])
	}
	b.tf.configure(parts...)
}

// vary changes all configurations.
func (b *batch) vary() {
	b.t.Helper()
	for _, w := range b.worlds {
		w.vary(b.names())
		w.settleTheirs()
	}
	b.write()
}

// judge fails the test if a command has failed, or Terraform takes the provider for broken.
func (b *batch) judge(o *outcome) *outcome {
	b.t.Helper()
	b.tell(func(w *world) bool { return o.failed && slices.ContainsFunc(o.errors, w.concerns) })
	return o.sound().succeeds()
}

func (w *world) address() string { return "kubefed_federated_resource." + w.name }

func (w *world) concerns(d diagnostic) bool {
	return d.Address == w.address() || strings.Contains(d.Detail, w.object.object) || strings.Contains(d.Summary, w.object.object)
}

// tell logs the worlds that something is wrong with.
func (b *batch) tell(wrong func(*world) bool) {
	b.t.Helper()
	for _, w := range b.worlds {
		if wrong(w) {
			b.t.Log(w.describe())
		}
	}
}

// wrong fails the test, and tells about a world.
func (b *batch) wrong(w *world, format string, arguments ...any) {
	b.t.Helper()
	b.t.Errorf("%s: %s\n%s", w.name, fmt.Sprintf(format, arguments...), w.describe())
}

// settled wants the plan to be empty, the attributes to be as they were, nothing tainted, and members to hold what they shall.
func (b *batch) settled() {
	b.t.Helper()
	for _, w := range b.worlds {
		w.settleTheirs()
		w.strange = nil // what was not marked has been adopted
	}
	before := b.tf.resources()
	o := b.judge(b.tf.plan())
	_, refreshed := b.tf.savedPlan()
	for _, w := range b.worlds {
		if action := o.changes[w.address()]; action != "" {
			b.wrong(w, "planned again: %s\n%s", action, b.tf.show())
		}
		for _, d := range o.warnings {
			if w.concerns(d) {
				b.wrong(w, "warned of: %s", d)
			}
		}
		was, is := attributesOf(before, w), attributesOf(refreshed, w)
		if was.Tainted || !reflect.DeepEqual(was.Values, is.Values) {
			b.wrong(w, "tainted %v, or the refresh changed attributes from %v to %v", was.Tainted, was.Values, is.Values)
		}
		for _, member := range b.names() {
			b.holds(w, member)
		}
		w.notes = append(w.notes, "settled")
	}
	if b.t.Failed() {
		b.t.FailNow()
	}
}

func attributesOf(resources []stateResource, w *world) stateResource {
	for _, r := range resources {
		if r.Address == w.address() {
			return r
		}
	}
	return stateResource{}
}

// holds compares what a member holds with what it shall.
func (b *batch) holds(w *world, member string) {
	b.t.Helper()
	found, there := b.sites[member].Find(b.t, w.apiVersion, w.kind, w.object.namespace, w.object.object)
	if there != slices.Contains(w.placed, member) {
		b.wrong(w, "on %s there is an object: %v", member, there)
	}
	if !there {
		return
	}
	for _, name := range w.gone {
		if _, there := b.sites[member].Find(b.t, w.apiVersion, w.kind, w.object.namespace, name); there {
			b.wrong(w, "%s is still on %s", name, member)
		}
	}
	rendered := w.rendered(member)
	for _, k := range w.knobs {
		want, _ := k.in(rendered)
		if theirs, held := w.theirs[member][k]; held {
			want = theirs.value
		}
		if !k.held(found.Object, want) {
			have, _ := k.in(found.Object)
			b.wrong(w, "on %s %s is %v, want %v", member, k, have, want)
		}
	}
}

// reported wants a plan to say of each world what is expected and nothing else.
func (b *batch) reported(o *outcome, expected map[*world]expectation) {
	b.t.Helper()
	changes, _ := b.tf.savedPlan()
	for _, w := range b.worlds {
		e := expected[w]
		if action := o.changes[w.address()]; action != e.action(w) {
			b.wrong(w, "planned: %q, want %q, as %v\n%s", action, e.action(w), e, list(o.warnings))
			continue
		}
		warned := slices.DeleteFunc(slices.Clone(o.warnings), func(d diagnostic) bool { return !w.concerns(d) })
		if e.quiet() {
			if len(warned) > 0 {
				b.wrong(w, "warned of: %s", list(warned))
			}
			continue
		}
		c := changes[w.address()]
		for _, member := range w.placed {
			if e.action(w) == "update" {
				b.reportedOn(w, member, e, c, list(warned))
			}
		}
	}
	if b.t.Failed() {
		b.t.FailNow()
	}
}

// reportedOn wants a plan to say of a member what is expected.
func (b *batch) reportedOn(w *world, member string, e expectation, c change, warned string) {
	b.t.Helper()
	if slices.Contains(e.lost, member) {
		if c.Before.at("versions", member) != nil || !strings.Contains(warned, "gone") {
			b.wrong(w, "the plan does not say that the object is gone from %s; it warns:%s", member, warned)
		}
		return
	}
	rendered := w.rendered(member)
	before, _ := c.Before.at("differences", member).(map[string]any)
	after, _ := c.After.at("differences", member).(map[string]any)
	told := map[int]bool{}
	for pointer := range before {
		if before[pointer] == after[pointer] {
			continue
		}
		wanted := false
		for i, f := range e.changed[member] {
			if f.reports(pointer, rendered) || w.hides(f.place, pointer) {
				told[i], wanted = true, true
			}
			if f.k != nil && f.place.pointer(rendered) == pointer && !f.isTold(before[pointer]) {
				b.wrong(w, "%s on %s is told to be %v", pointer, member, before[pointer])
			}
		}
		if !wanted {
			b.wrong(w, "%s on %s is reported as %v -> %v, and nobody changed it; expected %v", pointer, member, before[pointer], after[pointer], e.changed[member])
			continue
		}
		if !strings.Contains(warned, pointer) || !strings.Contains(warned, member) {
			b.wrong(w, "no warning names %s on %s:%s", pointer, member, warned)
		}
	}
	for i, f := range e.changed[member] {
		if !told[i] {
			b.wrong(w, "%s on %s is not reported; before %v, after %v", f.place.pointer(rendered), member, before, after)
		}
	}
}

// isTold reports whether what a plan says of a value is that value, as far as it is one that API servers keep as it is.
func (f meddling) isTold(told any) bool {
	if told == "(sensitive, changed)" || f.k.same != nil || isDecomposed(f.value) {
		return true
	}
	switch f.value.(type) {
	case string:
		return told == f.value || told == jsonOf(f.value)
	case nil, bool, int64:
		return told == jsonOf(f.value) || empty(f.value) && told == "null"
	}
	return true
}

// hides reports whether a pointer stands for all that is sensitive, and with it for a place.
func (w *world) hides(p place, pointer string) bool {
	return pointer == w.written.sensitive && strings.HasPrefix(p.pointer(w.template()), pointer+"/")
}

// wroteOnly wants no object written but those that others had changed.
func (b *batch) wroteOnly(expected map[*world]expectation) {
	b.t.Helper()
	for _, member := range b.names() {
		for _, r := range b.sites[member].proxy.Writes() {
			i := slices.IndexFunc(b.worlds, func(w *world) bool { return w.object.object == r.Name })
			if i < 0 {
				b.t.Errorf("%s on %s is nobody's", r, member)
				continue
			}
			w := b.worlds[i]
			if e := expected[w]; len(e.changed[member]) == 0 && !slices.Contains(e.lost, member) {
				b.wrong(w, "written on %s: %s", member, r)
			}
		}
	}
}
