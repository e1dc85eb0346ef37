package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// importBlock imports an object into a resource.
func importBlock(name, id string) string {
	return fmt.Sprintf("import {\n  to = kubefed_federated_resource.%s\n  id = %q\n}\n", name, id)
}

// existing are objects of several kinds as somebody else made them, by the name of the resource that imports them.
func (f *federation) existing() map[string]string {
	metadata := fmt.Sprintf(`"metadata": {"name": "old", "namespace": %q, "labels": {"app": "old"}}`, f.namespace)
	return map[string]string{
		"deployment": `{"apiVersion": "apps/v1", "kind": "Deployment", ` + metadata + `, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "old"}},
			"template": {"metadata": {"labels": {"app": "old"}}, "spec": {"containers": [{"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}]}]}}}}`,
		"service":   `{"apiVersion": "v1", "kind": "Service", ` + metadata + `, "spec": {"selector": {"app": "old"}, "ports": [{"port": 80}]}}`,
		"configmap": `{"apiVersion": "v1", "kind": "ConfigMap", ` + metadata + `, "data": {"a": "one", "b": "two"}}`,
		"secret":    `{"apiVersion": "v1", "kind": "Secret", ` + metadata + `, "data": {"password": "aHVzaC1odXNo"}}`,
	}
}

// importID is what an object is imported by.
func (f *federation) importID(kind string) string {
	version := map[string]string{"deployment": "apps/v1/Deployment", "service": "v1/Service", "configmap": "v1/ConfigMap", "secret": "v1/Secret"}
	return version[kind] + "/" + f.namespace + "/old"
}

func TestAccAnImportWithGeneratedConfigurationPlansNothingAndWritesNothing(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	blocks := ""
	for _, kind := range sortedKeys(f.existing()) {
		blocks += importBlock(kind, f.importID(kind))
		for _, name := range f.names() {
			f.sites[name].Create(t, f.existing()[kind])
		}
	}
	f.sites["us"].MergePatch(t, "apps/v1", "Deployment", f.namespace, "old", `{"spec": {"replicas": 7}}`)
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "old", `{"data": {"b": null, "c": "three"}}`)

	f.reset()
	tf.configure(f.provider(), blocks)
	tf.plan("-generate-config-out=generated.tf").empty().quiet()
	generated, err := os.ReadFile(filepath.Join(tf.dir, "generated.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"status", "uid", "clusterIP", "creationTimestamp", "deployment.kubernetes.io/revision"} {
		if strings.Contains(string(generated), word) {
			t.Errorf("the generated configuration says %s:\n%s", word, generated)
		}
	}
	tf.apply().empty().quiet()
	f.wantNoWrites()
	state := tf.stateOf("kubefed_federated_resource.deployment")
	if got := state.at("differences", "us", "/spec/replicas"); got != "7" {
		t.Errorf("the copy of us differs in replicas, and differences say %v", state["differences"])
	}
	if got := tf.stateOf("kubefed_federated_resource.configmap").at("differences", "us"); !reflect.DeepEqual(got, map[string]any{"/data/b": "null", "/data/c": "three"}) {
		t.Errorf("the ConfigMap of us differs: %v", got)
	}
	tf.plan().empty().quiet()
}

func TestAccAnImportWithConfigurationThatSaysTheSameChangesNoObject(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	for _, name := range []string{"eu", "us"} {
		f.sites[name].Create(t, f.existing()["configmap"])
	}
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "old", `{"data": {"a": "other"}}`)
	template := fmt.Sprintf("template = <<-JSON\n%s\nJSON", f.existing()["configmap"])
	override := `overrides = [{ clusters = ["us"], json_patch = "[{path: /data/a, value: other}]" }]`
	tf.configure(f.provider(), importBlock("x", f.importID("configmap")), resource(template, `placement = { clusters = ["eu", "us"] }`, override))
	tf.plan().does(map[string]string{x: "update"}).quiet()
	c := tf.planned(x)
	for _, attribute := range []string{"versions", "differences", "placed_clusters", "id", "target"} {
		if !reflect.DeepEqual(c.Before[attribute], c.After[attribute]) {
			t.Errorf("%s changes from %v to %v", attribute, c.Before[attribute], c.After[attribute])
		}
	}
	uid := f.get("eu", "v1", "ConfigMap", "old").GetUID()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	eu, us := f.get("eu", "v1", "ConfigMap", "old"), f.get("us", "v1", "ConfigMap", "old")
	if eu.GetUID() != uid || field(t, eu, "data", "a") != "one" || field(t, us, "data", "a") != "other" {
		t.Errorf("the objects have changed: eu %v, us %v", eu.Object, us.Object)
	}

	tf.configure(f.provider(), resource(template, everywhere, override))
	tf.plan().does(map[string]string{x: "update"}).quiet()
	f.reset()
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"asia": 1})
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
	f.absent("v1", "ConfigMap", "old", f.names()...)
}

func TestAccAnImportPlansWhatConfigurationChangesInPlaceAndCreatesWhereItIsLacking(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	f.sites["eu"].Create(t, f.existing()["configmap"])
	f.sites["eu"].MergePatch(t, "v1", "ConfigMap", f.namespace, "old", `{"metadata": {"annotations": {"theirs": "seen"}}}`)
	tf.configure(f.provider(), importBlock("x", f.importID("configmap")),
		resource("template = "+f.configMap(`"old"`, `{ a = "changed", b = "two" }`), everywhere))
	tf.plan().does(map[string]string{x: "update"})
	if text := tf.show(); !strings.Contains(text, "theirs") {
		t.Errorf("the plan does not show what goes:\n%s", text)
	}
	f.reset()
	tf.applySaved().succeeds()
	f.wantOn("v1", "ConfigMap", "old", "eu", "us")
	eu := f.get("eu", "v1", "ConfigMap", "old")
	if field(t, eu, "data", "a") != "changed" || eu.GetAnnotations()["theirs"] != "" {
		t.Errorf("eu does not hold what the plan has said: %v", eu.Object)
	}
	tf.plan().empty().quiet()
}

func TestAccAnImportedCopyOutsideThePlacementIsForgottenAndLeft(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	for _, name := range f.names() {
		f.sites[name].Create(t, f.existing()["configmap"])
	}
	tf.configure(f.provider(), importBlock("x", f.importID("configmap")),
		resource(fmt.Sprintf("template = <<-JSON\n%s\nJSON", f.existing()["configmap"]), on("eu")))
	tf.plan().does(map[string]string{x: "update"}).warns("us", "core/ConfigMap/"+f.namespace+"/old")
	f.reset()
	tf.applySaved().succeeds()
	if writes := f.sites["us"].proxy.Writes(); len(writes) != 0 {
		t.Errorf("us was written: %v", writes)
	}
	f.wantOn("v1", "ConfigMap", "old", "eu", "us")
	tf.plan().empty().quiet()
}

func TestAccAnImportedObjectIsWatchedAndBelongsToOneConfiguration(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	for _, name := range f.names() {
		f.sites[name].Create(t, f.existing()["configmap"])
	}
	blocks := importBlock("x", f.importID("configmap"))
	object := resource(fmt.Sprintf("template = <<-JSON\n%s\nJSON", f.existing()["configmap"]), everywhere)
	tf.configure(f.provider(), blocks, object)
	tf.apply().succeeds()
	f.sites["eu"].MergePatch(t, "v1", "ConfigMap", f.namespace, "old", `{"data": {"a": "theirs"}}`)
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).warns("/data/a", "Member eu")
	tf.applySaved().succeeds()
	if writes := f.sites["us"].proxy.Writes(); len(writes) > 0 {
		t.Errorf("us holds what it shall, and gets %v", writes)
	}
	if got := field(t, f.get("eu", "v1", "ConfigMap", "old"), "data", "a"); got != "one" {
		t.Errorf("eu holds %v", got)
	}
	tf.plan().empty().quiet()

	others := newTerraform(t)
	another := strings.Replace(f.provider(), f.owner, f.owner+"-other", 1)
	others.configure(another, blocks, object)
	others.apply().succeeds().warns("is taken over", "Member eu", f.owner, "destroy = false")
	others.configure(another, strings.Replace(object, `"one"`, `"ours"`, 1))
	others.apply().succeeds().quiet()
	tf.plan().warns("Members eu, us", `belongs to the configuration with owner "`+f.owner+`-other"`)
	others.destroy().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "old")
}

func TestAccAnImportThatFindsNothingOrHasAWrongIdSaysSo(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	object := resource("template = "+f.configMap(`"old"`, "{}"), everywhere)
	tf.configure(f.provider(), importBlock("x", "v1/ConfigMap/"+f.namespace+"/none"), object)
	tf.plan().fails("no member that answers holds core/ConfigMap/"+f.namespace+"/none", `"eu"`)
	tf.configure(f.provider(), importBlock("x", "v1/ConfigMap/old"), object)
	tf.plan().fails("Invalid import id", "ConfigMap lives in a namespace", "v1/ConfigMap/<namespace>/old")
	tf.configure(f.provider(), importBlock("x", "v1/Namespace/here/old"), object)
	tf.plan().fails("Namespace lives in no namespace", "v1/Namespace/old")
	for id, words := range map[string][]string{
		"core/ConfigMap/" + f.namespace + "/old":        {"names no version", "Import it as \"v1/ConfigMap/" + f.namespace + "/old\"."},
		"apps/Deployment/" + f.namespace + "/old":       {"names no version", "Import it as \"apps/v1/Deployment/" + f.namespace + "/old\"."},
		"core/Namespace/" + f.namespace:                 {"Import it as \"v1/Namespace/" + f.namespace + "\"."},
		"v1/configmaps/" + f.namespace + "/old":         {"No member that answers serves v1 configmaps", "Import it as \"v1/ConfigMap/" + f.namespace + "/old\""},
		"apps/v1beta7/Deployment/" + f.namespace + "/x": {"serves apps/v1beta7 Deployment", "Import it as \"apps/v1/Deployment/" + f.namespace + "/x\""},
		"v1/NobodysKind/old":                            {"serves v1 NobodysKind", "Correct apiVersion and kind"},
	} {
		tf.configure(f.provider(), importBlock("x", id), object)
		tf.plan().fails(append(words, "Invalid import id")...)
	}
	tf.configure(f.provider(), importBlock("x", "ConfigMap/none"), object)
	tf.plan().fails("Invalid import id", "ConfigMap/none", "<apiVersion>/<Kind>/[<namespace>/]<name>")
}
