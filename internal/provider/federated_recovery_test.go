package provider_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// losePrivateState leaves the state as it is when the provider is killed in the middle of an update.
func (tf *terraform) losePrivateState() {
	tf.t.Helper()
	path := filepath.Join(tf.dir, "terraform.tfstate")
	data, err := os.ReadFile(path)
	if err != nil {
		tf.t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(data, &state); err != nil {
		tf.t.Fatal(err)
	}
	resources, _ := state["resources"].([]any)
	for _, r := range resources {
		instances, _ := r.(map[string]any)["instances"].([]any)
		for _, i := range instances {
			delete(i.(map[string]any), "private")
		}
	}
	if data, err = json.Marshal(state); err != nil {
		tf.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tf.t.Fatal(err)
	}
}

func TestAccLostPrivateStateIsFoundAgainByTheMarks(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	config := func(value string) string {
		return resource(fmt.Sprintf("template = yamlencode({ apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"x\", namespace = %q }, data = { k = %q } })", f.namespace, value),
			on("eu", "us"), `overrides = [{ clusters = ["eu"], merge_patch = "data: {k: other}" }]`)
	}
	tf.configure(f.provider(), config("1"))
	tf.apply().succeeds()
	uid := f.get("us", "v1", "ConfigMap", "x").GetUID()

	tf.losePrivateState()
	tf.configure(f.provider(), config("2"))
	tf.apply().succeeds()
	if live := f.get("us", "v1", "ConfigMap", "x"); live.GetUID() != uid || field(t, live, "data", "k") != "2" {
		t.Errorf("us holds %v", live.Object)
	}
	tf.plan().empty()

	tf.losePrivateState()
	tf.destroy("-refresh=false").succeeds()
	f.absent("v1", "ConfigMap", "x", "eu", "us")
}

func TestAccLostPrivateStateForgetsNothingThatIsImportedOrKept(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	f.sites["eu"].Create(t, f.existing()["configmap"])
	imported := resource("template = "+f.configMap(`"old"`, `{ a = "changed", b = "two" }`), on("eu"))
	tf.configure(f.provider(), importBlock("x", f.importID("configmap")),
		resource(fmt.Sprintf("template = <<-JSON\n%s\nJSON", f.existing()["configmap"]), on("eu")))
	tf.apply().succeeds()
	tf.losePrivateState()
	tf.configure(f.provider(), imported)
	warnings := list(tf.plan().does(map[string]string{x: "update"}).warnings)
	for _, words := range []string{"State was incomplete", "kept as imported", "Member eu"} {
		if !strings.Contains(warnings, words) {
			t.Errorf("nothing says %q:%s", words, warnings)
		}
	}
	tf.applySaved().succeeds()
	tf.plan().empty().quiet()

	kept := resource("template = "+f.configMap(`"old"`, `{ a = "changed", b = "two" }`), on("eu"), `policy = { on_missing = "keep" }`)
	tf.configure(f.provider(), kept)
	tf.apply().succeeds()
	f.sites["eu"].Delete(t, "v1", "ConfigMap", f.namespace, "old")
	f.absent("v1", "ConfigMap", "old", "eu")
	tf.losePrivateState()
	tf.plan().empty()

	tf.configure(f.provider(), resource("template = "+f.configMap(`"none"`, "{}"), "placement = { clusters = [] }"))
	tf.apply().succeeds()
	tf.losePrivateState()
	tf.plan().empty()
	tf.destroy().succeeds()
}

func TestAccDriftIsFoundWhereTheTemplateSaysFalseOrNothing(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	tf.configure(f.provider(), resource(fmt.Sprintf(`template = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "w", namespace = %q }
    spec = { paused = false, replicas = 0, selector = { matchLabels = { app = "w" } }, template = { metadata = { labels = { app = "w" } }
      spec = { hostNetwork = false, tolerations = [], containers = [{ name = "c", image = "nginx", args = [] }] } } } }`, f.namespace), on("eu")))
	tf.apply().succeeds()
	tf.plan().empty()
	f.sites["eu"].MergePatch(t, "apps/v1", "Deployment", f.namespace, "w", map[string]any{"spec": map[string]any{"paused": true, "template": map[string]any{"spec": map[string]any{
		"hostNetwork": true, "tolerations": []any{map[string]any{"operator": "Exists"}}}}}})
	tf.plan().does(map[string]string{x: "update"})
	differences := tf.show()
	for _, path := range []string{"/spec/paused", "/spec/template/spec/hostNetwork", "/spec/template/spec/tolerations"} {
		if !strings.Contains(differences, path) {
			t.Errorf("the plan does not show %s:\n%s", path, differences)
		}
	}
	tf.applySaved().succeeds()
	tf.plan().empty()
}

func TestAccAnotherDefaultNamespaceReplacesTheObject(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	config := func(namespace string) string {
		return resource(`template = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "`+f.namespace+`" } }`, on("eu"), fmt.Sprintf("default_namespace = %q", namespace))
	}
	tf.configure(f.provider(), config(f.namespace))
	tf.apply().succeeds()
	tf.configure(f.provider(), strings.Replace(config("default"), `default_namespace = "default"`, "", 1)) // which is the default's default
	tf.plan().does(map[string]string{x: "replace"})
	tf.applySaved().succeeds()
	if state := tf.stateOf(x); state.at("target", "namespace") != "default" || state["id"] != "core/ConfigMap/default/"+f.namespace {
		t.Errorf("the state says %v of %v", state["target"], state["id"])
	}
	f.absent("v1", "ConfigMap", f.namespace, "eu")
	tf.plan().empty()
	tf.destroy().succeeds()
}
