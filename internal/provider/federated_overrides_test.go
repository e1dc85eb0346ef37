package provider_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// allOverrides has one entry of every kind; together they give eu something different in every part.
const allOverrides = `overrides = [
    { cluster_selector = {}, annotations = { "example.com/owner" = "all" } },
    { cluster_selector = { match_labels = { tier = "prod" } }, json_patch = jsonencode([
        { path = "/metadata/annotations/example.com~1owner", value = "prod" },
        { op = "add", path = "/spec/template/spec/containers/0/args/-", value = "--three" },
        { op = "add", path = "/spec/template/spec/containers/0/args/-", value = "--four" },
      ]) },
    { cluster_selector = { match_expressions = [{ key = "kubernetes.io/metadata.name", operator = "In", values = ["eu"] }] },
      merge_patch = "spec: {template: {spec: {priorityClassName: null, terminationGracePeriodSeconds: 5}}}" },
    { clusters = ["eu"], images = [{ container = "*", registry = "reg.example.com:5000", tag = "1.28" }], labels = { place = "eu" } },
    { clusters = ["eu"], env = [{ container = "web", name = "REGION", value = "eu-central-1" }], args = [{ container = "web", remove = ["--one"], add = ["--five"] }] },
  ]`

func TestAccEveryKindOfOverrideReachesTheMembersItSelects(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	f.sites["eu"].labels["tier"] = "prod"
	embedded := `overrides = [{ clusters = ["eu"], embedded = [
    { path = "/data/app.yaml", merge_patch = "log: {level: debug}" },
    { path = "/data/app.json", format = "json", json_patch = "[{path: /size, value: 9007199254740993}]" },
  ] }]`
	files := `template = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "files", namespace = "` + f.namespace + `" }
    data = { "app.yaml" = "log: {level: info}\nport: 80\n", "app.json" = "{\"size\": 1}" } }`
	tf.configure(f.provider(), resource(f.webDeployment(3, "team/web:1.27"), everywhere, allOverrides, `replicas = { eu = 5, "*" = 2 }`), named("files", files, everywhere, embedded))
	tf.plan().succeeds()
	differences := tf.planned(x).After.at("differences", "eu")
	tf.applySaved().succeeds().quiet()
	tf.plan().empty()

	eu, us := f.get("eu", "apps/v1", "Deployment", "web"), f.get("us", "apps/v1", "Deployment", "web")
	pod, _ := field(t, eu, "spec", "template", "spec", "containers").([]any)
	container, _ := pod[0].(map[string]any)
	for what, pair := range map[string][2]any{
		"replicas of eu":   {field(t, eu, "spec", "replicas"), int64(5)},
		"replicas of us":   {field(t, us, "spec", "replicas"), int64(2)},
		"annotation of eu": {eu.GetAnnotations()["example.com/owner"], "prod"},
		"annotation of us": {us.GetAnnotations()["example.com/owner"], "all"},
		"label of eu":      {eu.GetLabels()["place"], "eu"},
		"image":            {container["image"], "reg.example.com:5000/team/web:1.28"},
		"arguments":        {fmt.Sprint(container["args"]), "[--two --three --four --five]"},
		"environment":      {fmt.Sprint(container["env"]), "[map[name:REGION value:eu-central-1]]"},
		"grace period":     {field(t, eu, "spec", "template", "spec", "terminationGracePeriodSeconds"), int64(5)},
		"embedded YAML":    {field(t, f.get("eu", "v1", "ConfigMap", "files"), "data", "app.yaml"), "log:\n  level: debug\nport: 80\n"},
		"untouched YAML":   {field(t, f.get("us", "v1", "ConfigMap", "files"), "data", "app.yaml"), "log: {level: info}\nport: 80\n"},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
	if got := fmt.Sprint(field(t, f.get("eu", "v1", "ConfigMap", "files"), "data", "app.json")); !strings.Contains(got, "9007199254740993") {
		t.Errorf("embedded JSON is %s", got)
	}
	wanted := []string{"/metadata/annotations/example.com~1owner", "/metadata/labels/place", "/spec/replicas",
		"/spec/template/spec/containers/0/args", "/spec/template/spec/containers/0/env", "/spec/template/spec/containers/0/image", "/spec/template/spec/terminationGracePeriodSeconds"}
	paths, _ := differences.(map[string]any)
	if got := sortedKeys(paths); !reflect.DeepEqual(got, wanted) {
		t.Errorf("differences of eu name %v, want %v", got, wanted)
	}
}

// hush is a value that must be seen nowhere, and how it looks in base64.
const (
	hush       = "hush-hush-0815"
	hushBase64 = "aHVzaC1odXNoLTA4MT" // whatever follows the value
)

// unseen fails the test if a text quotes a secret.
func unseen(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{hush, hushBase64, "louder-4711", "bG91ZGVyLTQ3MTE="} {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("%s shows a secret: …%s…", where, text[max(0, at-200):min(len(text), at+100)])
		}
	}
}

func TestAccSecretValuesAreSeenNowhereButInTheTemplate(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.setenv("TF_LOG", "TRACE")
	tf.setenv("TF_LOG_SDK", "TRACE")
	tf.setenv("TF_LOG_PATH", tf.dir+"/trace.log")
	tf.setenv("TF_VAR_password", hush)
	configuration := func(patch string) {
		tf.configure("variable \"password\" {\n  type = string\n  sensitive = true\n}\n", f.provider(),
			named("secret", `template = { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "`+f.namespace+`" }, stringData = { password = var.password, user = "shop" } }`,
				everywhere, `overrides = [{ clusters = ["eu"], json_patch = jsonencode([{ path = "/data/password", value = base64encode("${var.password}-eu") }]) }]`),
			named("config", "template = "+f.configMap(`"c"`, `{ password = var.password, open = "yes" }`), everywhere, `sensitive_fields = ["/data/password"]`, patch))
	}
	configuration("")
	planned := tf.plan().succeeds().quiet()
	unseen(t, "the plan", planned.text+tf.show())
	applied := tf.applySaved().succeeds().quiet()
	unseen(t, "the apply", applied.text)
	tf.plan().empty().quiet()
	for _, name := range []string{"secret", "config"} {
		state := tf.stateOf("kubefed_federated_resource." + name)
		unseen(t, "the state of "+name, fmt.Sprint(state["versions"], state["differences"], state["messages"], state["target"]))
	}
	if got := tf.stateOf("kubefed_federated_resource.secret").at("differences", "eu", "/data/password"); got != "(sensitive)" {
		t.Errorf("the override of the Secret reads %v", got)
	}

	for _, kind := range []string{"Secret", "ConfigMap"} {
		name := strings.ToLower(kind[:1])
		value := map[string]string{"Secret": "bG91ZGVyLTQ3MTE=", "ConfigMap": "louder-4711"}[kind]
		f.sites["us"].MergePatch(t, "v1", kind, f.namespace, name, `{"data": {"password": "`+value+`"}}`)
	}
	drifted := tf.plan().does(map[string]string{"kubefed_federated_resource.secret": "update", "kubefed_federated_resource.config": "update"})
	unseen(t, "the plan of drift", drifted.text+tf.show())
	for _, name := range []string{"secret", "config"} {
		wantDifference(t, tf.planned("kubefed_federated_resource."+name), "us", "/data/password", "(sensitive, changed)", "(sensitive)")
	}
	unseen(t, "the apply of drift", tf.applySaved().succeeds().text)
	tf.plan().empty().quiet()

	tf.setenv("TF_VAR_password", hush+"2")
	changed := tf.plan().does(map[string]string{"kubefed_federated_resource.secret": "update", "kubefed_federated_resource.config": "update"})
	unseen(t, "the plan of another password", changed.text+tf.show())
	unseen(t, "the apply of another password", tf.applySaved().succeeds().quiet().text)
	tf.plan().empty().quiet()

	configuration(`overrides = [{ clusters = ["us"], json_patch = jsonencode([{ path = "/data/password", value = [var.password] }]) }]`)
	refused := tf.plan()
	unseen(t, "the refusal", refused.text)
	if len(refused.errors) == 0 {
		t.Error("a list as value of a ConfigMap key is accepted")
	}
	unseen(t, "the log", readLog(t, tf))
}

// readLog is the log of all commands without what Terraform itself writes of configuration and state.
func readLog(t *testing.T, tf *terraform) string {
	t.Helper()
	text, err := os.ReadFile(tf.dir + "/trace.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	kept := slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "provider.terraform-provider-kubefed") })
	if len(kept) == 0 {
		t.Fatal("the provider has logged nothing")
	}
	return strings.Join(kept, "\n")
}
