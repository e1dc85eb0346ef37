package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// What Read leaves in private state for the plan: whether the state comes from an import, and what is broken.
const (
	importedKey = "imported"
	brokenKey   = "broken"
)

func readImported(ctx context.Context, private privateReader) (bool, diag.Diagnostics) {
	value, diags := private.GetKey(ctx, importedKey)
	return string(value) == "true", diags
}

// readBroken says what Read has found broken; "" if nothing.
func readBroken(ctx context.Context, private privateReader) (broken string, diags diag.Diagnostics) {
	value, diags := private.GetKey(ctx, brokenKey)
	if len(value) == 0 {
		return "", diags
	}
	if err := json.Unmarshal(value, &broken); err != nil {
		diags.AddError("Unable to read private state", "What the last refresh found of the cluster: "+err.Error()+".")
	}
	return broken, diags
}

func writeFacts(ctx context.Context, private privateWriter, broken string) diag.Diagnostics {
	var diags diag.Diagnostics
	value, err := json.Marshal(broken)
	if err != nil {
		diags.AddError("Unable to write private state", err.Error()+".")
		return diags
	}
	diags.Append(private.SetKey(ctx, brokenKey, value)...)
	diags.Append(private.SetKey(ctx, importedKey, []byte("false"))...)
	return diags
}

// connectionOf reads the connection from the configuration; null is a connection that leads nowhere.
func connectionOf(ctx context.Context, value types.Object) (member.Connection, diag.Diagnostics) {
	var model connectionModel
	diags := asObject(ctx, value, &model)
	if diags.HasError() || value.IsNull() {
		return member.Connection{}, diags
	}
	connection, more := model.toDomain(ctx, connectionPath)
	diags.Append(more...)
	return connection, diags
}

// change joins the cluster again where its account has to change, and else describes it anew on the host.
func (r *clusterResource) change(ctx context.Context, plan, state, config *clusterModel, broken string) (*registry.Joined, diag.Diagnostics) {
	cluster, diags := plan.toDomain(ctx)
	former, more := state.toDomain(ctx)
	diags.Append(more...)
	connection, more := connectionOf(ctx, config.Connection)
	if diags.Append(more...); diags.HasError() {
		return nil, diags
	}
	again := !plan.Scope.Equal(state.Scope) || !plan.TokenRotation.Equal(state.TokenRotation) || (broken != "" && !config.Connection.IsNull())
	if !again {
		joined, err := r.fleet.Registry().Update(ctx, cluster, former)
		if err != nil {
			diags.Append(joinDiagnostic("update", cluster.Name, err))
		}
		return joined, diags
	}
	joined, err := r.fleet.Registry().Rejoin(ctx, connection, cluster, former)
	if err != nil {
		diags.Append(joinDiagnostic("join", cluster.Name, err))
	}
	return joined, diags
}
