package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestAccAMemberThatLeavesThePlacementGetsADeleteAndNothingElse(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("asia", "eu", "us")))
	tf.apply().succeeds().quiet()
	f.reset()
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("asia", "eu"), `deletion = { propagation = "Background", grace_period_seconds = 7 }`))
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"us": 1})
	write := f.sites["us"].proxy.Writes()[0]
	for _, option := range []string{`"propagationPolicy":"Background"`, `"gracePeriodSeconds":7`, `"preconditions":{"uid":`} {
		if write.Verb != kubetest.Delete || !strings.Contains(string(write.Body), option) {
			t.Errorf("us got %s with %s, which lacks %s", write, write.Body, option)
		}
	}
	f.absent("v1", "ConfigMap", "settings", "us")
	tf.plan().empty().quiet()

	tf.configure(f.provider(), resource(f.settings("{a: one}"), "placement = { clusters = [] }"))
	tf.apply().does(map[string]string{x: "update"}).quiet()
	f.absent("v1", "ConfigMap", "settings", "asia", "eu")
	if got := tf.stateOf(x); got == nil || len(got.names("placed_clusters")) != 0 {
		t.Errorf("the definition is not kept: %v", got)
	}
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
}

func TestAccAnOrphanStaysWithoutAnythingOfOurs(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	orphan := `deletion = { policy = "orphan" }`
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu", "us"), orphan))
	tf.apply().succeeds().quiet()
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu"), orphan))
	tf.apply().succeeds().quiet()
	tf.destroy().succeeds().quiet()
	for _, member := range f.names() {
		left := f.get(member, "v1", "ConfigMap", "settings")
		if text := fmt.Sprint(left.GetLabels(), left.GetAnnotations()); strings.Contains(text, "kubefed") || field(t, left, "data", "a") != "one" {
			t.Errorf("%s still has our mark, or other data: %v", member, left.Object)
		}
		for _, entry := range left.GetManagedFields() {
			if entry.Manager == "terraform-kubefed" && strings.Contains(entry.FieldsV1.String(), "f:data") {
				t.Errorf("%s still names us as manager of the data: %v", member, entry)
			}
		}
	}
}

// team is a Namespace that a test federates itself.
func (f *federation) team() (name, template string) {
	f.t.Helper()
	name = kubetest.UniqueName(f.t, "team")
	for _, member := range f.names() {
		site := f.sites[member]
		f.t.Cleanup(func() { site.Delete(f.t, "v1", "Namespace", "", name) })
	}
	return name, fmt.Sprintf("template = { apiVersion = \"v1\", kind = \"Namespace\", metadata = { name = %q } }", name)
}

func TestAccANamespaceIsProtectedWhileOthersHaveSomethingInIt(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	team, template := f.team()
	inside := named("inside", fmt.Sprintf(`template = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "ours", namespace = %q } }`, team),
		on("eu", "us"), "depends_on = [kubefed_federated_resource.x]")
	tf.configure(f.provider(), resource(template, on("eu", "us")), inside)
	tf.plan().does(map[string]string{x: "create", "kubefed_federated_resource.inside": "create"}).quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()

	f.sites["us"].Create(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": %q}}`, team))
	f.reset()
	tf.destroy().fails("Object is protected", "Member us", "ConfigMap "+team+"/theirs", "deletion.protection = false")
	f.wantNoWrites()

	tf.configure(f.provider(), resource(template, on("eu")))
	if text := list(tf.apply().succeeds().warnings); !strings.Contains(text, "left") || !strings.Contains(text, "Member us") {
		t.Errorf("no warning says what is left on us:%s", text)
	}
	if left := f.sites["us"].Get(t, "v1", "Namespace", "", team); len(left.GetAnnotations()) > 0 {
		t.Errorf("us was not released: %v", left.Object)
	}
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
	f.sites["us"].Get(t, "v1", "ConfigMap", team, "theirs")
}

func TestAccProtectionCanBeTakenOff(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	team, template := f.team()
	tf.configure(f.provider(), resource(template, everywhere, `deletion = { protection = false }`))
	tf.apply().succeeds().quiet()
	f.sites["eu"].Create(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": %q}}`, team))
	tf.destroy().succeeds()
	if _, there := f.sites["eu"].Find(t, "v1", "Namespace", "", team); there {
		t.Error("the namespace is still there")
	}
}

func TestAccADefinitionIsProtectedWhileOthersHaveObjectsOfItsKind(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	group := kubetest.UniqueName(t, "acc") + ".example.com"
	crd := resource("template = <<-JSON\n"+f.definition(group)+"\nJSON", everywhere)
	tf.configure(f.provider(), crd, named("w", f.widget(group, "ours", 1), everywhere, "depends_on = [kubefed_federated_resource.x]"))
	tf.plan().does(map[string]string{x: "create", "kubefed_federated_resource.w": "create"}).quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()

	f.sites["us"].Create(t, fmt.Sprintf(`{"apiVersion": "%s/v1", "kind": "Widget", "metadata": {"name": "theirs", "namespace": %q}}`, group, f.namespace))
	f.reset()
	tf.destroy().fails("Object is protected", "Member us", "Widget "+f.namespace+"/theirs")
	f.wantNoWrites()
	f.sites["us"].Delete(t, group+"/v1", "Widget", f.namespace, "theirs")
	f.absent(group+"/v1", "Widget", "theirs", "us")
	tf.destroy().succeeds().quiet()
}

func TestAccADeletionThatAFinalizerHoldsSaysSoAndStaysInState(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere, `deletion = { propagation = "Background" }`, "timeouts {\n    delete = \"4s\"\n  }"))
	tf.apply().succeeds().quiet()
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	tf.destroy().fails("Object is not gone in time", "Member us", "example.com/hold")
	f.absent("v1", "ConfigMap", "settings", "eu")
	if got := tf.stateOf(x).names("placed_clusters"); fmt.Sprint(got) != "[us]" {
		t.Errorf("the state has %v", got)
	}
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", `{"metadata": {"finalizers": null}}`)
	tf.destroy().succeeds()
	f.absent("v1", "ConfigMap", "settings", "us")
}
