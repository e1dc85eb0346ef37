package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan announces the control plane, so that a host without its kinds counts as one without members, and plans what is missing of it.
func (r *controlPlaneResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || r.fleet == nil {
		return
	}
	members := r.fleet.Registry()
	members.AnnounceControlPlane()
	if members.Unknown() != "" {
		return
	}
	if members.Host() == nil {
		resp.Diagnostics.AddError("No host cluster", "A control plane is installed on the host cluster: set `host_cluster` of the provider.")
		return
	}
	plan := controlPlaneModel{Namespace: types.StringValue(members.Namespace()), CRDs: types.MapUnknown(types.StringType)}
	if !req.State.Raw.IsNull() {
		var state controlPlaneModel
		if resp.Diagnostics.Append(req.State.Get(ctx, &state)...); resp.Diagnostics.HasError() {
			return
		}
		if state.elsewhere(members) {
			resp.RequiresReplace = append(resp.RequiresReplace, path.Root("namespace"))
		} else if state.complete() {
			plan.CRDs = state.CRDs
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}
