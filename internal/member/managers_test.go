package member_test

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// values is the data of a ConfigMap as it is on the cluster.
func (w *world) values(t *testing.T, o member.Object) map[string]any {
	t.Helper()
	values, _, _ := unstructured.NestedMap(w.live(t, o).Object, "data")
	return values
}

func managers(o metav1.Object) []string {
	var names []string
	for _, entry := range o.GetManagedFields() {
		names = append(names, entry.Manager+"/"+string(entry.Operation))
	}
	return names
}

func TestAFieldTakenFromAnUpdaterGoesWhenItIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "keep", "1", "drop", "1", "theirs", "1"))
	applied := w.must(t, cm, data(cm, "keep", "1", "drop", "1"), member.ApplyOptions{Force: true})
	taken, err := w.TakeFromUpdaters(t.Context(), cm, applied.Live)
	if err != nil {
		t.Fatal(err)
	}
	if taken.GetResourceVersion() == applied.Live.GetResourceVersion() || len(w.values(t, cm)) != 3 {
		t.Errorf("after taking over: %v", w.live(t, cm).Object)
	}
	w.must(t, cm, data(cm, "keep", "1"), member.ApplyOptions{})
	if got := w.values(t, cm); got["drop"] != nil || got["keep"] != "1" || got["theirs"] != "1" {
		t.Errorf("data is %v", got)
	}
}

func TestAListItemTakenFromAnUpdaterGoesWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	tree := webDeployment(deployment, 1)
	spec := tree["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	web := spec["containers"].([]any)[0]
	spec["containers"] = []any{web, map[string]any{"name": "side", "image": "busybox:1", "env": []any{map[string]any{"name": "X", "value": "1"}}}}
	w.cluster.Create(t, tree)
	spec["containers"] = []any{web, map[string]any{"name": "side", "image": "busybox:1"}}
	applied := w.must(t, deployment, tree, member.ApplyOptions{Force: true})
	if _, err := w.TakeFromUpdaters(t.Context(), deployment, applied.Live); err != nil {
		t.Fatal(err)
	}
	spec["containers"] = []any{web}
	w.must(t, deployment, tree, member.ApplyOptions{})
	containers, _, _ := unstructured.NestedSlice(w.live(t, deployment).Object, "spec", "template", "spec", "containers")
	if len(containers) != 1 {
		t.Errorf("containers are %v", containers)
	}
}

func TestTakingFromUpdatersLeavesAppliersAndStatusWritersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	w.cluster.Apply(t, "applier", false, webDeployment(deployment, 0))
	kubetest.Eventually(t, func() error {
		if len(managers(w.live(t, deployment))) < 2 {
			return errors.New("no controller has written the status")
		}
		return nil
	})
	applied := w.must(t, deployment, webDeployment(deployment, 0), member.ApplyOptions{Force: true})
	before := len(managers(applied.Live))
	taken, err := w.TakeFromUpdaters(t.Context(), deployment, applied.Live)
	if err != nil || len(managers(taken)) != before || taken.GetResourceVersion() != applied.Live.GetResourceVersion() {
		t.Errorf("managers are %v (%v)", managers(taken), err)
	}
}

func TestAnEditOfManagersIsRepeatedOnAFreshCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "a", "1"))
	applied := w.must(t, cm, data(cm, "a", "1"), member.ApplyOptions{Force: true})
	w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", `{data: {b: "1"}}`)
	if _, err := w.TakeFromUpdaters(t.Context(), cm, applied.Live); err != nil {
		t.Fatal(err)
	}
	w.must(t, cm, data(cm), member.ApplyOptions{})
	if got := w.values(t, cm); got["a"] != nil || got["b"] != "1" {
		t.Errorf("data is %v", got)
	}
}

func TestFieldsTakenBackGoWithTheNextApplyAndNoValueChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.must(t, cm, data(cm, "keep", "1", "drop", "1"), member.ApplyOptions{})
	live := w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", `{data: {drop: theirs, other: theirs}}`)
	drop := fieldpath.NewSet(fieldpath.MakePathOrDie("data", "drop"))
	taken, err := w.TakeBack(t.Context(), cm, live, drop)
	if err != nil || !taken {
		t.Fatalf("taken %v, error %v", taken, err)
	}
	if got := w.values(t, cm); got["drop"] != "theirs" || got["other"] != "theirs" {
		t.Errorf("data is %v", got)
	}
	w.proxy.Reset()
	if again, err := w.TakeBack(t.Context(), cm, w.live(t, cm), drop); again || err != nil || len(w.proxy.Requests()) > 0 {
		t.Errorf("taken again %v, error %v, sent %v", again, err, w.proxy.Requests())
	}
	w.must(t, cm, data(cm, "keep", "1"), member.ApplyOptions{})
	if got := w.values(t, cm); got["drop"] != nil || got["other"] != "theirs" {
		t.Errorf("data is %v", got)
	}
}

func TestFieldsLetGoKeepTheirValuesAndAreFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	live := w.must(t, deployment, webDeployment(deployment, 3), member.ApplyOptions{}).Live
	if err := w.LetGo(t.Context(), deployment, live, fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))); err != nil {
		t.Fatal(err)
	}
	without := webDeployment(deployment, 0)
	delete(without["spec"].(map[string]any), "replicas")
	applied := w.must(t, deployment, without, member.ApplyOptions{}).Live
	if n, _, _ := unstructured.NestedInt64(applied.Object, "spec", "replicas"); n != 3 {
		t.Errorf("%d replicas", n)
	}
	w.cluster.Apply(t, "scaler", false, manifest(deployment, map[string]any{"spec": map[string]any{"replicas": 4}})) // fails the test on a conflict
}

func TestSharedNamesWhoElseAppliesAField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.must(t, cm, data(cm, "a", "1", "b", "1"), member.ApplyOptions{})
	w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", `{data: {b: "2"}}`)
	live := w.cluster.Apply(t, "other", false, data(cm, "a", "1"))
	shared, err := member.Shared(live, manager, fieldpath.NewSet(fieldpath.MakePathOrDie("data", "a"), fieldpath.MakePathOrDie("data", "b")))
	if err != nil || len(shared) != 1 || shared[".data.a"] != "other" {
		t.Errorf("shared is %v (%v)", shared, err)
	}
}

func TestAnEditOfManagersOutlastsAControllerThatKeepsWriting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "a", "1", "b", "1"))
	applied := w.must(t, cm, data(cm, "a", "1"), member.ApplyOptions{Force: true})
	fault := w.proxy.Status(409, kubetest.Reason("Conflict"), kubetest.Times(8), kubetest.When(func(r kubetest.Request) bool { return r.Verb == kubetest.Patch }))
	taken, err := w.TakeFromUpdaters(t.Context(), cm, applied.Live)
	if err != nil {
		t.Fatal(err)
	}
	if fault.Hits() != 8 || taken == nil || taken.GetResourceVersion() == applied.Live.GetResourceVersion() {
		t.Errorf("after %d conflicts: %v", fault.Hits(), taken)
	}
}
