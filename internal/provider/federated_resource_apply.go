package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// application is what a Create or an Update carries out.
type application struct {
	spec       fleet.Spec
	resolution *fleet.Resolution
	change     *fleet.Change
	record     *fleet.Record
	facts      *fleet.Facts
}

func (r *federatedResource) newApplication(ctx context.Context, spec fleet.Spec, resolution *fleet.Resolution, state *federatedModel, stored private) (*application, diag.Diagnostics) {
	a := &application{spec: spec, resolution: resolution, record: stored.record, facts: stored.facts}
	var diags diag.Diagnostics
	if a.record == nil {
		var err error
		if a.record, err = fleet.NewRecord(); err != nil {
			diags.AddError("Unable to create "+resolution.ID.String(), err.Error())
			return nil, diags
		}
	}
	applied, diags := r.rendering(ctx, state, stored)
	if diags.HasError() {
		return nil, diags
	}
	var err error
	target := r.fleet.NewTarget(resolution.GVK, resolution.ID, spec, a.record)
	if a.change, err = resolution.Changes(target, a.record, applied); err != nil {
		diags.AddError("Unable to compare with what was applied before", err.Error())
	}
	return a, diags
}

// checkIdentity makes sure, before anything is written, that all is known now, and that it is still the same object.
func checkIdentity(r *fleet.Resolution, state *federatedModel) diag.Diagnostics {
	var diags diag.Diagnostics
	at := path.Root("template")
	switch {
	case !r.IDKnown && r.Scope == nil && r.GVK.Kind != "":
		diags.AddAttributeError(at, "Kind is not served", fmt.Sprintf("No member of the placement says whether %s %s lives in a namespace: none that answers serves it.\n\n"+
			"Correct apiVersion and kind, install the API there first, or name a namespace in the template.", r.GVK.GroupVersion(), r.GVK.Kind))
	case !r.IDKnown:
		diags.AddAttributeError(at, "Unknown identity", "Group, kind, namespace and name of the object are not known at apply either.")
	case state != nil && r.ID.String() != state.ID.ValueString():
		diags.AddAttributeError(at, "Identity has changed", fmt.Sprintf("The plan could not know it yet: the template now is about %s, and this resource manages %s. Nothing was written.\n\n"+
			"Plan again, with refresh: now that the value is known, the plan shows the replacement.", r.ID, state.ID.ValueString()))
	}
	return diags
}

// finish completes the new state from the outcome. What was planned comes back as planned, also for members that failed with a warning:
// pending_clusters tells them. After an error the state says what each member really holds.
func (a *application) finish(model *federatedModel, outcome *fleet.Outcome) {
	versions := a.change.Versions
	if outcome.Failed() {
		versions = actualVersions(versions, outcome.Record)
	}
	model.setIdentity(a.resolution)
	model.setPlaced(a.resolution, versions)
	if model.Differences.IsUnknown() {
		differences := map[string]map[string]string{}
		for name, d := range a.resolution.Desired {
			differences[name] = federation.Differences(a.resolution.Template, d.Tree, a.spec.Sensitive)
		}
		model.setDifferences(differences)
	}
	if model.PendingClusters.IsUnknown() || outcome.Failed() {
		model.setPending(outcome.Pending)
	}
}

// actualVersions are those of what the members hold. A write that went out and was not answered has none: nobody knows whether it arrived.
func actualVersions(wanted map[string]string, record *fleet.Record) map[string]string {
	versions := map[string]string{}
	for name := range wanted {
		if c := record.Copies[name]; c != nil && c.Version != "" {
			versions[name] = c.Version
		}
	}
	return versions
}

// private is the new private state.
func (a *application) private(ctx context.Context, fleets *fleet.Fleet, outcome *fleet.Outcome) private {
	pending := make([]string, 0, len(outcome.Pending))
	for name := range outcome.Pending {
		pending = append(pending, name)
	}
	r := a.resolution
	facts, err := fleets.GatherFacts(ctx, a.spec, r.GVK, r.ID.Namespace, r.Placed, pending, a.facts)
	if err != nil {
		facts = a.facts
	}
	return private{outcome.Record, facts}
}
