package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
)

func TestManifestsByIDKeysByGroupKindNamespaceName(t *testing.T) {
	runFunctions(t, outputs(`
locals {
  found = provider::kubefed::manifests_by_id([
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}",
    <<-YAML
      apiVersion: v1
      kind: Namespace
      metadata: {name: shop}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: x}
      data: {text: same name, no namespace in the document and none in the key}
      ---
      apiVersion: v1
      kind: List
      items:
        - {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: shop}}
    YAML
    ,
    "# nothing",
  ])
}
output "keys" {
  value = join(" ", keys(local.found))
}
output "version" {
  value = local.found["apps/Deployment/shop/web"].apiVersion
}
output "empty" {
  value = provider::kubefed::manifests_by_id([])
}
output "in_key_order" {
  value = join(" ", [for id, manifest in local.found : manifest.metadata.name])
}
`, map[string]knownvalue.Check{
		"keys":         knownvalue.StringExact("apps/Deployment/shop/web core/ConfigMap/shop/x core/ConfigMap/x core/Namespace/shop"),
		"version":      knownvalue.StringExact("apps/v1"),
		"empty":        knownvalue.ObjectExact(map[string]knownvalue.Check{}),
		"in_key_order": knownvalue.StringExact("web x x shop"),
	}))
}

func TestManifestsByIDOfUnknownIsUnknown(t *testing.T) {
	runFunctions(t, unknownThen(`
resource "terraform_data" "in" {
  input = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"
}
output "x" {
  value = keys(provider::kubefed::manifests_by_id(["# nothing", terraform_data.in.output]))
}
`, map[string]knownvalue.Check{
		"x": knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact("core/Namespace/a")}),
	}))
}

func TestManifestsByIDRefuses(t *testing.T) {
	const a = `"{apiVersion: v1, kind: Namespace, metadata: {name: a}}"`
	for name, c := range map[string]struct{ expression, words string }{
		"null":      {`provider::kubefed::manifests_by_id(null)`, `argument must not be null`},
		"null text": {`provider::kubefed::manifests_by_id([` + a + `, null])`, `text 2 is null; leave it out`},
		"duplicates in two texts": {`provider::kubefed::manifests_by_id([` + a + `, ` + a + `])`,
			`core/Namespace/a is declared twice: in text 1 and in text 2. Remove one (texts and manifests count from 1,`},
		"duplicates whose version differs": {`provider::kubefed::manifests_by_id([<<-YAML
			{apiVersion: demo.test/v1, kind: Gadget, metadata: {name: g}}
			---
			{apiVersion: demo.test/v1beta1, kind: Gadget, metadata: {name: g}}
			YAML
			])`, `demo.test/Gadget/g is declared twice: in manifest 1 of text 1 and in manifest 2 of text 1.`},
		"no name":  {`provider::kubefed::manifests_by_id(["{apiVersion: v1, kind: Namespace, metadata: {}}"])`, `text 1: metadata.name: The manifest has no metadata.name`},
		"not YAML": {`provider::kubefed::manifests_by_id([` + a + `, "kind: A\n\tkey: b"])`, `text 2: Line 2:`},
	} {
		t.Run(name, func(t *testing.T) { runFunctions(t, refused(c.expression, c.words)) })
	}
}
