package provider_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// TestMain runs the tests, or, when Terraform starts this binary as a provider (see [terraform.isolate]), serves the provider.
func TestMain(m *testing.M) {
	if os.Getenv("TF_PLUGIN_MAGIC_COOKIE") == "" {
		os.Setenv("TF_ACC", "1") // without it terraform-plugin-testing skips
		for _, log := range []string{"TF_LOG_SDK", "TF_LOG_PROVIDER_KUBEFED"} {
			os.Setenv(log, "off") // an attached provider would say something of every request
		}
		kubetest.Main(m)
		return
	}
	err := tf6server.Serve("registry.terraform.io/kubefed/kubefed", kubefed.NewServer("test"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
