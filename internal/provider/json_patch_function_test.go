package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
)

func TestJSONPatchTakesAPatchAsListAndAsText(t *testing.T) {
	runFunctions(t, outputs(`
locals {
  object = { a = { b = 1, "x/y" = 2 }, l = ["p", "q"], n = null }
}
output "list" {
  value = jsonencode(provider::kubefed::json_patch(local.object, [
    { path = "/a/b", value = 9007199254740993 },
    { op = "add", path = "/l/-", value = { deep = [true, null] } },
    { op = "remove", path = "/a/x~1y" },
    { op = "move", from = "/l/0", path = "/first" },
    { op = "test", path = "/n", value = null },
  ]))
}
output "json" {
  value = jsonencode(provider::kubefed::json_patch(local.object, jsonencode([{ op = "replace", path = "/l", value = [] }])))
}
output "yaml" {
  value = jsonencode(provider::kubefed::json_patch(local.object, "- {op: copy, from: /a/b, path: /c}\n- {op: remove, path: /n}"))
}
output "nothing_to_do" {
  value = provider::kubefed::json_patch(local.object, []) == local.object
}
`, map[string]knownvalue.Check{
		"list":          knownvalue.StringExact(`{"a":{"b":9007199254740993},"first":"p","l":["q",{"deep":[true,null]}],"n":null}`),
		"json":          knownvalue.StringExact(`{"a":{"b":1,"x/y":2},"l":[],"n":null}`),
		"yaml":          knownvalue.StringExact(`{"a":{"b":1,"x/y":2},"c":1,"l":["p","q"]}`),
		"nothing_to_do": knownvalue.Bool(true),
	}))
}

func TestJSONPatchOfUnknownIsUnknown(t *testing.T) {
	want := ofKind("A")
	runFunctions(t, unknownThen(`
resource "terraform_data" "in" {
  input = "A"
}
output "object" {
  value = provider::kubefed::json_patch({ kind = terraform_data.in.output }, [])
}
output "patch" {
  value = provider::kubefed::json_patch({ kind = "B" }, [{ path = "/kind", value = terraform_data.in.output }])
}
`, map[string]knownvalue.Check{"object": want, "patch": want}))
}

func TestJSONPatchRefuses(t *testing.T) {
	for name, c := range map[string]struct{ expression, words string }{
		"null object":     {`provider::kubefed::json_patch(null, [])`, `argument must not be null`},
		"null patch":      {`provider::kubefed::json_patch({}, null)`, `argument must not be null`},
		"text as object":  {`provider::kubefed::json_patch("kind: A", [])`, `an object is needed`},
		"object as patch": {`provider::kubefed::json_patch({}, { path = "/a" })`, `A JSON patch is a list of operations, but this is a map`},
		"missing path": {`provider::kubefed::json_patch({ a = {} }, [{ op = "add", path = "/b", value = 1 }, { op = "remove", path = "/a/c/d" }])`,
			`Invalid value for "patch" parameter: Operation 2 of 2 (remove /a/c/d): /a/c does not exist`},
		"no leading slash": {`provider::kubefed::json_patch({ a = 1 }, [{ path = "a", value = 1 }])`, `Operation 1 of 1`},
		"unknown op":       {`provider::kubefed::json_patch({ a = 1 }, [{ op = "set", path = "/a", value = 1 }])`, `unknown op "set"`},
		"unknown field":    {`provider::kubefed::json_patch({ a = 1 }, [{ path = "/a", values = 1 }])`, `unknown field "values"`},
		"slash in a key": {`provider::kubefed::json_patch({ labels = { "a/b" = 1 } }, [{ path = "/labels/a/b", value = 1 }])`,
			`did you mean /labels/a~1b`},
	} {
		t.Run(name, func(t *testing.T) { runFunctions(t, refused(c.expression, c.words)) })
	}
}
