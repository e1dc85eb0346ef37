package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

var (
	_ datasource.DataSource                   = (*clustersDataSource)(nil)
	_ datasource.DataSourceWithConfigure      = (*clustersDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*clustersDataSource)(nil)
)

type clustersDataSource struct{ fleet *fleet.Fleet }

// NewClustersDataSource returns kubefed_clusters.
func NewClustersDataSource() datasource.DataSource { return &clustersDataSource{} }

func (d *clustersDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_clusters"
}

func (d *clustersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = clustersSchema()
}

func (d *clustersDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	configured, diags := fleetOf(req.ProviderData, "kubefed_clusters")
	resp.Diagnostics.Append(diags...)
	d.fleet = configured
}

// ValidateConfig checks what needs no cluster.
func (d *clustersDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var model clustersModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &model)...); resp.Diagnostics.HasError() || !fullyKnown(ctx, model.ClusterSelector) {
		return
	}
	_, err := model.selection()
	resp.Diagnostics.Append(inputDiagnostics(err)...)
}

func (d *clustersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model clustersModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &model)...); resp.Diagnostics.HasError() {
		return
	}
	selection, err := model.selection()
	if err != nil {
		resp.Diagnostics.Append(inputDiagnostics(err)...)
		return
	}
	reports, err := d.fleet.Registry().Survey(ctx)
	var unknown *registry.UnknownError
	switch {
	case errors.As(err, &unknown):
		resp.Diagnostics.AddError("Members not known yet", err.Error()+". Let the data source have `depends_on` with what it is made from, so that it is read after that.")
		return
	case err != nil:
		resp.Diagnostics.AddError("Unable to read the members", err.Error()+".")
		return
	}
	resp.Diagnostics.Append(model.fill(selection, reports)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}
