package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
)

const renderLocals = `
locals {
  deployment = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web", namespace = "shop", labels = null }
    spec = {
      replicas = 3
      template = { spec = { containers = [{ name = "web", image = "reg.example/web:1", args = ["-v"], env = [] }] } }
    }
  }
  config = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: x}
    data:
      mode: "0400"
      app.yaml: |
        log: {level: info}
  YAML
  overrides = [
    { clusters = ["eu"], json_patch = jsonencode([{ path = "/spec/replicas", value = 5 }]) },
    { cluster_selector = { match_labels = { tier = "edge" } }, merge_patch = "spec: {paused: true}" },
    { cluster_selector = { match_expressions = [{ key = "tier", operator = "Exists" }] }, labels = { tier = 1 }, annotations = { "a/b" = "c" } },
    { cluster_selector = {}, images = [{ container = "*", tag = "2" }] },
    { clusters = [], merge_patch = "spec: {never: true}" },
    {
      clusters = toset(["us"])
      env      = [{ container = "web", name = "REGION", value = "us" }, { container = "web", name = "PORT", value = 8080 }]
      args     = [{ container = "web", add = ["-x"], remove = ["-v"] }]
    },
  ]
}
`

func TestRenderGivesWhatTheMemberWouldGet(t *testing.T) {
	container := func(rest string) string {
		return `"template":{"spec":{"containers":[{` + rest + `,"image":"reg.example/web:2","name":"web"}]}}`
	}
	runFunctions(t, outputs(renderLocals+`
output "eu" {
  value = jsonencode(provider::kubefed::render(local.deployment, local.overrides, "eu", {}))
}
output "edge" {
  value = jsonencode(provider::kubefed::render(local.deployment, local.overrides, "mars", { tier = "edge" }))
}
output "us" {
  value = jsonencode(provider::kubefed::render(local.deployment, local.overrides, "us", null))
}
output "text_with_embedded" {
  value = provider::kubefed::render(local.config, [
    { cluster_selector = {}, embedded = [{ path = "/data/app.yaml", merge_patch = "log: {level: debug}" }] },
  ], "eu", {}).data["app.yaml"]
}
output "by_name_as_label" {
  value = provider::kubefed::render(local.config, [
    { cluster_selector = { match_labels = { "kubernetes.io/metadata.name" = "eu" } }, merge_patch = "data: {me: eu}" },
  ], "eu", {}).data.me
}
`, map[string]knownvalue.Check{
		"eu": knownvalue.StringExact(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},` +
			`"spec":{"replicas":5,` + container(`"args":["-v"],"env":[]`) + `}}`),
		"edge": knownvalue.StringExact(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"a/b":"c"},` +
			`"labels":{"tier":"1"},"name":"web","namespace":"shop"},` +
			`"spec":{"paused":true,"replicas":3,` + container(`"args":["-v"],"env":[]`) + `}}`),
		"us": knownvalue.StringExact(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},` +
			`"spec":{"replicas":3,` + container(`"args":["-x"],"env":[{"name":"REGION","value":"us"},{"name":"PORT","value":"8080"}]`) + `}}`),
		"text_with_embedded": knownvalue.StringExact("log:\n  level: debug\n"),
		"by_name_as_label":   knownvalue.StringExact("eu"),
	}))
}

func TestRenderNormalizesTheTemplate(t *testing.T) {
	runFunctions(t, outputs(`
output "secret" {
  value = jsonencode(provider::kubefed::render({
    apiVersion = "v1", kind = "Secret", metadata = { name = "s", uid = "1", annotations = null }
    data       = { u = "b2xk", w = "eA==" }
    stringData = { u = "new", gone = null }
  }, null, "eu", {}))
}
output "no_namespace_is_filled_in" {
  value = jsonencode(provider::kubefed::render("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", [], "eu", {}))
}
`, map[string]knownvalue.Check{
		"secret": knownvalue.StringExact(`{"apiVersion":"v1","data":{"u":"bmV3","w":"eA=="},"kind":"Secret","metadata":{"name":"s"}}`),
		"no_namespace_is_filled_in": knownvalue.StringExact(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`),
	}))
}

func TestRenderOfUnknownIsUnknown(t *testing.T) {
	text := knownvalue.StringExact(`{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"x"}}`)
	runFunctions(t, unknownThen(`
resource "terraform_data" "in" {
  input = "v"
}
locals {
  value = terraform_data.in.output
  plain = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "x" } }
}
output "template" {
  value = jsonencode(provider::kubefed::render(merge(local.plain, { data = { k = local.value } }), [], "eu", {}))
}
output "overrides" {
  value = jsonencode(provider::kubefed::render(local.plain, [{ clusters = ["eu"], merge_patch = "data: {k: ${local.value}}" }], "eu", {}))
}
output "cluster" {
  value = jsonencode(provider::kubefed::render(local.plain, [{ clusters = ["v"], merge_patch = "data: {k: v}" }], local.value, {}))
}
output "labels" {
  value = jsonencode(provider::kubefed::render(local.plain,
    [{ cluster_selector = { match_labels = { l = "v" } }, merge_patch = "data: {k: v}" }], "eu", { l = local.value }))
}
`, map[string]knownvalue.Check{"template": text, "overrides": text, "cluster": text, "labels": text}))
}

func TestRenderRefuses(t *testing.T) {
	const template = `"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}"`
	withOverride := func(entry string) string {
		return `provider::kubefed::render(` + template + `, [{ clusters = [], labels = {} }, ` + entry + `], "eu", {})`
	}
	for name, c := range map[string]struct{ expression, words string }{
		"null template":     {`provider::kubefed::render(null, [], "eu", {})`, `argument must not be null`},
		"null cluster":      {`provider::kubefed::render(` + template + `, [], null, {})`, `argument must not be null`},
		"empty cluster":     {`provider::kubefed::render(` + template + `, [], "", {})`, `Invalid value for "cluster" parameter: the name of a member is needed`},
		"a null label":      {`provider::kubefed::render(` + template + `, [], "eu", { a = null })`, `has an element that is null`},
		"list as template":  {`provider::kubefed::render([], [], "eu", {})`, `Invalid value for "template" parameter: a template is an object, or JSON or YAML text of one manifest, but this is a list`},
		"two documents":     {`provider::kubefed::render("kind: A\n---\nkind: B\n", [], "eu", {})`, `The text holds 2 documents`},
		"no name":           {`provider::kubefed::render({ apiVersion = "v1", kind = "ConfigMap", metadata = {} }, [], "eu", {})`, `metadata.name: The manifest has no metadata.name`},
		"null in a list":    {`provider::kubefed::render({ apiVersion = "v1", kind = "A", metadata = { name = "x" }, l = [null] }, [], "eu", {})`, `The element /l/0 is null`},
		"overrides no list": {`provider::kubefed::render(` + template + `, {}, "eu", {})`, `overrides: This must be a list, but is an object`},
		"unknown attribute": {withOverride(`{ cluster = ["eu"], labels = {} }`), `overrides[1].cluster: There is no attribute "cluster"`},
		"not of resources":  {withOverride(`{ clusters = ["eu"], merge_patch_wo = "data: {k: v}" }`), `overrides[1].merge_patch_wo: There is no attribute "merge_patch_wo"`},
		"no selection":      {withOverride(`{ labels = {} }`), `overrides[1]: Set clusters (names) or cluster_selector`},
		"two selections":    {withOverride(`{ clusters = [], cluster_selector = {}, labels = {} }`), `overrides[1].cluster_selector: clusters and cluster_selector exclude each other`},
		"nothing to change": {withOverride(`{ clusters = ["eu"] }`), `overrides[1]: The entry changes nothing`},
		"wrong operator":    {withOverride(`{ cluster_selector = { match_expressions = [{ key = "a", operator = "in", values = ["b"] }] }, labels = {} }`), `"in" is no operator`},
		"patch as a list":   {withOverride(`{ clusters = ["eu"], json_patch = [{ path = "/a", value = 1 }] }`), `overrides[1].json_patch: A patch is JSON or YAML text, but this is a list: put jsonencode(…) around it`},
		"absent path":       {withOverride(`{ clusters = ["eu"], json_patch = "[{path: /data/k, value: v}]" }`), `Operation 1 of 1 (replace /data/k): /data does not exist`},
		"another identity":  {withOverride(`{ clusters = ["eu"], merge_patch = "metadata: {name: z}" }`), `The override changes the name from "x" to "z"`},
	} {
		t.Run(name, func(t *testing.T) { runFunctions(t, refused(c.expression, c.words)) })
	}
}
