// Package provider is the skin that Terraform sees: schemas, models, plan logic, CRUD, functions and data sources. It translates between
// Terraform and the packages below it, and decides nothing about clusters itself.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

var (
	_ provider.Provider                   = (*kubefedProvider)(nil)
	_ provider.ProviderWithFunctions      = (*kubefedProvider)(nil)
	_ provider.ProviderWithValidateConfig = (*kubefedProvider)(nil)
)

// kubefedProvider has no memory: what a configured provider remembers is in the fleet that Configure makes.
type kubefedProvider struct{ version string }

// New returns what serves the provider; version is that of the build.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &kubefedProvider{version: version} }
}

func (p *kubefedProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "kubefed", p.version
}

func (p *kubefedProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerSchema()
}

func (p *kubefedProvider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if model.HostCluster.IsNull() && model.MemberClusters.IsNull() {
		resp.Diagnostics.AddError("No clusters",
			"Set `host_cluster` (the cluster that keeps the registry of members), or `member_clusters`, or both. No connection is taken from elsewhere, such as $KUBECONFIG.")
	}
}

// Configure makes the fleet. It dials nobody.
func (p *kubefedProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	options, maxParallel, diags := model.clientOptions(ctx, p.version)
	resp.Diagnostics.Append(diags...)
	config, diags := model.registry(ctx)
	resp.Diagnostics.Append(diags...)
	policy, diags := policyOf(ctx, model.Policy)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	config.Options, config.Owner = options, model.Owner.ValueString()
	members, err := registry.New(config)
	if err != nil {
		resp.Diagnostics.Append(connectionDiagnostic(path.Root("host_cluster"), "the host cluster", err))
		return
	}
	fed := fleet.New(fleet.Config{Registry: members, Owner: config.Owner, MaxParallel: maxParallel, Policy: policy})
	resp.ResourceData, resp.DataSourceData = fed, fed
}

func (p *kubefedProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		NewControlPlaneResource,
		NewClusterResource,
		NewFederatedResource,
	}
}

func (p *kubefedProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		NewClustersDataSource,
	}
}

func (p *kubefedProvider) Functions(context.Context) []func() function.Function {
	return functions
}
