package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// ValidateConfig checks what needs no cluster.
func (r *clusterResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var config clusterModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &config)...); resp.Diagnostics.HasError() {
		return
	}
	check := func(attribute string, value types.Map, invalid func(key, value string) string) {
		if !fullyKnown(ctx, value) {
			return
		}
		var texts map[string]string
		resp.Diagnostics.Append(value.ElementsAs(ctx, &texts, false)...)
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			if why := invalid(key, texts[key]); why != "" {
				resp.Diagnostics.AddAttributeError(path.Root(attribute).AtMapKey(key), "Invalid "+strings.TrimSuffix(attribute, "s"), fmt.Sprintf("%q = %q: %s.", key, texts[key], why))
			}
		}
	}
	check("labels", config.Labels, registry.InvalidLabel)
	check("annotations", config.Annotations, func(key, _ string) string { return registry.InvalidAnnotation(key) })
}

// ModifyPlan announces the cluster to what is planned after it, and finds out early what its join would fail on. It dials nobody.
func (r *clusterResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || r.fleet == nil {
		return
	}
	var plan, config clusterModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	members := r.fleet.Registry()
	if members.Unknown() == "" && members.Host() == nil {
		resp.Diagnostics.AddError("No host cluster", "A cluster is registered on the host cluster: set `host_cluster` of the provider. Without one, members go into `member_clusters`.")
		return
	}
	r.announce(ctx, &plan, resp)
	if resp.Diagnostics.HasError() {
		return
	}
	var state *clusterModel
	if !req.State.Raw.IsNull() {
		state = &clusterModel{}
		if resp.Diagnostics.Append(req.State.Get(ctx, state)...); resp.Diagnostics.HasError() {
			return
		}
	}
	broken, diags := readBroken(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	r.planJoin(ctx, &plan, state, &config, broken, resp)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
}

func (r *clusterResource) announce(ctx context.Context, plan *clusterModel, resp *resource.ModifyPlanResponse) {
	if plan.Name.IsUnknown() {
		return
	}
	announcement, diags := plan.announcement(ctx)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	err := r.fleet.Registry().Announce(announcement)
	var order *registry.OrderError
	if errors.As(err, &order) {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Cluster planned too late", fmt.Sprintf("Cluster %q changes where %s goes, which was planned before it. Let what is placed on the cluster refer to it "+
			"(`kubefed_cluster.….name`) or, with a selector, have `depends_on` with every kubefed_cluster of the configuration.", order.Cluster, strings.Join(order.Placements, ", ")))
	} else if err != nil {
		resp.Diagnostics.AddError("Unable to announce the cluster", err.Error()+".")
	}
}

// planJoin decides whether the cluster is joined, joined again, or only described anew on the host.
func (r *clusterResource) planJoin(ctx context.Context, plan, state, config *clusterModel, broken string, resp *resource.ModifyPlanResponse) {
	if state == nil {
		r.checkConnection(ctx, config, "to join the cluster", resp)
		return
	}
	if config.APIEndpoint.IsNull() {
		plan.APIEndpoint = state.APIEndpoint
	}
	scoped, rotated := !plan.Scope.Equal(state.Scope), !plan.TokenRotation.Equal(state.TokenRotation)
	switch {
	case scoped:
		r.fleet.Registry().AnnounceRights(plan.Name.ValueString())
		r.checkConnection(ctx, config, "to change `scope`", resp)
		plan.ClusterUID = types.StringUnknown() // of another namespace, maybe
	case rotated:
		r.checkConnection(ctx, config, "to change `token_rotation`", resp)
	case broken == "":
	case config.Connection.IsNull():
		resp.Diagnostics.AddAttributeWarning(path.Root("cluster_connection"), "Membership damaged", fmt.Sprintf("Cluster %q: %s. Set `cluster_connection`, and the next apply joins it again.", plan.Name.ValueString(), broken))
	default:
		r.checkConnection(ctx, config, "to join the cluster again", resp)
		plan.ServiceAccount = types.StringUnknown()
		resp.Diagnostics.AddWarning("Membership damaged", fmt.Sprintf("Cluster %q: %s. It will be joined again.", plan.Name.ValueString(), broken))
	}
}

// checkConnection asks for the connection, and checks it as far as it is known. A kubeconfig that is not there yet may be made by this run.
func (r *clusterResource) checkConnection(ctx context.Context, config *clusterModel, what string, resp *resource.ModifyPlanResponse) {
	at := path.Root("cluster_connection")
	if config.Connection.IsNull() {
		resp.Diagnostics.AddAttributeError(at, "Missing connection", "`cluster_connection` is needed "+what+".")
		return
	}
	if !fullyKnown(ctx, config.Connection) || r.fleet.Registry().Unknown() != "" {
		return
	}
	connection, diags := connectionOf(ctx, config.Connection)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	err := r.fleet.Registry().CheckConnection(connection)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		resp.Diagnostics.AddAttributeWarning(at.AtName("config_path"), "Kubeconfig not there yet", fmt.Sprintf("%v It is read when the cluster is joined.", err))
	case err != nil:
		resp.Diagnostics.Append(connectionDiagnostic(at, fmt.Sprintf("cluster %q", config.Name.ValueString()), err))
	}
}
