package provider_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// attached serves a provider in this process, and answers what tells Terraform to use it (TF_REATTACH_PROVIDERS). Terraform starts a provider
// five times in one plan, which takes more than all else that it does; this one is not started at all. End stops it.
func attached(t *testing.T) (variable string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	configs, closed, failed := make(chan *plugin.ReattachConfig), make(chan struct{}), make(chan error, 1)
	go func() {
		failed <- tf6server.Serve("kubefed/kubefed", kubefed.NewServer("test"),
			tf6server.WithDebug(ctx, configs, closed), tf6server.WithoutLogStderrOverride(), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	select {
	case config := <-configs:
		return "TF_REATTACH_PROVIDERS=" + reattach(t, config), func() { cancel(); <-closed }
	case err := <-failed:
		cancel()
		t.Fatalf("serve the provider: %v", err)
		return "", nil
	}
}

// reattach is in the form in which Terraform and OpenTofu read it.
func reattach(t *testing.T, config *plugin.ReattachConfig) string {
	t.Helper()
	type address struct{ Network, String string }
	entry := map[string]any{
		"Protocol": config.Protocol, "ProtocolVersion": config.ProtocolVersion, "Pid": os.Getpid(), "Test": true,
		"Addr": address{config.Addr.Network(), config.Addr.String()},
	}
	text, err := json.Marshal(map[string]any{"registry.terraform.io/kubefed/kubefed": entry, "registry.opentofu.org/kubefed/kubefed": entry})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
