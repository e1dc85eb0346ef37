package provider

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// ValidateConfig finds what is wrong without any cluster.
func (r *federatedResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	if resp.Diagnostics.Append(nullElements(req.Config.Schema.Type(), req.Config.Raw)...); resp.Diagnostics.HasError() {
		return
	}
	var config federatedModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || config.Placement.IsNull() || config.Template.IsNull() || config.Template.IsUnderlyingValueNull() {
		return // the schema says that they are required
	}
	spec, diags := config.spec(ctx, fleet.Policy{})
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || len(spec.TemplateUnknown) > 0 {
		return
	}
	_, _, err := federation.Identify(spec.Template)
	resp.Diagnostics.Append(inputDiagnostics(federation.Below(err, "template"))...)
}

// ModifyPlan computes what each member will get, and asks the members to be written whether they would take it.
func (r *federatedResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.fleet == nil {
		return
	}
	stored, diags := readPrivate(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	var state *federatedModel
	if req.State.Raw.IsNull() {
		r.fleet.NoteReplaced(stored.record) // Terraform plans the creation in a replacement with what the object to be replaced has stored
		stored = private{}
	} else {
		state = &federatedModel{}
		resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(r.guard(ctx, state, stored)...)
		return
	}
	if state != nil && stored.record == nil {
		resp.Diagnostics.AddError("State is incomplete", "What this provider keeps beside the state is missing: it was killed in the middle of an apply. A plan with refresh finds the objects again by their marks.")
		return
	}
	p := planning{resource: r, state: state, stored: stored}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &p.plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	p.run(ctx)
	resp.Diagnostics.Append(p.diags...)
	if p.replace {
		// Terraform heeds only paths whose value changes: the id always does, the template need not.
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("template"), path.Root("default_namespace"), path.Root("id"))
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &p.plan)...)
	}
}

// guard keeps a protected object from being destroyed with what others have in it.
func (r *federatedResource) guard(ctx context.Context, state *federatedModel, stored private) diag.Diagnostics {
	if stored.record == nil {
		return nil
	}
	target, _, diags := r.stateTarget(ctx, state, stored)
	if diags.HasError() {
		return diags
	}
	return findingDiagnostics(r.fleet.Guard(ctx, target, stored.record))
}

// guardReplacement keeps an object from being replaced where it is protected, or where the deletion could not be finished.
func (r *federatedResource) guardReplacement(ctx context.Context, state *federatedModel, stored private) diag.Diagnostics {
	target, _, diags := r.stateTarget(ctx, state, stored)
	if diags.HasError() {
		return diags
	}
	return findingDiagnostics(append(r.fleet.Guard(ctx, target, stored.record), r.fleet.PreflightReplacement(ctx, target, stored.record)...))
}

// planning is one run of ModifyPlan for a resource that is not being destroyed.
type planning struct {
	resource *federatedResource
	state    *federatedModel // nil: the resource is being created
	stored   private
	plan     federatedModel
	replace  bool
	diags    diag.Diagnostics
}

func (p *planning) run(ctx context.Context) {
	fleets := p.resource.fleet
	spec, diags := p.plan.spec(ctx, fleets.Policy())
	if p.diags.Append(diags...); p.diags.HasError() {
		return
	}
	members := p.stored.record.Members()
	resolution, err := fleets.Resolve(ctx, spec, p.stored.facts, members)
	if err != nil {
		p.diags.Append(registryDiagnostic(ctx, err))
		return
	}
	findings := findingDiagnostics(append(resolution.Findings, fleets.CheckNames(ctx, spec, p.stored.record)...))
	if fleets.Applying(p.stored.record) {
		findings = errorsOnly(findings)
	}
	if p.diags.Append(findings...); p.diags.HasError() {
		return
	}
	fleets.Announce(spec, resolution)
	if p.state != nil && resolution.IDKnown && resolution.ID.String() != p.state.ID.ValueString() {
		if fleets.Applying(p.stored.record) {
			p.diags.Append(checkIdentity(resolution, p.state)...)
			return
		}
		p.planReplacement(ctx, resolution)
		return
	}
	p.planValues(ctx, spec, resolution)
}

// planReplacement marks the resource for replacement; Terraform then plans the creation by itself.
func (p *planning) planReplacement(ctx context.Context, resolution *fleet.Resolution) {
	p.replace = true
	p.diags.Append(p.resource.guardReplacement(ctx, p.state, p.stored)...)
	p.plan.setIdentity(resolution)
	p.plan.setPlaced(resolution, resolution.Versions(nil, nil))
	p.plan.unknownDifferences()
	p.plan.setPendingUnknown()
}

func (p *planning) planValues(ctx context.Context, spec fleet.Spec, resolution *fleet.Resolution) {
	fleets := p.resource.fleet
	target := fleets.NewTarget(resolution.GVK, resolution.ID, spec, p.stored.record)
	applied, diags := p.resource.rendering(ctx, p.state, p.stored)
	p.diags.Append(diags...)
	change, err := resolution.Changes(target, p.stored.record, applied)
	if err != nil {
		p.diags.AddError("Unable to compare with what was applied before", err.Error())
		return
	}
	p.plan.setPlaced(resolution, change.Versions)
	p.planDifferences(spec, resolution, applied, change)
	if p.state == nil {
		p.plan.setIdentity(resolution)
		p.plan.setPendingUnknown()
	} else {
		p.planUpdate(resolution, change)
	}
	if !fleets.Applying(p.stored.record) {
		p.diags.Append(findingDiagnostics(append(fleets.CheckDepartures(resolution, change), p.preflight(ctx, target, resolution, change)...))...)
	}
}

func (p *planning) preflight(ctx context.Context, target *fleet.Target, resolution *fleet.Resolution, change *fleet.Change) []fleet.Finding {
	fleets, creating := p.resource.fleet, p.state == nil
	findings := fleets.Preflight(ctx, target, change.Writes, creating)
	if resolution.Scope == nil && !resolution.IDKnown && resolution.GVK.Kind != "" {
		findings = append(findings, fleets.PreflightKind(ctx, target, resolution.Placed, creating)...)
	}
	findings = append(findings, change.TellOrder()...)
	return append(findings, fleets.PreflightLeaving(ctx, target, p.stored.record, change.Leaving, p.shown())...)
}

// shown are the members whose departure the plan shows by itself; a former run has tried in vain to delete from the others.
func (p *planning) shown() []string {
	if p.state == nil {
		return nil
	}
	return stringsIn(p.state.PlacedClusters)
}

// planUpdate keeps what does not change, so that a plan without anything to do is empty.
func (p *planning) planUpdate(resolution *fleet.Resolution, change *fleet.Change) {
	p.plan.ID, p.plan.Target = p.state.ID, p.state.Target
	if resolution.IDKnown {
		p.plan.setIdentity(resolution)
	}
	later := p.leaveUnreachable(change)
	open := slices.ContainsFunc(resolution.Placed, func(name string) bool { return !resolution.Desired[name].Known })
	writes := len(change.Writes) > 0 || len(change.Waits) > 0 || len(change.Leaving) > 0 || open || !resolution.PlacedKnown
	switch {
	case !writes:
		messages := stringsOf(p.state.Messages)
		maps.DeleteFunc(messages, func(name, _ string) bool { return !slices.Contains(later, name) })
		p.plan.setPending(messages)
	case change.Target.LeavesPending() || !p.showsChange():
		p.plan.setPendingUnknown()
	default:
		p.plan.setPending(nil) // else the update ends in an error, after which the state may say anything
	}
}

// showsChange reports whether Terraform sees a change in what is planned, and so will call for the update.
func (p *planning) showsChange() bool {
	return !p.plan.Versions.Equal(p.state.Versions) || !p.plan.Differences.Equal(p.state.Differences) || len(p.state.pending()) > 0
}

// leaveUnreachable takes out of the change what a former run left pending, nothing is new about, and cannot be done now either.
func (p *planning) leaveUnreachable(change *fleet.Change) (later []string) {
	pending, before := p.state.pending(), stringsOf(p.state.Versions)
	wait := func(w fleet.Write) bool {
		wait := slices.Contains(pending, w.Member) && before[w.Member] == change.Versions[w.Member] && !p.stored.ready(w.Member)
		if wait {
			later = append(later, w.Member)
		}
		return wait
	}
	change.Writes = slices.DeleteFunc(change.Writes, wait)
	change.Waits = slices.DeleteFunc(change.Waits, wait)
	return later
}

func (p *planning) planDifferences(spec fleet.Spec, resolution *fleet.Resolution, applied *fleet.Rendering, change *fleet.Change) {
	prior, template := map[string]map[string]string{}, resolution.Template
	sameTemplate := false
	if p.state != nil && applied != nil {
		prior, template = p.state.differences(), applied.Template()
		sameTemplate = reflect.DeepEqual(template, resolution.Template)
	}
	differences := map[string]map[string]string{}
	for _, name := range resolution.Placed {
		desired := resolution.Desired[name]
		if !desired.Known {
			p.plan.unknownDifferences()
			return
		}
		if sameTemplate && p.stored.record.Holds(name, change.Versions[name]) {
			differences[name] = prior[name] // as it is: Terraform may spell texts otherwise than we
			continue
		}
		computed := federation.Differences(resolution.Template, desired.Tree, spec.Sensitive)
		differences[name] = federation.PlannedDifferences(prior[name], computed, template, change.Target.Marked(desired.Tree), spec.Sensitive)
	}
	p.plan.setDifferences(differences)
	if !resolution.PlacedKnown {
		p.plan.unknownDifferences()
	}
}

// registryDiagnostic: what must be written or deleted cannot be planned while nobody knows who the members are.
func registryDiagnostic(ctx context.Context, err error) diag.Diagnostic {
	if late, ok := fleet.Late(ctx, err); ok {
		return findingDiagnostics([]fleet.Finding{late})[0]
	}
	return diag.NewErrorDiagnostic("Unable to read the members", err.Error()+
		"\n\nNothing can be planned for members that nobody knows. Check `host_cluster`; if this configuration installs the control plane, let this resource depend on it.")
}
