package provider_test

import (
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
)

func TestManifestDecodeReadsYAMLAsKubectlDoes(t *testing.T) {
	runFunctions(t, outputs(`
output "x" {
  value = provider::kubefed::manifest_decode(<<-YAML
    ---
    # a comment is no document
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: x, annotations: null}
    mode: 0400
    large: 9007199254740993
    ratio: 0.1
    'on': yes
    empty: {}
    none: []
    ---
    YAML
  )
}
output "octal_is_what_yamldecode_would_not_give" {
  value = provider::kubefed::manifest_decode("{kind: A, mode: 0644}").mode
}
output "fraction_equals_the_literal" {
  value = provider::kubefed::manifest_decode("ratio: 0.1").ratio == 0.1
}
output "json" {
  value = provider::kubefed::manifest_decode(jsonencode({ kind = "A", list = [1, "a", null, true] }))
}
output "crlf" {
  value = provider::kubefed::manifest_decode("kind: A\r\ndata: {k: v}\r\n---\r\n")
}
output "separator_inside_a_value" {
  value = provider::kubefed::manifest_decode("data:\n  text: |\n    a\n    ---\n    b\n").data.text
}
`, map[string]knownvalue.Check{
		"x": knownvalue.ObjectExact(map[string]knownvalue.Check{
			"apiVersion": knownvalue.StringExact("v1"),
			"kind":       knownvalue.StringExact("ConfigMap"),
			"metadata": knownvalue.ObjectExact(map[string]knownvalue.Check{
				"name": knownvalue.StringExact("x"), "annotations": knownvalue.Null(),
			}),
			"mode":  knownvalue.NumberExact(big.NewFloat(256)),
			"large": knownvalue.NumberExact(new(big.Float).SetInt64(9007199254740993)),
			"ratio": knownvalue.Float64Exact(0.1),
			"on":    knownvalue.Bool(true),
			"empty": knownvalue.ObjectExact(map[string]knownvalue.Check{}),
			"none":  knownvalue.TupleExact([]knownvalue.Check{}),
		}),
		"octal_is_what_yamldecode_would_not_give": knownvalue.Int64Exact(420),
		"fraction_equals_the_literal":             knownvalue.Bool(true),
		"json": knownvalue.ObjectExact(map[string]knownvalue.Check{
			"kind": knownvalue.StringExact("A"),
			"list": knownvalue.TupleExact([]knownvalue.Check{
				knownvalue.Int64Exact(1), knownvalue.StringExact("a"), knownvalue.Null(), knownvalue.Bool(true),
			}),
		}),
		"crlf": knownvalue.ObjectExact(map[string]knownvalue.Check{
			"kind": knownvalue.StringExact("A"),
			"data": knownvalue.ObjectExact(map[string]knownvalue.Check{"k": knownvalue.StringExact("v")}),
		}),
		"separator_inside_a_value": knownvalue.StringExact("a\n---\nb\n"),
	}))
}

func TestManifestDecodeOfUnknownIsUnknown(t *testing.T) {
	runFunctions(t, unknownThen(`
resource "terraform_data" "in" {
  input = "kind: A"
}
output "x" {
  value = provider::kubefed::manifest_decode(terraform_data.in.output)
}
`, map[string]knownvalue.Check{
		"x": knownvalue.ObjectExact(map[string]knownvalue.Check{"kind": knownvalue.StringExact("A")}),
	}))
}

func TestManifestDecodeKeepsSensitiveSensitive(t *testing.T) {
	runFunctions(t, refused(`provider::kubefed::manifest_decode(sensitive("kind: A"))`, "Output refers to sensitive values"))
}

func TestManifestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ expression, words string }{
		"null":          {`provider::kubefed::manifest_decode(null)`, `argument must not be null`},
		"two documents": {`provider::kubefed::manifest_decode("kind: A\n---\nkind: B\n")`, `The text holds 2 documents`},
		"a List":        {`provider::kubefed::manifest_decode("{kind: List, apiVersion: v1, items: []}")`, `a List of 0 objects`},
		"no document":   {`provider::kubefed::manifest_decode("# nothing\n")`, `The text holds no document`},
		"a list":        {`provider::kubefed::manifest_decode("[1]")`, `The document is a list`},
		"not YAML":      {`provider::kubefed::manifest_decode("kind: A\n\tkey: b\n")`, `Line 2:`},
	} {
		t.Run(name, func(t *testing.T) { runFunctions(t, refused(c.expression, c.words)) })
	}
}
