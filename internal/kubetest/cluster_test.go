package kubetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// decodeObject reads an object into a struct that names what a test needs.
func decodeObject(t *testing.T, object *unstructured.Unstructured, into any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func metaOf(object runtime.Object) (metav1.Object, error) { return meta.Accessor(object) }

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

func TestFullClusterMakesPodsReady(t *testing.T) {
	c := Member(t, 1)
	namespace := c.Namespace(t)
	web := tree(t, deployment)
	web.SetNamespace(namespace)
	c.Create(t, web)
	Eventually(t, func() error {
		var live struct{ Status struct{ ReadyReplicas int } }
		decodeObject(t, c.Get(t, "apps/v1", "Deployment", namespace, "web"), &live)
		if live.Status.ReadyReplicas != 3 {
			return fmt.Errorf("%d replicas are ready", live.Status.ReadyReplicas)
		}
		return nil
	})
	c.Delete(t, "apps/v1", "Deployment", namespace, "web")
	Eventually(t, func() error {
		if pods := c.List(t, "v1", "Pod", namespace, "app=web"); len(pods) > 0 {
			return fmt.Errorf("%d pods are left", len(pods))
		}
		return nil
	})
}

func TestMembersAreClustersOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for _, c := range append(Members(t, 2), Host(t)) {
		uid := string(c.Get(t, "v1", "Namespace", "", "kube-system").GetUID())
		if seen[uid] != "" {
			t.Errorf("%s and %s are the same cluster", seen[uid], c.Name)
		}
		seen[uid] = c.Name
	}
}

func TestNamespaceGoesWithItsTest(t *testing.T) {
	c := Member(t, 1)
	var name string
	t.Run("inner", func(t *testing.T) { name = c.Namespace(t) })
	Eventually(t, func() error {
		if _, found := c.Find(t, "v1", "Namespace", "", name); found {
			return errors.New("the namespace is still there")
		}
		return nil
	})
}

func TestObjectsKeepIntegersExact(t *testing.T) {
	const big = 9007199254740993
	for name, object := range map[string]Object{
		"YAML": fmt.Sprintf("apiVersion: v1\nkind: Thing\ncount: %d\n", int64(big)),
		"tree": map[string]any{"apiVersion": "v1", "kind": "Thing", "count": int64(big)},
	} {
		if got := tree(t, object).Object["count"]; got != int64(big) {
			t.Errorf("%s: got %v (%T)", name, got, got)
		}
	}
}

func TestObjectsOfAKindJustDefinedAreFound(t *testing.T) {
	c := lean(t)
	kind := UniqueName(t, "Thing")
	kind = "Thing" + kind[len("Thing-"):]
	plural := "things" + kind[len("Thing"):]
	c.Create(t, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".test.example"},
		"spec": map[string]any{
			"group": "test.example", "scope": "Cluster",
			"names": map[string]any{"kind": kind, "plural": plural},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	})
	defer c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+".test.example")
	Eventually(t, func() error {
		var crd struct {
			Status struct{ Conditions []metav1.Condition }
		}
		decodeObject(t, c.Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+".test.example"), &crd)
		if !meta.IsStatusConditionTrue(crd.Status.Conditions, "Established") {
			return errors.New("the kind is not established")
		}
		return nil
	})
	made := c.Create(t, map[string]any{"apiVersion": "test.example/v1", "kind": kind, "metadata": map[string]any{"name": "one"}})
	if made.GetUID() == "" {
		t.Error("the object was not stored")
	}
}

func TestHelpersWriteAsTheManagerNamed(t *testing.T) {
	c := lean(t)
	namespace := c.Namespace(t)
	c.Create(t, configMap(namespace, "one", "a"))
	c.Apply(t, "other", true, configMap(namespace, "one", "b"))
	c.MergePatch(t, "v1", "ConfigMap", namespace, "one", "data: {more: c}")
	live := c.Get(t, "v1", "ConfigMap", namespace, "one")
	data, _, err := unstructured.NestedStringMap(live.Object, "data")
	if err != nil || data["key"] != "b" || data["more"] != "c" {
		t.Errorf("got %v, %v", data, err)
	}
	managers := map[string]metav1.ManagedFieldsOperationType{}
	for _, entry := range live.GetManagedFields() {
		managers[entry.Manager] = entry.Operation
	}
	if managers["other"] != metav1.ManagedFieldsOperationApply || managers[manager] != metav1.ManagedFieldsOperationUpdate {
		t.Errorf("the managers are %v", managers)
	}
}

func TestEditIsMadeAgainOnWhatOthersWroteInBetween(t *testing.T) {
	c := Member(t, 1)
	namespace := c.Namespace(t)
	c.Create(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x", "namespace": namespace}, "data": map[string]any{"a": "1"}})
	times := 0
	edited := c.Edit(t, "editor", "v1", "ConfigMap", namespace, "x", func(object map[string]any) map[string]any {
		if times++; times == 1 {
			c.MergePatch(t, "v1", "ConfigMap", namespace, "x", `{data: {b: "2"}}`)
		}
		object["data"].(map[string]any)["a"] = "3"
		return object
	})
	if data := edited.Object["data"]; times != 2 || !reflect.DeepEqual(data, map[string]any{"a": "3", "b": "2"}) {
		t.Errorf("after %d times the object holds %v", times, data)
	}
}

func TestSignalBreaksAndMendsOneComponent(t *testing.T) {
	c := Fresh(t, Options{Name: "victim", Lean: true})
	namespace := c.Namespace(t)
	p := NewProxy(t, c)
	client := through(t, p, namespace)
	if err := client.write("one"); err != nil {
		t.Fatal(err)
	}
	c.Signal(t, APIServer, Stop)
	if err := client.get(300 * time.Millisecond); err == nil {
		t.Error("a frozen API server answers")
	}
	c.Signal(t, APIServer, Continue)
	client.mustGet()
	if n := p.Connections(); n != 1 {
		t.Errorf("giving up on one request cost the connection: there have been %d", n)
	}
	c.Signal(t, APIServer, Kill)
	if err := client.get(5 * time.Second); err == nil {
		t.Error("a killed API server answers")
	}
	c.Signal(t, Etcd, Kill)
	c.Signal(t, Etcd, Start)
	c.Signal(t, APIServer, Start)
	client.mustGet()
	if got := c.Get(t, "v1", "ConfigMap", namespace, "one"); got.GetName() != "one" {
		t.Error("the data did not outlive the components")
	}
}
