package member_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestGetTellsAbsentFromUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	inMissing := cm
	inMissing.Namespace = kubetest.UniqueName(t, "absent")
	for what, o := range map[string]member.Object{"an object": cm, "an object of a missing namespace": inMissing, "a namespace": w.object(t, "v1", "Namespace", inMissing.Namespace)} {
		if live, err := w.Get(t.Context(), o); live != nil || err != nil {
			t.Errorf("%s that is absent: %v, %v", what, live, err)
		}
	}
	w.cluster.Create(t, data(cm, "a", "1"))
	if live, err := w.Get(t.Context(), cm); err != nil || live.GetName() != "cm" {
		t.Errorf("%v, %v", live, err)
	}
}

func TestListReadsMetadataOfWhatTheSelectorPicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	for name, labels := range map[string]map[string]any{"a": {"x": "1"}, "b": {"x": "2"}, "c": {}} {
		o := cm
		o.Name = name
		tree := data(o, "k", "v")
		tree["metadata"].(map[string]any)["labels"] = labels
		w.cluster.Create(t, tree)
	}
	w.proxy.Reset()
	items, err := w.List(t.Context(), cm.Kind, w.namespace, "x in (1,2)")
	if err != nil || len(items) != 2 {
		t.Fatalf("%d items, %v", len(items), err)
	}
	names := []string{items[0].Name, items[1].Name}
	if slices.Sort(names); names[0] != "a" || names[1] != "b" || items[0].UID == "" || items[0].ResourceVersion == "" {
		t.Errorf("listed %v", names)
	}
	requests := w.proxy.Requests()
	if len(requests) != 1 || requests[0].Verb != kubetest.List {
		t.Fatalf("sent %v", requests)
	}
	if accept := requests[0].Header.Get("Accept"); accept[:len("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList")] != "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList" {
		t.Errorf("asked for %s", accept)
	}
}

func TestListOfACustomResourceHasNoProtobufAndIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := kubetest.UniqueName(t, "member") + ".example.com"
	w.cluster.Create(t, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
		},
	})
	t.Cleanup(func() {
		w.cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	})
	kind := member.Kind{GVK: schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}, Resource: "widgets", Namespaced: true}
	kubetest.Eventually(t, func() error {
		_, err := w.List(t.Context(), kind, w.namespace, "")
		return err
	})
	w.cluster.Create(t, map[string]any{"apiVersion": group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": w.namespace}})
	items, err := w.List(t.Context(), kind, w.namespace, "")
	if err != nil || len(items) != 1 || items[0].Name != "w" || items[0].Generation != 1 {
		t.Errorf("listed %v (%v)", items, err)
	}
}

func TestListObjectsReadsWhatTheOptionsPick(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	for _, name := range []string{"a", "b"} {
		o := cm
		o.Name = name
		w.cluster.Create(t, data(o, "k", name))
	}
	items, err := w.ListObjects(t.Context(), cm.Kind, w.namespace, metav1.ListOptions{FieldSelector: "metadata.name=b"})
	if err != nil || len(items) != 1 || items[0].Object["data"].(map[string]any)["k"] != "b" {
		t.Errorf("listed %v (%v)", items, err)
	}
}

// TestRequestsPerSecondAreLimitedWhereAsked: one limit for whatever is asked of the member; by default there is none.
func TestRequestsPerSecondAreLimitedWhereAsked(t *testing.T) {
	w := newWorld(t)
	o := options()
	o.QPS = 10 // and a burst of 20
	m := dial(t, w.proxy.RESTConfig(), o)
	cm := w.configMap(t)
	if _, err := m.Kinds(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 20 {
		if _, err := m.Get(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		if _, err := m.List(t.Context(), cm.Kind, w.namespace, ""); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 2*time.Second {
		t.Errorf("42 requests at 10 a second, 20 of them at once, take %s", took)
	}
}
