package provider_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestAccAMissingNamespaceIsAnErrorOrCreatedOrSkipped(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	late := kubetest.UniqueName(t, "late")
	makeNamespace(t, f.sites["eu"].Cluster, late)
	t.Cleanup(func() { f.sites["us"].Delete(t, "v1", "Namespace", "", late) })
	f.namespace = late
	template := "template = " + f.configMap(`"x"`, "{}")

	tf.configure(f.provider(), resource(template, everywhere))
	tf.plan().fails("Namespace is missing", "Member us", late, `policy.on_missing_namespace = "create" or "skip"`)
	f.wantNoWrites()

	tf.configure(f.provider(), resource(template, everywhere, `policy = { on_missing_namespace = "skip" }`))
	tf.plan().does(map[string]string{x: "create"})
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "x", "eu")
	if got := tf.stateOf(x).names("placed_clusters"); !reflect.DeepEqual(got, []string{"eu"}) {
		t.Errorf("placed_clusters are %v", got)
	}
	tf.plan().empty().quiet()

	tf.configure(f.provider(), resource(template, everywhere, `policy = { on_missing_namespace = "create" }`))
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "x", "eu", "us")
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
	f.absent("v1", "ConfigMap", "x", "eu", "us")
	if _, there := f.sites["us"].Find(t, "v1", "Namespace", "", late); !there {
		t.Error("destroy has deleted the namespace that was made on the way")
	}
}

// define makes a kind of its own on members, and gives its group.
func (f *federation) define(members ...string) (group string) {
	f.t.Helper()
	group = kubetest.UniqueName(f.t, "acc") + ".example.com"
	for _, name := range members {
		site := f.sites[name]
		site.Create(f.t, f.definition(group))
		f.t.Cleanup(func() { site.Delete(f.t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group) })
		f.sites[name].AwaitServed(f.t, group+"/v1")
	}
	return group
}

// definition is the CustomResourceDefinition of a namespaced Widget.
func (f *federation) definition(group string) string {
	return fmt.Sprintf(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.%[1]s"}, "spec": {"group": %[1]q, "scope": "Namespaced",
  "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
  "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
    "properties": {"size": {"type": "integer"}, "parts": {"type": "array", "items": {"type": "string"}}}}}}}}]}}`, group)
}

// widget is an attribute `template` with a Widget.
func (f *federation) widget(group, name string, size int) string {
	return fmt.Sprintf("template = { apiVersion = \"%s/v1\", kind = \"Widget\", metadata = { name = %q, namespace = %q }, spec = { size = %d } }", group, name, f.namespace, size)
}

func TestAccAKindThatAMemberLacksIsAnErrorOrSkipsTheMember(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	group := f.define("eu")
	tf.configure(f.provider(), resource(f.widget(group, "x", 1), everywhere))
	tf.plan().fails("Kind is not served", "Member us", group+"/v1 Widget", `policy.on_missing_api = "skip"`)
	f.wantNoWrites()

	tf.configure(f.provider(), resource(f.widget(group, "x", 1), everywhere, `policy = { on_missing_api = "skip" }`))
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	f.sites["us"].Create(t, f.definition(group))
	t.Cleanup(func() {
		f.sites["us"].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	})
	f.sites["us"].AwaitServed(t, group+"/v1")
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantOn(group+"/v1", "Widget", "x", "eu", "us")
	tf.plan().empty().quiet()
}

// refuseWrites lets a member accept dry runs and refuse what would be written.
func (f *federation) refuseWrites(member string) {
	f.sites[member].proxy.Status(422, kubetest.When(kubetest.Request.Write), kubetest.Message("not on a Friday"))
}

func TestAccARefusedCreationIsUndoneEverywhereAndLeavesNoState(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	f.sites["asia"].Create(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": %q}, "data": {"a": "theirs"}}`, f.namespace))
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere, `policy = { on_existing = "adopt" }`))
	f.refuseWrites("us")
	tf.apply().fails("Member us", "not on a Friday", "was undone")
	if got := tf.resources(); len(got) != 0 {
		t.Errorf("the state holds %v", got)
	}
	f.wantOn("v1", "ConfigMap", "settings", "asia")
	if got := f.get("asia", "v1", "ConfigMap", "settings"); field(t, got, "data", "a") != "theirs" || len(got.GetAnnotations()) > 0 {
		t.Errorf("what was adopted is not put back: %v", got.Object)
	}

	f.heal()
	tf.apply().succeeds()
	f.wantOn("v1", "ConfigMap", "settings", "asia", "eu", "us")
	tf.plan().empty().quiet()
}

func TestAccARefusedWriteMayLeaveAMemberForLater(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	carryOn := `policy = { on_failure = "continue" }`
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere, carryOn))
	f.refuseWrites("us")
	tf.apply().succeeds().warns("Member us", "not on a Friday")
	tf.untainted()
	if got := tf.stateOf(x); !reflect.DeepEqual(got.names("pending_clusters"), []string{"us"}) || !strings.Contains(fmt.Sprint(got.at("messages", "us")), "not on a Friday") {
		t.Errorf("pending_clusters and messages are %v", got)
	}
	f.heal()
	tf.plan().does(map[string]string{x: "update"})
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")

	f.refuseWrites("us")
	tf.configure(f.provider(), resource(f.settings("{a: two}"), everywhere, carryOn))
	tf.apply().fails("Member us", "not on a Friday") // an update taints nothing: it says so loudly
	tf.untainted()
	f.heal()
	f.reset()
	tf.apply().does(map[string]string{x: "update"})
	f.wantWrites(map[string]int{"us": 1})
	tf.plan().empty().quiet()
}

func TestAccARefusedUpdateNamesTheMemberAndTheNextApplyConverges(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one, b: two}"), everywhere))
	tf.apply().succeeds().quiet()
	tf.configure(f.provider(), resource(f.settings("{a: two}"), everywhere))
	f.refuseWrites("us")
	tf.apply().fails("Member us", "not on a Friday")
	tf.untainted()
	f.heal()
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"us": 1})
	if got := field(t, f.get("us", "v1", "ConfigMap", "settings"), "data"); !reflect.DeepEqual(got, map[string]any{"a": "two"}) {
		t.Errorf("us holds %v", got)
	}
	tf.plan().empty().quiet()
}

func TestAccWhatAnAPIServerRefusesInTheDryRunIsAPlanError(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	template := f.webDeployment(3, "nginx:1.27")
	tf.configure(f.provider(), resource(template, everywhere, `overrides = [{ clusters = ["us"], json_patch = "[{path: /spec/replicas, value: three}]" }]`))
	tf.plan().fails("API server refuses", "Member us", "replicas")
	f.wantNoWrites()

	tf.configure(f.provider(), resource(template, everywhere))
	tf.apply().succeeds().quiet()
	f.reset()
	tf.configure(f.provider(), resource(strings.Replace(template, `matchLabels = { app = "web" }`, `matchLabels = { app = "web", more = "x" }`, 1), everywhere))
	tf.plan().fails("API server refuses", "Members eu, us", "selector")
	f.wantNoWrites()
}

func TestAccAnObjectThatIsGoneMayBeKeptAsItIs(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere, `policy = { on_missing = "keep" }`))
	tf.apply().succeeds().quiet()
	f.sites["us"].Delete(t, "v1", "ConfigMap", f.namespace, "settings")
	f.absent("v1", "ConfigMap", "settings", "us")
	tf.plan().empty()
	f.sites["eu"].Delete(t, "v1", "ConfigMap", f.namespace, "settings")
	f.absent("v1", "ConfigMap", "settings", "eu")
	tf.plan().empty()
	tf.destroy().succeeds()
}
