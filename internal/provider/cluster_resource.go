package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

var (
	_ resource.Resource                   = (*clusterResource)(nil)
	_ resource.ResourceWithConfigure      = (*clusterResource)(nil)
	_ resource.ResourceWithValidateConfig = (*clusterResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*clusterResource)(nil)
	_ resource.ResourceWithImportState    = (*clusterResource)(nil)
)

// The limits of a whole operation. Deleting federated objects may take long: finalizers.
const (
	joinTimeout   = 5 * time.Minute
	unjoinTimeout = 15 * time.Minute
)

type clusterResource struct{ fleet *fleet.Fleet }

// NewClusterResource returns kubefed_cluster.
func NewClusterResource() resource.Resource { return &clusterResource{} }

func (r *clusterResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cluster"
}

func (r *clusterResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = clusterSchema()
}

func (r *clusterResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := fleetOf(req.ProviderData, "kubefed_cluster")
	resp.Diagnostics.Append(diags...)
	r.fleet = configured
}

func (r *clusterResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var plan, config clusterModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	cluster, diags := plan.toDomain(ctx)
	resp.Diagnostics.Append(diags...)
	connection, diags := connectionOf(ctx, config.Connection)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	joined, err := r.fleet.Registry().Join(ctx, connection, cluster)
	if err != nil {
		resp.Diagnostics.Append(joinDiagnostic("join", cluster.Name, err))
		return
	}
	plan.setJoined(joined)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *clusterResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state clusterModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	imported, diags := readImported(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	found, err := r.fleet.Registry().ReadCluster(ctx, state.Name.ValueString())
	var unknown *registry.UnknownError
	switch {
	case errors.As(err, &unknown):
		return
	case err != nil:
		resp.Diagnostics.AddWarning("Cluster not readable", fmt.Sprintf("Cluster %q is kept in state as it was last seen: %v.", state.Name.ValueString(), err))
		return
	case found == nil:
		resp.State.RemoveResource(ctx)
		return
	}
	resp.Diagnostics.Append(unseenDiagnostic(found)...)
	resp.Diagnostics.Append(state.setFound(ctx, found, imported)...)
	resp.Diagnostics.Append(writeFacts(ctx, resp.Private, found.Broken)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *clusterResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var plan, state, config clusterModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	broken, diags := readBroken(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	joined, diags := r.change(ctx, &plan, &state, &config, broken)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	plan.setJoined(joined)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(writeFacts(ctx, resp.Private, "")...)
}

func (r *clusterResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	ctx, cancel := context.WithTimeout(ctx, unjoinTimeout)
	defer cancel()
	var state clusterModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	var how onDestroyModel
	if resp.Diagnostics.Append(asObject(ctx, state.OnDestroy, &how)...); resp.Diagnostics.HasError() {
		return
	}
	unjoining := registry.Unjoining{Name: state.Name.ValueString(), Objects: how.Objects.ValueString(), Unreachable: how.Unreachable.ValueString()}
	left, err := r.fleet.Registry().Unjoin(ctx, unjoining)
	if err != nil {
		resp.Diagnostics.Append(unjoinDiagnostic(unjoining.Name, err))
		return
	}
	resp.Diagnostics.Append(leftDiagnostics(unjoining.Name, left)...)
}

func (r *clusterResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if message := invalidClusterName(req.ID); message != "" {
		resp.Diagnostics.AddError("Unable to import the cluster", "The import id is the name of the member. "+message)
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, importedKey, []byte("true"))...)
}
