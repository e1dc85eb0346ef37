package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestAFaultOfTheProvidersConfigPathIsToldOnceAndWhereItCanBePointedAt(t *testing.T) {
	wrong := &member.ConnectionError{Attribute: "config_path", Summary: "Unreadable kubeconfig", Detail: "x cannot be read.", Default: true}
	var diags diag.Diagnostics
	for _, name := range []string{"eu", "us"} {
		diags.Append(connectionDiagnostic(path.Root("member_clusters").AtMapKey(name), name, wrong))
	}
	diags.Append(connectionDiagnostic(connectionPath, "cluster \"asia\"", wrong))
	const text = "`config_path` of the provider: x cannot be read."
	want := diag.Diagnostics{
		diag.NewAttributeErrorDiagnostic(path.Root("config_path"), "Unreadable kubeconfig", text),
		diag.NewAttributeErrorDiagnostic(connectionPath, "Unreadable kubeconfig", text),
	}
	if !diags.Equal(want) {
		t.Errorf("told is %v, want %v", diags, want)
	}
}
