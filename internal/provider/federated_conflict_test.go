package provider_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestAccAFieldOfAnotherManagerIsAConflictAtPlanUnlessForced(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	base := f.configMap(`"x"`, `{ a = "one" }`)
	tf.configure(f.provider(), resource("template = "+base, everywhere))
	tf.apply().succeeds().quiet()
	f.sites["us"].Apply(t, "theirs", false, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": %q}, "data": {"b": "theirs"}}`, f.namespace))
	tf.plan().empty().quiet()

	wider := "template = " + f.configMap(`"x"`, `{ a = "one", b = "ours" }`)
	tf.configure(f.provider(), resource(wider, everywhere))
	f.reset()
	tf.plan().fails("Field conflict", "Member us", ".data.b (theirs)", `policy.on_conflict = "force"`)
	f.wantNoWrites()

	tf.configure(f.provider(), resource(wider, everywhere, `policy = { on_conflict = "force" }`))
	tf.apply().succeeds().quiet()
	if got := field(t, f.get("us", "v1", "ConfigMap", "x"), "data", "b"); got != "ours" {
		t.Errorf("us holds %v", got)
	}
	tf.plan().empty().quiet()
}

func TestAccAnObjectOfOthersIsAnErrorUnlessItIsAdoptedWithWhatTheyKeepInIt(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	f.sites["us"].Create(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": %q, "labels": {"theirs": "yes"}}, "data": {"a": "old", "z": "kept"}}`, f.namespace))
	template := "template = " + f.configMap(`"x"`, `{ a = "new" }`)
	tf.configure(f.provider(), resource(template, everywhere))
	refusal := tf.plan().fails("Object exists already", "Member us", "kubetest", `policy.on_existing = "adopt"`)
	if !strings.Contains(refusal.Snippet.Code, "template") {
		t.Errorf("the error is bound to %q", refusal.Snippet.Code)
	}
	tf.apply().fails("Object exists already")
	f.wantNoWrites()
	f.wantOn("v1", "ConfigMap", "x", "us")

	tf.configure(f.provider(`policy = { on_existing = "adopt" }`), resource(template, everywhere))
	plan := tf.plan().succeeds()
	plan.warns("exists and is taken over", "Member us", "/data/a old -> new")
	tf.applySaved().succeeds() // Terraform plans a creation once more, which may say it again
	us := f.get("us", "v1", "ConfigMap", "x")
	if got := field(t, us, "data"); !reflect.DeepEqual(got, map[string]any{"a": "new", "z": "kept"}) || us.GetLabels()["theirs"] != "yes" {
		t.Errorf("us holds %v", us.Object)
	}
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
	f.absent("v1", "ConfigMap", "x", "eu", "us")
}

func TestAccAnObjectBelongsToOneResourceOfOneConfiguration(t *testing.T) {
	t.Parallel()
	f, tf, other := newFederation(t, "eu", "us"), newTerraform(t), newTerraform(t)
	template := "template = " + f.configMap(`"x"`, `{ a = "one" }`)
	tf.configure(f.provider(), resource(template, everywhere), named("again", template, on("us")))
	tf.plan().fails("Object is declared twice", "us", "core/ConfigMap/"+f.namespace+"/x")
	f.wantNoWrites()

	tf.configure(f.provider(), resource(template, everywhere))
	tf.apply().succeeds().quiet()
	f.reset()
	tf.configure(f.provider(), resource(template, everywhere), named("again", strings.Replace(template, "one", "two", 1), on("us")))
	tf.plan().fails("Object is declared twice", "us", "core/ConfigMap/"+f.namespace+"/x")
	f.wantNoWrites()

	owner := f.owner
	f.owner = kubetest.UniqueName(t, "other")
	other.configure(f.provider(`policy = { on_existing = "adopt", on_conflict = "force" }`), resource(template, everywhere))
	other.plan().fails("Object exists already", "Members eu, us", owner)
	f.wantNoWrites()
}

func TestAccAReplacementDeletesAndCreatesOnEveryMember(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource("template = "+f.configMap(`"old"`, `{ a = "one" }`), everywhere))
	tf.apply().succeeds().quiet()

	tf.configure(f.provider(), resource("template = "+f.configMap(`"new"`, `{ a = "one" }`), everywhere))
	tf.plan().does(map[string]string{x: "replace"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "new", "eu", "us")
	f.absent("v1", "ConfigMap", "old", "eu", "us")

	uid := f.get("eu", "v1", "ConfigMap", "new").GetUID()
	tf.plan("-replace=" + x).does(map[string]string{x: "replace"}).quiet()
	tf.applySaved().succeeds().quiet()
	if f.get("eu", "v1", "ConfigMap", "new").GetUID() == uid {
		t.Error("-replace has not made a new object")
	}
	tf.plan().empty().quiet()
}

func TestAccAnObjectThatAsksToBeLeftAloneIsNeverTakenOver(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	f.sites["eu"].Create(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": %q, "labels": {"kubefed.io/managed": "false"}}}`, f.namespace))
	tf.configure(f.provider(`policy = { on_existing = "adopt", on_conflict = "force" }`), resource("template = "+f.configMap(`"x"`, "{}"), everywhere))
	tf.plan().fails("Member eu", "kubefed.io/managed=false")
	f.wantNoWrites()
}

func TestAccAnotherOwnerInTheProviderBlockIsWrittenOntoTheObjects(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds().quiet()
	f.owner = kubetest.UniqueName(t, "renamed")
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.plan().does(map[string]string{x: "update"}).warns("Objects get the new owner", "Members eu, us", f.owner)
	tf.applySaved().succeeds()
	if got := f.get("us", "v1", "ConfigMap", "settings").GetAnnotations()["terraform.kubefed.io/owner-name"]; got != f.owner {
		t.Errorf("us belongs to %q", got)
	}
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
	f.absent("v1", "ConfigMap", "settings", "eu", "us")
}
