package fleet_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestAnObjectOfOthersIsRefusedAtThePlanOrAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	w.clusters["b"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}, data: {a: "9", theirs: "1"}}`)
	p := r.plan(t)
	tells(t, p.findings, "b error: Object exists already")
	says(t, p.findings, `"kubetest"`)
	outcome := r.apply(t)
	if !outcome.Undone || len(r.there(t)) != 1 || r.value(t, "b", "/data/a") != "9" {
		t.Fatalf("undone %v, on %v: %s", outcome.Undone, r.there(t), texts(outcome.Findings))
	}
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	p = r.plan(t)
	tells(t, p.findings, "b warning: "+r.id(t)+" exists and is taken over")
	says(t, p.findings, `last written by "kubetest", and becomes ours; values change: /data/a "9" -> "1", /data/b null -> "1".`)
	r.must(t)
	if a, theirs := r.value(t, "b", "/data/a"), r.value(t, "b", "/data/theirs"); a != "1" || theirs != "1" {
		t.Errorf("a is %v, theirs is %v", a, theirs)
	}
	r.empty(t)
	r.write(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {b: "1"}}`)
	r.must(t)
	if a, theirs := r.value(t, "b", "/data/a"), r.value(t, "b", "/data/theirs"); a != nil || theirs != "1" {
		t.Errorf("after dropping a: a is %v, theirs is %v", a, theirs)
	}
}

func TestAnObjectThatOptsOutIsNeverTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	before := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, labels: {kubefed.io/managed: "false"}}}`)
	says(t, r.plan(t).findings, "kubefed.io/managed=false")
	if outcome := r.apply(t); !outcome.Undone {
		t.Errorf("not undone: %s", texts(outcome.Findings))
	}
	if after := r.get(t, "a"); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("the object was written")
	}
}

func TestAnotherConfigurationsObjectIsRefusedEvenWithAdopt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	first := w.declare(t, configMap)
	first.must(t)
	other := *w
	other.owner = kubetest.UniqueName(t, "other")
	second := other.declare(t, configMap)
	second.spec.Policy.OnExisting, second.spec.Policy.OnConflict = fleet.PolicyAdopt, fleet.PolicyForce
	p := second.plan(t)
	tells(t, p.findings, "a error: Object exists already")
	says(t, p.findings, w.owner)
	if outcome := second.apply(t); !outcome.Undone {
		t.Errorf("not undone: %s", texts(outcome.Findings))
	}
	first.empty(t)
}

func TestCreationWaitsForATerminatingObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, finalizers: [demo.test/hold]}}`)
	r.remove(t, "a")
	p := r.plan(t)
	tells(t, p.findings, "a warning: Object is being deleted")
	says(t, p.findings, "demo.test/hold", "waits")
	go func() {
		kubetest.Eventually(t, func() error {
			if len(w.proxies["a"].Writes()) == 0 {
				return errors.New("the apply has not begun")
			}
			return nil
		})
		r.patch(t, "a", `{metadata: {finalizers: null}}`)
	}()
	w.reset()
	r.must(t)
	r.empty(t)
}

// TestANamespaceOfOthersIsRefusedAndWhatIsPutIntoItIsNot: what is in a namespace needs it to be there, not to be ours.
func TestANamespaceOfOthersIsRefusedAndWhatIsPutIntoItIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	name := kubetest.UniqueName(t, "fed")
	w.makeNamespace(t, "a", name)
	namespace := w.declare(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	before := namespace.get(t, "a").GetResourceVersion()
	inside := w.declare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+name+`}}`)
	f := w.run(t)
	tells(t, namespace.planIn(t, f).findings, "a error: Object exists already")
	if p := inside.planIn(t, f); len(p.findings) > 0 {
		t.Errorf("the plan of what is inside says %s", texts(p.findings))
	}
	if outcome := namespace.apply(t); !outcome.Undone || !slices.Equal(namespace.there(t), []string{"a"}) {
		t.Errorf("undone %v, the namespace is on %v", outcome.Undone, namespace.there(t))
	}
	if after := namespace.get(t, "a").GetResourceVersion(); after != before {
		t.Error("the namespace was written")
	}
	inside.spec.Placement = on("a")
	inside.must(t)
	inside.empty(t)
	if outcome := inside.destroy(t); len(outcome.Findings) > 0 {
		t.Errorf("destroy says %s", texts(outcome.Findings))
	}
}

// TestAnObjectThatIsOursAndOptsOutIsNeitherWrittenNorDeletedAnyMore: whoever runs the member has the last word.
func TestAnObjectThatIsOursAndOptsOutIsNeitherWrittenNorDeletedAnyMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	for name, remove := range map[string]func(r *resource) *fleet.Outcome{
		"leaves the placement": func(r *resource) *fleet.Outcome {
			r.spec.Placement = on("a")
			return r.apply(t)
		},
		"destroyed": func(r *resource) *fleet.Outcome { return r.destroy(t) },
		"orphaned": func(r *resource) *fleet.Outcome {
			r.spec.Deletion.Orphan, r.state.Deletion.Orphan = true, true
			return r.destroy(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.declare(t, configMap)
			r.rename(t, kubetest.UniqueName(t, "cm"))
			r.must(t)
			before := r.patch(t, "b", `{metadata: {labels: {kubefed.io/managed: "false"}}, data: {a: theirs}}`).GetResourceVersion()
			p := r.plan(t)
			tells(t, p.findings, "b error: Object exists already")
			says(t, p.findings, "kubefed.io/managed=false", "take the member out of the placement")
			if outcome := r.apply(t); !outcome.Failed() || outcome.Pending["b"] == "" {
				t.Errorf("pending %v: %s", outcome.Pending, texts(outcome.Findings))
			}
			outcome := remove(r)
			tells(t, outcome.Findings, "b warning: "+r.id(t)+" is left behind")
			says(t, outcome.Findings, "kubefed.io/managed=false")
			if after := r.get(t, "b").GetResourceVersion(); after != before || slices.Contains(r.record.Members(), "b") {
				t.Errorf("written %v, the record has %v", after != before, r.record.Members())
			}
		})
	}
}
