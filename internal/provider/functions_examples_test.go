package provider_test

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-testing/config"
	acctest "github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// exampleOutputs are an output of each function's example and what the example says it is.
var exampleOutputs = map[string]statecheck.StateCheck{
	"manifest_decode": statecheck.ExpectKnownOutputValue("file_mode", knownvalue.Int64Exact(256)),
	"manifest_decode_multi": statecheck.ExpectKnownOutputValue("kinds", knownvalue.TupleExact([]knownvalue.Check{
		knownvalue.StringExact("Namespace"), knownvalue.StringExact("ServiceAccount"), knownvalue.StringExact("ConfigMap"),
	})),
	"manifests_by_id": statecheck.ExpectKnownOutputValue("ids", knownvalue.TupleExact([]knownvalue.Check{
		knownvalue.StringExact("core/ConfigMap/shop/web"), knownvalue.StringExact("core/Namespace/shop"),
		knownvalue.StringExact("core/Service/shop/web"),
	})),
	"manifest_encode": statecheck.ExpectKnownOutputValue("yaml", knownvalue.StringExact("apiVersion: v1\ndata:\n  answer: \"yes\"\n"+
		"  mode: \"0400\"\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\n")),
	"render": statecheck.ExpectKnownOutputValue("eu", knownvalue.ObjectPartial(map[string]knownvalue.Check{
		"data": knownvalue.ObjectExact(map[string]knownvalue.Check{
			"level": knownvalue.StringExact("debug"), "region": knownvalue.StringExact("eu-central-1"),
		}),
	})),
	"json_patch": statecheck.ExpectKnownOutputValue("patched", knownvalue.ObjectPartial(map[string]knownvalue.Check{
		"metadata": knownvalue.ObjectExact(map[string]knownvalue.Check{
			"name": knownvalue.StringExact("web"), "labels": knownvalue.ObjectExact(map[string]knownvalue.Check{}),
		}),
	})),
}

// providerFunctions are the constructors of the functions that the provider serves.
func providerFunctions(t *testing.T) []func() function.Function {
	t.Helper()
	served, ok := kubefed.New("test")().(provider.ProviderWithFunctions)
	if !ok {
		t.Fatal("the provider serves no functions")
	}
	return served.Functions(t.Context())
}

func TestEveryFunctionHasAnExampleThatDoesWhatItSays(t *testing.T) {
	for _, construct := range providerFunctions(t) {
		var metadata function.MetadataResponse
		construct().Metadata(t.Context(), function.MetadataRequest{}, &metadata)
		t.Run(metadata.Name, func(t *testing.T) {
			check, there := exampleOutputs[metadata.Name]
			if !there {
				t.Fatal("the table of this test does not say what the example gives")
			}
			folder := filepath.Join("..", "..", "examples", "functions", metadata.Name)
			runFunctions(t, acctest.TestStep{
				ConfigDirectory:   config.StaticDirectory(folder),
				ConfigStateChecks: []statecheck.StateCheck{check},
			})
		})
	}
}

func TestEveryFunctionAndParameterIsDescribed(t *testing.T) {
	for _, construct := range providerFunctions(t) {
		var definition function.DefinitionResponse
		construct().Definition(t.Context(), function.DefinitionRequest{}, &definition)
		if definition.Definition.Summary == "" || definition.Definition.MarkdownDescription == "" {
			t.Errorf("%T lacks a summary or a description", construct())
		}
		for _, parameter := range definition.Definition.Parameters {
			if parameter.GetName() == "" || parameter.GetMarkdownDescription() == "" {
				t.Errorf("%T: parameter %q lacks a name or a description", construct(), parameter.GetName())
			}
		}
	}
}
