package provider_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	acctest "github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// TestAccAResourceLivesThroughTheStepsOfTerraformsTestFramework runs what the framework checks by itself: plans that are empty after each
// step, with and without refresh, and an imported state that is the one that was made.
func TestAccAResourceLivesThroughTheStepsOfTerraformsTestFramework(t *testing.T) {
	t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "kubefed")
	f := newFederation(t, "eu", "us")
	configuration := func(data, change string) string {
		return requiredProviders + f.provider() + resource("template = "+f.configMap(`"settings"`, data), on("eu", "us"),
			`overrides = [{ clusters = ["us"], merge_patch = jsonencode({ data = { b = "`+change+`" } }) }]`)
	}
	difference := tfjsonpath.New("differences").AtMapKey("us").AtMapKey("/data/b")
	acctest.Test(t, acctest.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"kubefed": func() (tfprotov6.ProviderServer, error) { return kubefed.NewServer("test")(), nil },
		},
		Steps: []acctest.TestStep{
			{
				Config: configuration(`{ a = "one" }`, "here"),
				ConfigPlanChecks: acctest.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(x, plancheck.ResourceActionCreate),
					plancheck.ExpectKnownValue(x, difference, knownvalue.StringExact("here")),
					plancheck.ExpectUnknownValue(x, tfjsonpath.New("pending_clusters")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(x, tfjsonpath.New("id"), knownvalue.StringExact("core/ConfigMap/"+f.namespace+"/settings")),
					statecheck.ExpectKnownValue(x, tfjsonpath.New("placed_clusters"), knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("eu"), knownvalue.StringExact("us")})),
					statecheck.ExpectKnownValue(x, tfjsonpath.New("pending_clusters"), knownvalue.SetSizeExact(0)),
					statecheck.ExpectKnownValue(x, tfjsonpath.New("messages"), knownvalue.MapSizeExact(0)),
				},
			},
			{
				ResourceName: x, ImportState: true, ImportStateId: fmt.Sprintf("v1/ConfigMap/%s/settings", f.namespace), ImportStateVerify: true,
			},
			{
				Config: configuration(`{ a = "two" }`, "there"),
				ConfigPlanChecks: acctest.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(x, plancheck.ResourceActionUpdate),
					plancheck.ExpectKnownValue(x, difference, knownvalue.StringExact("there")),
				}},
			},
		},
	})
	f.absent("v1", "ConfigMap", "settings", "eu", "us")
}
