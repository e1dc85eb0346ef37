package provider_test

import (
	"fmt"
	"reflect"
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
