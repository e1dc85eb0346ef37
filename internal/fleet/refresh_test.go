package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// TestAValueChangedBackIsStillWatched: who changed a value and set it back holds it; the next change is drift all the same.
func TestAValueChangedBackIsStillWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, template := range []string{configMap, deployment} {
		r := w.declare(t, template)
		r.must(t)
		change, back, pointer := `{data: {a: "2"}}`, `{data: {a: "1"}}`, "/data/a"
		if template == deployment {
			change, back, pointer = `{spec: {replicas: 3}}`, `{spec: {replicas: 2}}`, "/spec/replicas"
		}
		r.patch(t, "a", change)
		r.patch(t, "a", back)
		r.empty(t)
		r.empty(t)
		r.patch(t, "a", change)
		if o := r.refresh(t, w.run(t))["a"]; len(o.Drift) != 1 || o.Drift[pointer] == "" {
			t.Errorf("%s: drift is %v", pointer, o.Drift)
		}
	}
}

func TestPriorityClassHasNoMovingGenerationAndIsStillCheap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	name := kubetest.UniqueName(t, "fleet")
	r := w.declare(t, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: `+name+`}, value: 5, description: ours}`)
	t.Cleanup(func() { w.clusters["a"].Delete(t, "scheduling.k8s.io/v1", "PriorityClass", "", name) })
	r.must(t)
	w.reset()
	r.empty(t)
	if asked := w.asked("a"); len(asked) != 1 || asked[0].Verb != kubetest.List {
		t.Errorf("a refresh without drift sends %v", asked)
	}
	r.drifts(t, map[string]string{"/description": "theirs"}, func() { r.patch(t, "a", `{description: theirs}`) })
}

func TestOwnerReferencesOfTheTemplateAreWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	owner := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: `+w.namespace+`}}`)
	r := w.declare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+string(owner.GetUID())+`}]}}`)
	r.must(t)
	r.empty(t)
	o := func() fleet.Observation {
		r.patch(t, "a", `{metadata: {ownerReferences: null}}`)
		return r.refresh(t, w.run(t))["a"]
	}()
	if len(o.Drift) != 1 || o.Drift["/metadata/ownerReferences"] == "" {
		t.Errorf("drift is %v, error %v", o.Drift, o.Err)
	}
	r.must(t)
	r.empty(t)
}

// widget makes a kind of custom resource on a member, with or without a status subresource; its spec may have anything in it.
func (w *world) widget(t *testing.T, name string, status bool) (apiVersion string) {
	t.Helper()
	return w.widgetOf(t, name, status, map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

// widgetOf is widget with a schema.
func (w *world) widgetOf(t *testing.T, name string, status bool, schema map[string]any) (apiVersion string) {
	t.Helper()
	group := kubetest.UniqueName(t, "fleet") + ".example.com"
	version := map[string]any{
		"name": "v1", "served": true, "storage": true,
		"schema": map[string]any{"openAPIV3Schema": schema},
	}
	if status {
		version["subresources"] = map[string]any{"status": map[string]any{}}
	}
	w.clusters[name].Create(t, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": []any{version},
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		},
	})
	t.Cleanup(func() {
		w.clusters[name].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	})
	apiVersion = group + "/v1"
	w.clusters[name].AwaitServed(t, apiVersion)
	return apiVersion
}

func TestStatusOfACustomResourceIsNoDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, status := range []bool{true, false} {
		apiVersion := w.widget(t, "a", status)
		r := w.declare(t, `{apiVersion: `+apiVersion+`, kind: Widget, metadata: {name: w}, spec: {size: 1, parts: [{id: b}, {id: a}]}}`)
		r.must(t)
		r.empty(t)
		if status {
			r.patch(t, "a", `{status: {phase: Ready}}`, "status")
		} else {
			r.patch(t, "a", `{status: {phase: Ready}}`)
		}
		r.empty(t)
		r.drifts(t, map[string]string{"/spec/parts": `[{"id":"a"},{"id":"b"}]`}, func() { r.patch(t, "a", `{spec: {parts: [{id: a}, {id: b}]}}`) })
	}
}

func TestGoneIsWhatTheMemberSaysIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, change := range map[string]func(t *testing.T, r *resource){
		"deleted": func(t *testing.T, r *resource) { r.remove(t, "a") },
		"deleted and made again by others": func(t *testing.T, r *resource) {
			r.remove(t, "a")
			w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+r.spec.Template["metadata"].(map[string]any)["name"].(string)+`, namespace: `+w.namespace+`}}`)
		},
		"being deleted": func(t *testing.T, r *resource) {
			r.patch(t, "a", `{metadata: {finalizers: [demo.test/hold]}}`)
			t.Cleanup(func() { r.patch(t, "a", `{metadata: {finalizers: null}}`) })
			r.remove(t, "a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
			r.must(t)
			change(t, r)
			if o := r.refresh(t, w.run(t))["a"]; !o.Gone || o.Err != nil {
				t.Errorf("gone %v, error %v", o.Gone, o.Err)
			}
		})
	}
}

func TestAnObjectRestoredWithOurMarkIsOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	backup := r.get(t, "a")
	r.remove(t, "a")
	backup.SetUID("")
	backup.SetResourceVersion("")
	backup.SetManagedFields(nil)
	w.clusters["a"].Create(t, backup)
	if o := r.refresh(t, w.run(t))["a"]; o.Gone || o.Err != nil || len(o.Drift) > 0 {
		t.Errorf("gone %v, error %v, drift %v", o.Gone, o.Err, o.Drift)
	}
	r.empty(t)
}

func TestAKindThatIsServedNoMoreIsGoneAndOneOfAnotherVersionIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	apiVersion := w.widget(t, "a", true)
	r := w.declare(t, `{apiVersion: `+apiVersion+`, kind: Widget, metadata: {name: w}, spec: {size: 1}}`)
	r.must(t)
	group, _, _ := strings.Cut(apiVersion, "/")
	crd := w.clusters["a"].Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	second := map[string]any{"name": "v2", "served": true, "storage": false, "schema": versions[0].(map[string]any)["schema"]}
	versions[0].(map[string]any)["served"] = false
	w.clusters["a"].MergePatch(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", crd.GetName(), map[string]any{"spec": map[string]any{"versions": append(versions, second)}})
	var o fleet.Observation
	kubetest.Eventually(t, func() error {
		var notServed *member.NotServedError
		if o = r.refresh(t, w.run(t))["a"]; o.Gone {
			t.Fatal("gone, although it is served as v2 or about to be")
		}
		if !errors.As(o.Err, &notServed) || !slices.Equal(notServed.Served, []string{group + "/v2"}) {
			return fmt.Errorf("served as v2 alone: error %w", o.Err)
		}
		return nil
	})
	w.clusters["a"].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", crd.GetName())
	kubetest.Eventually(t, func() error {
		if o = r.refresh(t, w.run(t))["a"]; !o.Gone {
			return errors.New("still served")
		}
		return nil
	})
	if o.Err != nil {
		t.Errorf("after the definition is gone: %v", o.Err)
	}
}

func TestAMemberThatFailsKeepsItsLastStateWhateverTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	r.must(t)
	before, err := r.record.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	isRead := func(q kubetest.Request) bool { return q.Verb == kubetest.Get || q.Verb == kubetest.List }
	for name, fault := range outages(w.proxies["a"], isRead) {
		f := fault()
		o := r.refresh(t, w.run(t))["a"]
		if o.Err == nil || o.Gone || len(o.Drift) > 0 {
			t.Errorf("%s: error %v, gone %v, drift %v", name, o.Err, o.Gone, o.Drift)
		}
		if after, _ := r.record.Bytes(); string(after) != string(before) {
			t.Errorf("%s: the record has changed", name)
		}
		f.Heal()
	}
	r.empty(t)
}

func TestARefreshWithoutDriftCostsOneListPerKindHoweverManyObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	var all []*resource
	for range 12 {
		r := w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
		r.must(t)
		all = append(all, r)
	}
	for _, count := range []int{3, 12} {
		w.reset()
		f := w.run(t)
		for _, r := range all[:count] {
			if p := r.planIn(t, f); len(p.writes) > 0 || len(p.findings) > 0 {
				t.Fatalf("the plan writes %v and says %s", p.writes, texts(p.findings))
			}
		}
		if asked, all := w.asked("a"), len(w.proxies["a"].Requests()); len(asked) != 1 || all > 5+1 {
			t.Errorf("%d objects: %d requests, want at most 5 and one LIST: %v", count, all, asked)
		}
	}
}
