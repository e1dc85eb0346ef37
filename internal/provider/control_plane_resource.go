package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

var (
	_ resource.Resource                = (*controlPlaneResource)(nil)
	_ resource.ResourceWithConfigure   = (*controlPlaneResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*controlPlaneResource)(nil)
	_ resource.ResourceWithImportState = (*controlPlaneResource)(nil)
)

// controlPlaneTimeout bounds the installation and the removal of a control plane.
const controlPlaneTimeout = 5 * time.Minute

type controlPlaneResource struct{ fleet *fleet.Fleet }

// NewControlPlaneResource returns kubefed_control_plane.
func NewControlPlaneResource() resource.Resource { return &controlPlaneResource{} }

func (r *controlPlaneResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_control_plane"
}

func (r *controlPlaneResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = controlPlaneSchema()
}

func (r *controlPlaneResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := fleetOf(req.ProviderData, "kubefed_control_plane")
	resp.Diagnostics.Append(diags...)
	r.fleet = configured
}

func (r *controlPlaneResource) Create(ctx context.Context, _ resource.CreateRequest, resp *resource.CreateResponse) {
	model, diags := r.install(ctx)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

func (r *controlPlaneResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state controlPlaneModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &state)...); resp.Diagnostics.HasError() {
		return
	}
	if r.fleet.Registry().Unknown() != "" || state.elsewhere(r.fleet.Registry()) {
		return
	}
	plane, err := r.fleet.Registry().ReadControlPlane(ctx)
	var unreadable *registry.UnreadableError
	switch {
	case errors.As(err, &unreadable):
		resp.Diagnostics.AddWarning("Host cluster not readable", fmt.Sprintf("The control plane is kept in state as it was last seen: %v.", err))
		return
	case err != nil:
		resp.Diagnostics.AddError("Unable to read the control plane", err.Error()+".")
		return
	case plane == nil:
		resp.State.RemoveResource(ctx)
		return
	}
	model, diags := controlPlaneModelOf(ctx, plane)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

func (r *controlPlaneResource) Update(ctx context.Context, _ resource.UpdateRequest, resp *resource.UpdateResponse) {
	model, diags := r.install(ctx)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

func (r *controlPlaneResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state controlPlaneModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &state)...); resp.Diagnostics.HasError() {
		return
	}
	namespace := state.Namespace.ValueString()
	if namespace == "" { // it was gone when last seen
		namespace = r.fleet.Registry().Namespace()
	}
	ctx, cancel := context.WithTimeout(ctx, controlPlaneTimeout)
	defer cancel()
	left, err := r.fleet.Registry().RemoveControlPlane(ctx, namespace)
	var used *registry.InUseError
	switch {
	case errors.As(err, &used):
		resp.Diagnostics.AddError("Control plane in use", fmt.Sprintf("The host still keeps %s. They would be lost with it. Unjoin the members first: "+
			"let each kubefed_cluster depend on the control plane, so that Terraform destroys it before.", strings.Join(used.Objects, ", ")))
	case err != nil:
		resp.Diagnostics.AddError("Unable to remove the control plane", err.Error()+".")
	case len(left) > 0:
		resp.Diagnostics.AddWarning("Namespace left behind", fmt.Sprintf("Namespace %s of the host stays, because it holds what the control plane did not make: %s.",
			namespace, strings.Join(left, ", ")))
	}
}

func (r *controlPlaneResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if want := r.fleet.Registry().Namespace(); req.ID != want {
		resp.Diagnostics.AddError("Unable to import the control plane", fmt.Sprintf("The import id is the namespace of the registry. It is %q, but `namespace` of the provider is %q.", req.ID, want))
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("namespace"), req, resp)
}
