package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// connectionModel is a connection as it is written in a configuration.
type connectionModel struct {
	ConfigPath        types.String `tfsdk:"config_path"`
	ConfigContext     types.String `tfsdk:"config_context"`
	Host              types.String `tfsdk:"host"`
	CACertificate     types.String `tfsdk:"cluster_ca_certificate"`
	ClientCertificate types.String `tfsdk:"client_certificate"`
	ClientKey         types.String `tfsdk:"client_key"`
	Token             types.String `tfsdk:"token"`
	Insecure          types.Bool   `tfsdk:"insecure"`
	TLSServerName     types.String `tfsdk:"tls_server_name"`
	ProxyURL          types.String `tfsdk:"proxy_url"`
	Exec              types.Object `tfsdk:"exec"`
}

type execModel struct {
	APIVersion types.String `tfsdk:"api_version"`
	Command    types.String `tfsdk:"command"`
	Args       types.List   `tfsdk:"args"`
	Env        types.Map    `tfsdk:"env"`
}

// known reports whether every value of the connection is known.
func (m connectionModel) known(ctx context.Context) bool {
	for _, v := range []attr.Value{
		m.ConfigPath, m.ConfigContext, m.Host, m.CACertificate, m.ClientCertificate, m.ClientKey, m.Token, m.Insecure, m.TLSServerName, m.ProxyURL, m.Exec,
	} {
		if !fullyKnown(ctx, v) {
			return false
		}
	}
	return true
}

// fullyKnown reports whether a value is known with everything in it.
func fullyKnown(ctx context.Context, v attr.Value) bool {
	raw, err := v.ToTerraformValue(ctx)
	return err == nil && raw.IsFullyKnown()
}

// toDomain translates a known connection. A string that is set and empty is an error: it is a variable that nobody filled in.
func (m connectionModel) toDomain(ctx context.Context, at path.Path) (member.Connection, diag.Diagnostics) {
	var diags diag.Diagnostics
	texts := map[string]types.String{
		"config_path": m.ConfigPath, "config_context": m.ConfigContext, "host": m.Host, "cluster_ca_certificate": m.CACertificate,
		"client_certificate": m.ClientCertificate, "client_key": m.ClientKey, "token": m.Token, "tls_server_name": m.TLSServerName, "proxy_url": m.ProxyURL,
	}
	for _, a := range connectionAttributes {
		if text := texts[a.name]; !text.IsNull() && text.ValueString() == "" {
			diags.AddAttributeError(pointable(at.AtName(a.name)), "Empty value", fmt.Sprintf("`%s` is set to an empty string. Leave it out, or give it a value.", at.AtName(a.name)))
		}
	}
	connection := member.Connection{
		ConfigPath: m.ConfigPath.ValueString(), ConfigContext: m.ConfigContext.ValueString(), Host: m.Host.ValueString(),
		CACertificate: m.CACertificate.ValueString(), ClientCertificate: m.ClientCertificate.ValueString(), ClientKey: m.ClientKey.ValueString(),
		Token: m.Token.ValueString(), Insecure: m.Insecure.ValueBool(), TLSServerName: m.TLSServerName.ValueString(), ProxyURL: m.ProxyURL.ValueString(),
	}
	if m.Exec.IsNull() {
		return connection, diags
	}
	var exec execModel
	diags.Append(m.Exec.As(ctx, &exec, objectAsOptions)...)
	connection.Exec = &member.Exec{APIVersion: exec.APIVersion.ValueString(), Command: exec.Command.ValueString()}
	diags.Append(exec.Args.ElementsAs(ctx, &connection.Exec.Args, false)...)
	diags.Append(exec.Env.ElementsAs(ctx, &connection.Exec.Env, false)...)
	return connection, diags
}

// connectionDiagnostic puts what is wrong with a connection at the attribute at fault; who names the cluster. The text names the attribute too:
// Terraform points at the whole connection.
func connectionDiagnostic(at path.Path, who string, err error) diag.Diagnostic {
	var wrong *member.ConnectionError
	if !errors.As(err, &wrong) {
		return diag.NewAttributeErrorDiagnostic(at, "Unable to use the connection of "+who, err.Error())
	}
	if wrong.Default {
		return defaultConnectionDiagnostic(at, wrong)
	}
	if wrong.Attribute != "" {
		at = at.AtName(wrong.Attribute)
	}
	return diag.NewAttributeErrorDiagnostic(pointable(at), wrong.Summary+" for "+who, fmt.Sprintf("`%s`: %s", at, wrong.Detail))
}

// defaultConnectionDiagnostic tells what is wrong with the provider's own `config_path`. In the provider block it is about no single cluster, so
// that all which use it give one and the same diagnostic; a resource cannot point there.
func defaultConnectionDiagnostic(at path.Path, wrong *member.ConnectionError) diag.Diagnostic {
	if !at.Equal(connectionPath) {
		at = path.Root(wrong.Attribute)
	}
	return diag.NewAttributeErrorDiagnostic(at, wrong.Summary, fmt.Sprintf("`%s` of the provider: %s", wrong.Attribute, wrong.Detail))
}
