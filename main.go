// Command terraform-provider-kubefed serves the kubefed provider to Terraform and OpenTofu.
package main

import (
	"flag"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// version is set at build time by -ldflags "-X main.version=…".
var version = "dev"

// gcPercent trades memory for time: a provider process lives for seconds, and at Go's default of 100 a fifth of a plan is garbage collection.
const gcPercent = 400

func main() {
	debugger := flag.Bool("debug", false, "run so that a debugger can attach")
	flag.Parse()
	debug.SetGCPercent(gcPercent)
	if err := quietSDK(os.Environ()); err != nil {
		log.Fatal(err)
	}
	var options []tf6server.ServeOpt
	if *debugger {
		options = append(options, tf6server.WithManagedDebug())
	}
	if err := tf6server.Serve("registry.terraform.io/kubefed/kubefed", provider.NewServer(version), options...); err != nil {
		log.Fatal(err)
	}
}

// quietSDK switches the plugin SDK's own logs off unless the user asked for logs: Terraform always requests them at level TRACE, and making
// them, only to be thrown away, takes a third of a plan's time.
func quietSDK(environment []string) error {
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "TF_LOG") && value != "" {
			return nil
		}
	}
	return os.Setenv("TF_LOG_SDK", "off")
}
