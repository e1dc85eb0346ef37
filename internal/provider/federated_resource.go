package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

var (
	_ resource.Resource                   = (*federatedResource)(nil)
	_ resource.ResourceWithConfigure      = (*federatedResource)(nil)
	_ resource.ResourceWithImportState    = (*federatedResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*federatedResource)(nil)
	_ resource.ResourceWithValidateConfig = (*federatedResource)(nil)
)

// defaultTimeout bounds a whole operation.
const defaultTimeout = 30 * time.Minute

type federatedResource struct{ fleet *fleet.Fleet }

// NewFederatedResource returns kubefed_federated_resource.
func NewFederatedResource() resource.Resource { return &federatedResource{} }

func (r *federatedResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_federated_resource"
}

func (r *federatedResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = federatedSchema(ctx)
}

func (r *federatedResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	if req.ProviderData == nil {
		return
	}
	configured, ok := req.ProviderData.(*fleet.Fleet)
	if !ok {
		resp.Diagnostics.AddError("Unable to configure kubefed_federated_resource", fmt.Sprintf("unexpected provider data %T; this is a bug in the provider.", req.ProviderData))
		return
	}
	r.fleet = configured
}

func (r *federatedResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan federatedModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, defaultTimeout)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := fleet.WithLimit(ctx, "timeouts.create", timeout)
	defer cancel()
	a, diags := r.prepare(ctx, &plan, nil, private{})
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	outcome := r.fleet.Create(ctx, a.change, a.record)
	resp.Diagnostics.Append(findingDiagnostics(outcome.Findings)...)
	if outcome.Undone {
		return
	}
	a.finish(&plan, outcome)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(a.private(ctx, r.fleet, outcome).write(ctx, resp.Private)...)
}

func (r *federatedResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state federatedModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	stored, diags := readPrivate(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	lost := stored.record == nil && len(state.PlacedClusters.Elements()) > 0
	if resp.Diagnostics.Append(r.recover(ctx, &state, &stored)...); resp.Diagnostics.HasError() {
		return
	}
	if lost && len(stored.record.Copies) == 0 {
		resp.State.RemoveResource(ctx)
		return
	}
	there, diags := r.refresh(ctx, &state, &stored)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	if !there {
		resp.State.RemoveResource(ctx)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(stored.write(ctx, resp.Private)...)
}

func (r *federatedResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state federatedModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	stored, diags := readPrivate(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	timeout, diags := plan.Timeouts.Update(ctx, defaultTimeout)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := fleet.WithLimit(ctx, "timeouts.update", timeout)
	defer cancel()
	a, diags := r.prepare(ctx, &plan, &state, stored)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	outcome := r.fleet.Update(ctx, a.change, a.record)
	resp.Diagnostics.Append(findingDiagnostics(outcome.Findings)...)
	a.finish(&plan, outcome)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(a.private(ctx, r.fleet, outcome).write(ctx, resp.Private)...)
}

func (r *federatedResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state federatedModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	stored, diags := readPrivate(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	timeout, diags := state.Timeouts.Delete(ctx, defaultTimeout)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := fleet.WithLimit(ctx, "timeouts.delete", timeout)
	defer cancel()
	if resp.Diagnostics.Append(r.recover(ctx, &state, &stored)...); resp.Diagnostics.HasError() {
		return
	}
	target, _, diags := r.stateTarget(ctx, &state, stored)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	outcome := r.fleet.Delete(ctx, target, stored.record)
	resp.Diagnostics.Append(findingDiagnostics(outcome.Findings)...)
	if !outcome.Failed() {
		return
	}
	state.keepOnly(outcome.Record)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(private{outcome.Record, stored.facts}.write(ctx, resp.Private)...)
}

func (r *federatedResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	state, stored, diags := r.importState(ctx, req.ID)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(stored.write(ctx, resp.Private)...)
}

// prepare computes again, from the planned configuration, what the plan has shown.
func (r *federatedResource) prepare(ctx context.Context, plan, state *federatedModel, stored private) (*application, diag.Diagnostics) {
	spec, diags := plan.spec(ctx, r.fleet.Policy())
	if diags.HasError() {
		return nil, diags
	}
	r.fleet.NoteApplying()
	resolution, err := r.fleet.Resolve(ctx, spec, stored.facts, stored.record.Members())
	if err != nil {
		diags.Append(registryDiagnostic(ctx, err))
		return nil, diags
	}
	diags.Append(errorsOnly(findingDiagnostics(append(resolution.Findings, r.fleet.CheckNames(ctx, spec, stored.record)...)))...)
	if !diags.HasError() {
		diags.Append(checkIdentity(resolution, state)...)
	}
	if diags.HasError() {
		return nil, diags
	}
	return r.newApplication(ctx, spec, resolution, state, stored)
}
