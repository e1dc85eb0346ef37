package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
)

// ofKind checks an object that holds nothing but a kind.
func ofKind(kind string) knownvalue.Check {
	return knownvalue.ObjectExact(map[string]knownvalue.Check{"kind": knownvalue.StringExact(kind)})
}

func TestManifestDecodeMultiGivesEveryDocumentInOrder(t *testing.T) {
	runFunctions(t, outputs(`
output "documents" {
  value = provider::kubefed::manifest_decode_multi("# comment\n---\nkind: B\n---\n---\nkind: A\r\n---\n")
}
output "list_unfolded" {
  value = provider::kubefed::manifest_decode_multi("kind: First\n---\n{kind: List, apiVersion: v1, items: [{kind: A}, {kind: B}]}\n")
}
output "one" {
  value = provider::kubefed::manifest_decode_multi(jsonencode({ kind = "A" }))
}
output "none" {
  value = provider::kubefed::manifest_decode_multi("")
}
`, map[string]knownvalue.Check{
		"documents":     knownvalue.TupleExact([]knownvalue.Check{ofKind("B"), ofKind("A")}),
		"list_unfolded": knownvalue.TupleExact([]knownvalue.Check{ofKind("First"), ofKind("A"), ofKind("B")}),
		"one":           knownvalue.TupleExact([]knownvalue.Check{ofKind("A")}),
		"none":          knownvalue.TupleExact([]knownvalue.Check{}),
	}))
}

func TestManifestDecodeMultiOfUnknownIsUnknown(t *testing.T) {
	runFunctions(t, unknownThen(`
resource "terraform_data" "in" {
  input = "kind: A"
}
output "x" {
  value = provider::kubefed::manifest_decode_multi("kind: B\n---\n${terraform_data.in.output}")
}
`, map[string]knownvalue.Check{"x": knownvalue.TupleExact([]knownvalue.Check{ofKind("B"), ofKind("A")})}))
}

func TestManifestDecodeMultiRefuses(t *testing.T) {
	for name, c := range map[string]struct{ expression, words string }{
		"null":             {`provider::kubefed::manifest_decode_multi(null)`, `argument must not be null`},
		"a list between":   {`provider::kubefed::manifest_decode_multi("kind: A\n---\n- 1\n")`, `Document 2: The document is a list`},
		"not YAML":         {`provider::kubefed::manifest_decode_multi("kind: A\n---\nkind: B\n\tkey: c\n")`, `Line 4:`},
		"no object inside": {`provider::kubefed::manifest_decode_multi("{kind: List, items: [1]}")`, `Item 1 of the List is a number`},
	} {
		t.Run(name, func(t *testing.T) { runFunctions(t, refused(c.expression, c.words)) })
	}
}
