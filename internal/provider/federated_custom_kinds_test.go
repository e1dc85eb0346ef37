package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// loosely makes on every member a Widget of two versions whose settings have no schema, and gives its group.
func (f *federation) loosely() (group string) {
	f.t.Helper()
	group = kubetest.UniqueName(f.t, "acc") + ".example.com"
	schema := `"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"settings": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}`
	definition := fmt.Sprintf(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.%[1]s"}, "spec": {"group": %[1]q, "scope": "Namespaced",
		"names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		"versions": [{"name": "v1alpha1", "served": true, "storage": false, %[2]s}, {"name": "v1", "served": true, "storage": true, %[2]s}]}}`, group, schema)
	for _, name := range f.names() {
		site := f.sites[name]
		site.Create(f.t, definition)
		f.t.Cleanup(func() { site.Delete(f.t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group) })
		site.AwaitServed(f.t, group+"/v1alpha1")
		site.AwaitServed(f.t, group+"/v1")
	}
	return group
}

// uids are those of an object on every member.
func (f *federation) uids(apiVersion, kind, name string) map[string]types.UID {
	f.t.Helper()
	uids := map[string]types.UID{}
	for _, member := range f.names() {
		uids[member] = f.get(member, apiVersion, kind, name).GetUID()
	}
	return uids
}

func TestAccAFieldWithoutSchemaChangesItsTypeInPlace(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	group := f.loosely()
	widget := func(settings string) {
		tf.configure(f.provider(), resource(fmt.Sprintf("template = { apiVersion = \"%s/v1\", kind = \"Widget\", metadata = { name = \"x\", namespace = %q }, spec = { settings = %s } }", group, f.namespace, settings), everywhere))
	}
	widget("{ debug = true }")
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	before := f.uids(group+"/v1", "Widget", "x")
	for _, step := range []struct {
		settings string
		want     map[string]any
	}{
		{`{ debug = "verbose", extra = [1, { x = "y" }] }`, map[string]any{"debug": "verbose", "extra": []any{int64(1), map[string]any{"x": "y"}}}},
		{`{ debug = { level = 3 }, extra = "none" }`, map[string]any{"debug": map[string]any{"level": int64(3)}, "extra": "none"}},
	} {
		widget(step.settings)
		tf.plan().does(map[string]string{x: "update"}).quiet()
		tf.applySaved().succeeds().quiet()
		if got := field(t, f.get("us", group+"/v1", "Widget", "x"), "spec", "settings"); !reflect.DeepEqual(got, step.want) {
			t.Errorf("us holds %v, want %v", got, step.want)
		}
		tf.plan().empty().quiet()
	}
	if after := f.uids(group+"/v1", "Widget", "x"); !reflect.DeepEqual(before, after) {
		t.Errorf("the objects were replaced: %v, were %v", after, before)
	}
}

func TestAccAnotherVersionOfACustomResourceUpdatesInPlaceOnEveryMember(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	group := f.loosely()
	widget := func(version, settings string) {
		tf.configure(f.provider(), resource(fmt.Sprintf("template = { apiVersion = \"%s/%s\", kind = \"Widget\", metadata = { name = \"x\", namespace = %q }, spec = { settings = %s } }", group, version, f.namespace, settings), everywhere))
	}
	widget("v1alpha1", `{ a = "1", b = "1" }`)
	tf.apply().succeeds().quiet()
	before, id := f.uids(group+"/v1", "Widget", "x"), tf.stateOf(x)["id"]
	widget("v1", `{ a = "1", b = "1" }`)
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	if after := f.uids(group+"/v1", "Widget", "x"); !reflect.DeepEqual(before, after) || tf.stateOf(x)["id"] != id {
		t.Errorf("replaced: %v, were %v; id %v, was %v", after, before, tf.stateOf(x)["id"], id)
	}
	f.sites["us"].MergePatch(t, group+"/v1", "Widget", f.namespace, "x", `{"spec": {"settings": {"a": "2"}}}`)
	tf.plan().does(map[string]string{x: "update"})
	wantDifference(t, tf.planned(x), "us", "/spec/settings/a", "\"2\"", "\"1\"")
	widget("v1", `{ a = "1" }`)
	tf.apply().succeeds()
	if got := field(t, f.get("us", group+"/v1", "Widget", "x"), "spec", "settings"); !reflect.DeepEqual(got, map[string]any{"a": "1"}) {
		t.Errorf("us holds %v", got)
	}
	tf.plan().empty().quiet()
}

// largeDefinition is a CustomResourceDefinition of about 600 kB.
func largeDefinition(group string) string {
	var properties strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&properties, "                field%04d: {type: string, description: %q}\n", i, strings.Repeat("What this field is for. ", 18))
	}
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.%[1]s
  creationTimestamp: null
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
%[2]s`, group, properties.String())
}

func TestAccALargeDefinitionIsAppliedAndIsInTheStateOnce(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	group := kubetest.UniqueName(t, "acc") + ".example.com"
	text := largeDefinition(group)
	tf.write("crd.yaml", text)
	tf.configure(f.provider(), resource(`template = file("crd.yaml")`, everywhere))
	tf.apply().succeeds()
	tf.plan().empty()
	for _, name := range f.names() {
		live := f.sites[name].Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
		for annotation := range live.GetAnnotations() {
			if strings.Contains(annotation, "last-applied") {
				t.Errorf("%s has the annotation %s", name, annotation)
			}
		}
	}
	state, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < 500_000 || len(state) > len(text)*5/4 {
		t.Errorf("the template has %d bytes, the state with three copies %d", len(text), len(state))
	}
	tf.write("crd.yaml", strings.Replace(text, "What this field is for.", "What this field was for.", 1))
	tf.apply().does(map[string]string{x: "update"})
	tf.plan().empty()
	tf.destroy().succeeds()
}
