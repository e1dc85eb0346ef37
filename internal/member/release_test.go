package member_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func marked(o member.Object, pairs ...string) map[string]any {
	tree := data(o, pairs...)
	member.Mark{Owner: "test", Resource: "r"}.Put(&unstructured.Unstructured{Object: tree})
	return tree
}

func TestReleaseTakesOurMarkAndEntryAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "theirs", "1"))
	w.cluster.Apply(t, "applier", false, data(cm, "applied", "1"))
	before := managers(w.live(t, cm))
	applied := w.must(t, cm, marked(cm, "ours", "1"), member.ApplyOptions{})
	if err := w.Release(t.Context(), cm, applied.Live.GetUID()); err != nil {
		t.Fatal(err)
	}
	live := w.live(t, cm)
	if _, ok := member.MarkOf(live); ok || len(live.GetLabels()) > 0 || len(live.GetAnnotations()) > 0 {
		t.Errorf("the mark is left: %v %v", live.GetLabels(), live.GetAnnotations())
	}
	if got := managers(live); len(got) != len(before) || got[0] != before[0] || got[1] != before[1] {
		t.Errorf("managers are %v, were %v", got, before)
	}
	if got := w.values(t, cm); got["ours"] != "1" || got["theirs"] != "1" || got["applied"] != "1" {
		t.Errorf("data is %v", got)
	}
}

func TestTheNextToolMeetsNoConflictAfterARelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	applied := w.must(t, cm, marked(cm, "ours", "1"), member.ApplyOptions{})
	if err := w.Release(t.Context(), cm, applied.Live.GetUID()); err != nil {
		t.Fatal(err)
	}
	if got := managers(w.live(t, cm)); len(got) != 1 || got[0] != manager+"/Update" {
		t.Errorf("managers are %v", got)
	}
	w.cluster.Apply(t, "next", false, data(cm, "ours", "2")) // fails the test on a conflict
	w.cluster.Apply(t, "next", false, data(cm))
	if got := w.values(t, cm); len(got) != 0 {
		t.Errorf("the next tool cannot remove what it has taken over: %v", got)
	}
}

func TestReleaseOfWhatIsGoneIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	if err := w.Release(t.Context(), cm, "some-uid"); err != nil {
		t.Errorf("absent: %v", err)
	}
	other := w.cluster.Create(t, marked(cm, "a", "1"))
	if err := w.Release(t.Context(), cm, "some-uid"); err != nil {
		t.Errorf("another object: %v", err)
	}
	if live := w.live(t, cm); live.GetResourceVersion() != other.GetResourceVersion() {
		t.Error("another object was released")
	}
}

// adopt does what a take-over does.
func (w *world) adopt(t *testing.T, o member.Object, tree map[string]any) (original, applied *unstructured.Unstructured) {
	t.Helper()
	original = w.live(t, o)
	applied = w.must(t, o, tree, member.ApplyOptions{Force: true, Require: member.Precondition{UID: original.GetUID()}}).Live
	applied, err := w.TakeFromUpdaters(t.Context(), o, applied)
	if err != nil {
		t.Fatal(err)
	}
	return original, applied
}

// timeless is an object as JSON, without what every write moves.
func timeless(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	o = o.DeepCopy()
	o.SetResourceVersion("")
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	o.SetManagedFields(entries)
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPutBackRestoresValuesAndManagers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, prepare := range map[string]func(t *testing.T, cm member.Object){
		"one updater": func(t *testing.T, cm member.Object) { w.cluster.Create(t, data(cm, "a", "1", "b", "1")) },
		"one applier": func(t *testing.T, cm member.Object) {
			w.cluster.Apply(t, "applier", false, data(cm, "a", "1", "b", "1"))
		},
		"two of each": func(t *testing.T, cm member.Object) {
			w.cluster.Create(t, data(cm, "a", "1", "x", "1"))
			w.cluster.Apply(t, "first", false, data(cm, "b", "1"))
			w.cluster.Apply(t, "second", false, data(cm, "c", "1", "b", "1"))
			w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, cm.Name, `{metadata: {labels: {l: "1"}}, data: {d: "1"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cm := w.configMap(t)
			cm.Name = kubetest.UniqueName(t, "cm")
			prepare(t, cm)
			original, applied := w.adopt(t, cm, marked(cm, "a", "2", "b", "2", "c", "2", "d", "2", "new", "2"))
			if err := w.PutBack(t.Context(), cm, original, applied); err != nil {
				t.Fatal(err)
			}
			if got, want := timeless(t, w.live(t, cm)), timeless(t, original); got != want {
				t.Errorf("put back is\n%s\nwas\n%s", got, want)
			}
		})
	}
}

func TestPutBackLeavesAnObjectThatSomebodyHasWrittenSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "a", "1"))
	original, applied := w.adopt(t, cm, marked(cm, "a", "2"))
	changed := w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", `{data: {b: "3"}}`)
	if err := w.PutBack(t.Context(), cm, original, applied); err != nil {
		t.Fatal(err)
	}
	if live := w.live(t, cm); live.GetResourceVersion() != changed.GetResourceVersion() {
		t.Errorf("it was written: %v", live.Object["data"])
	}
}

func TestPutBackSurvivesAWriteOfTheStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	w.cluster.Create(t, webDeployment(deployment, 1))
	original, applied := w.adopt(t, deployment, webDeployment(deployment, 3))
	kubetest.Eventually(t, func() error {
		if w.live(t, deployment).GetResourceVersion() == applied.GetResourceVersion() {
			return errors.New("no controller has written the status")
		}
		return nil
	})
	if err := w.PutBack(t.Context(), deployment, original, applied); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(w.live(t, deployment).Object, "spec", "replicas"); n != 1 {
		t.Errorf("%d replicas", n)
	}
}

func TestPutBackOfWhatIsGoneIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "a", "1"))
	original, applied := w.adopt(t, cm, marked(cm, "a", "2"))
	w.cluster.Delete(t, "v1", "ConfigMap", w.namespace, "cm")
	if err := w.PutBack(t.Context(), cm, original, applied); err != nil {
		t.Errorf("absent: %v", err)
	}
	other := w.cluster.Create(t, data(cm, "a", "3"))
	if err := w.PutBack(t.Context(), cm, original, applied); err != nil {
		t.Errorf("another object: %v", err)
	}
	if live := w.live(t, cm); live.GetUID() != other.GetUID() || live.GetResourceVersion() != other.GetResourceVersion() {
		t.Error("another object was written")
	}
}
