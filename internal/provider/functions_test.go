package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	acctest "github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

const requiredProviders = `
terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}
`

// runFunctions runs steps through Terraform with the functions at hand as provider::kubefed. The provider is not configured: functions
// need neither configuration nor cluster.
func runFunctions(t *testing.T, steps ...acctest.TestStep) {
	t.Helper()
	t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "kubefed")
	for i := range steps {
		if steps[i].ConfigDirectory == nil {
			steps[i].Config = requiredProviders + steps[i].Config
		}
	}
	acctest.UnitTest(t, acctest.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.RequireAbove(tfversion.Version1_11_0)},
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"kubefed": func() (tfprotov6.ProviderServer, error) { return kubefed.NewServer("test")(), nil },
		},
		Steps: steps,
	})
}

// outputs checks that applying the configuration gives these outputs.
func outputs(config string, want map[string]knownvalue.Check) acctest.TestStep {
	step := acctest.TestStep{Config: config}
	for name, check := range want {
		step.ConfigStateChecks = append(step.ConfigStateChecks, statecheck.ExpectKnownOutputValue(name, check))
	}
	return step
}

// unknownThen checks that these outputs are unknown in the plan and come out as wanted after apply.
func unknownThen(config string, want map[string]knownvalue.Check) acctest.TestStep {
	step := outputs(config, want)
	for name := range want {
		step.ConfigPlanChecks.PreApply = append(step.ConfigPlanChecks.PreApply, plancheck.ExpectUnknownOutputValue(name))
	}
	return step
}

// refused checks that the expression is an error whose text, whatever its line breaks, contains the words.
func refused(expression, words string) acctest.TestStep {
	return acctest.TestStep{Config: "output \"x\" {\n  value = " + expression + "\n}\n", ExpectError: wrapped(words)}
}

// wrapped matches words however Terraform breaks the lines of a message.
func wrapped(words string) *regexp.Regexp {
	quoted := make([]string, 0, 16)
	for _, word := range strings.Fields(words) {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	return regexp.MustCompile(strings.Join(quoted, `[\s│]+`))
}
