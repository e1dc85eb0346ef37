package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
)

func TestManifestEncodeWritesWhatManifestDecodeReadsBack(t *testing.T) {
	runFunctions(t, outputs(`
locals {
  object = {
    kind   = "ConfigMap"
    data   = { mode = "0400", answer = "yes", version = "1.10", text = "a\n---\nb\n" }
    number = [9007199254740993, 0.1, 30.0, -1]
    empty  = { map = {}, list = [], none = null, no = false }
  }
}
output "text" {
  value = provider::kubefed::manifest_encode({ b = { "0400" = "0400" }, a = [9007199254740993, "yes", null, {}, []] })
}
output "same" {
  value = provider::kubefed::manifest_decode(provider::kubefed::manifest_encode(local.object)) == local.object
}
output "map" {
  value = provider::kubefed::manifest_encode(tomap({ a = "x" }))
}
`, map[string]knownvalue.Check{
		"text": knownvalue.StringExact("a:\n- 9007199254740993\n- \"yes\"\n- null\n- {}\n- []\nb:\n  \"0400\": \"0400\"\n"),
		"same": knownvalue.Bool(true),
		"map":  knownvalue.StringExact("a: x\n"),
	}))
}

func TestManifestEncodeOfUnknownIsUnknown(t *testing.T) {
	runFunctions(t, unknownThen(`
resource "terraform_data" "in" {
  input = "A"
}
output "x" {
  value = provider::kubefed::manifest_encode({ kind = terraform_data.in.output })
}
`, map[string]knownvalue.Check{"x": knownvalue.StringExact("kind: A\n")}))
}

func TestManifestEncodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ expression, words string }{
		"null":                 {`provider::kubefed::manifest_encode(null)`, `argument must not be null`},
		"text":                 {`provider::kubefed::manifest_encode("kind: A")`, `an object is needed`},
		"a list":               {`provider::kubefed::manifest_encode([{ kind = "A" }])`, `an object is needed`},
		"a number that breaks": {`provider::kubefed::manifest_encode({ a = { "b/c" = 1 / 3 } })`, `/a/b~1c: number 0.3333`},
	} {
		t.Run(name, func(t *testing.T) { runFunctions(t, refused(c.expression, c.words)) })
	}
}
