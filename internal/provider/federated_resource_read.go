package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// stateTarget is the object as the state has it.
func (r *federatedResource) stateTarget(ctx context.Context, state *federatedModel, stored private) (*fleet.Target, fleet.Spec, diag.Diagnostics) {
	spec, diags := state.spec(ctx, r.fleet.Policy())
	if diags.HasError() {
		return nil, spec, diags
	}
	apiVersion, id, err := federation.Identify(spec.Template)
	if err != nil {
		diags.Append(inputDiagnostics(federation.Below(err, "template"))...)
		return nil, spec, diags
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		diags.AddError("Unable to read the state", err.Error())
		return nil, spec, diags
	}
	id.Namespace = namespaceIn(state.ID.ValueString(), id)
	return r.fleet.NewTarget(gv.WithKind(id.Kind), id, spec, stored.record), spec, diags
}

// namespaceIn takes the namespace from an id: the template may name none.
func namespaceIn(stateID string, id federation.ID) string {
	parts := strings.Split(stateID, "/")
	if len(parts) == 4 {
		return parts[2]
	}
	return id.Namespace
}

// rendering renders again what was applied last; nil for a resource that is being created.
func (r *federatedResource) rendering(ctx context.Context, state *federatedModel, stored private) (*fleet.Rendering, diag.Diagnostics) {
	if state == nil || stored.record == nil {
		return nil, nil
	}
	spec, diags := state.spec(ctx, r.fleet.Policy())
	if diags.HasError() {
		return nil, diags
	}
	rendering, err := fleet.NewRendering(spec, stored.scope())
	if err != nil {
		diags.AddError("Unable to read the state", err.Error())
	}
	return rendering, diags
}

func (p private) scope() *fleet.Scope {
	if p.facts == nil {
		return nil
	}
	return p.facts.Scope
}

// recover makes the private state anew where it is lost.
func (r *federatedResource) recover(ctx context.Context, state *federatedModel, stored *private) diag.Diagnostics {
	if stored.record != nil {
		return nil
	}
	target, spec, diags := r.stateTarget(ctx, state, *stored)
	if diags.HasError() {
		return diags
	}
	placed, pending := stringsIn(state.PlacedClusters), state.pending()
	record, findings, err := r.fleet.Recover(ctx, fleet.Lost{Target: target, State: spec, Placed: placed, Pending: pending})
	what := "What this provider keeps beside the state of " + target.ID.String() + " %s missing: it was killed in the middle of an apply. "
	if err != nil {
		diags.AddError("State is incomplete", fmt.Sprintf(what, "is")+err.Error()+".\n\nSee to it that they can be read, and run again.")
		return diags
	}
	stored.record = record
	result := "Its objects were found again by their marks; the next apply writes them all."
	switch {
	case len(record.Copies) == 0 && len(placed) > 0:
		result = "None of its objects is there any more."
	case len(record.Unasked) > 0:
		result += " If that apply has written it to a member that does not answer now, it is found once the member is back: " + strings.Join(record.Unasked, ", ") + "."
	}
	diags.AddWarning("State was incomplete", fmt.Sprintf(what, "was")+result)
	diags.Append(findingDiagnostics(findings)...)
	return diags
}

// refresh brings the state up to what the members hold. there is false when the object is gone from every member.
func (r *federatedResource) refresh(ctx context.Context, state *federatedModel, stored *private) (there bool, diags diag.Diagnostics) {
	target, spec, diags := r.stateTarget(ctx, state, *stored)
	if diags.HasError() {
		return true, diags
	}
	applied, found := r.rendering(ctx, state, *stored)
	if diags.Append(found...); diags.HasError() {
		return true, diags
	}
	had := stored.record.Members()
	observations := r.fleet.Refresh(ctx, target, stored.record, applied)
	state.observe(spec, target, stored.record, applied, observations)
	diags.Append(findingDiagnostics(observed(target, observations))...)
	if r.fleet.ClaimedTwice(stored.record) {
		diags.AddError("Object is declared twice", target.ID.String()+" is in the state of this resource, and another resource of this configuration is about to create it.\n\n"+
			"Remove one of the two resources, or give them different names.")
	}
	placed := stringsIn(state.PlacedClusters)
	facts, err := r.fleet.GatherFacts(ctx, spec, target.GVK, target.ID.Namespace, placed, state.pending(), stored.facts)
	if err != nil {
		diags.AddWarning("Unable to read the members", err.Error()+"\n\nThe last known members are used.")
	}
	stored.facts = facts
	diags.Append(findingDiagnostics(stillPending(state, *stored))...)
	return len(had) == 0 || len(stored.record.Copies) > 0, diags
}

// stillPending tells of members that could not be written before and cannot now; those that hold a copy are told of when it is read.
func stillPending(state *federatedModel, stored private) []fleet.Finding {
	messages := stringsOf(state.Messages)
	var findings []fleet.Finding
	for _, name := range state.pending() {
		if stored.ready(name) || stored.record.Copies[name] != nil {
			continue
		}
		findings = append(findings, fleet.Finding{Members: []string{name}, Summary: "Member is still pending", Detail: messages[name],
			Advice: "Nothing is planned for it until it answers; the first apply after that writes it."})
	}
	return findings
}

// observe puts what was found into the computed attributes, and forgets copies that are gone.
func (m *federatedModel) observe(spec fleet.Spec, target *fleet.Target, record *fleet.Record, applied *fleet.Rendering, observations []fleet.Observation) {
	versions, differences := stringsOf(m.Versions), m.differences()
	for _, o := range observations {
		switch {
		case o.Err != nil:
		case o.Gone && spec.Policy.OnMissing == fleet.PolicyKeep:
		case o.Gone:
			delete(versions, o.Member)
			delete(differences, o.Member)
			delete(record.Copies, o.Member)
		case !o.Drifted && record.Holds(o.Member, versions[o.Member]): // nothing has changed, and Terraform may spell texts otherwise than we
		default:
			differences[o.Member] = withDrift(differences[o.Member], o, target, record, applied)
		}
	}
	m.Versions = stringMap(versions)
	m.setDifferences(differences)
}

// withDrift is what differences say of a member: what they said without the drift of former refreshes, and the drift found now.
func withDrift(prior map[string]string, o fleet.Observation, target *fleet.Target, record *fleet.Record, applied *fleet.Rendering) map[string]string {
	now := prior
	if rendered, err := applied.Of(record, o.Member); err == nil {
		template := applied.Template()
		computed := federation.Differences(template, rendered, target.Sensitive)
		now = federation.PlannedDifferences(prior, computed, template, target.Marked(rendered), target.Sensitive)
	}
	if len(o.Drift) == 0 {
		return now
	}
	now = maps.Clone(now)
	if now == nil {
		now = map[string]string{}
	}
	maps.Copy(now, o.Drift)
	return now
}

// observed tells what a refresh found that the user should know.
func observed(t *fleet.Target, observations []fleet.Observation) []fleet.Finding {
	var findings []fleet.Finding
	var unknown *registry.UnknownError // what the members are reached by is known at apply
	for _, o := range observations {
		switch {
		case errors.As(o.Err, &unknown):
		case o.Err != nil:
			findings = append(findings, t.Unread(o.Member, o.Err))
		case o.Gone:
			findings = append(findings, fleet.Finding{Members: []string{o.Member}, Summary: t.ID.String() + " is gone", Detail: "it is not there any more."})
		default:
			findings = append(findings, changed(t, o)...)
		}
	}
	return findings
}

// changed tells of drift. The title names the object: Terraform shows one of several warnings with the same title, and each drift is worth
// reading. Marks that a change of the provider's owner makes old were written by nobody else, and one of these warnings is enough.
func changed(t *fleet.Target, o fleet.Observation) []fleet.Finding {
	var findings []fleet.Finding
	paths := slices.Sorted(maps.Keys(o.Drift))
	if o.FormerOwner != "" {
		paths = slices.DeleteFunc(paths, fleet.IsOwnerMark)
		findings = append(findings, fleet.Finding{Members: []string{o.Member}, Summary: "Objects get the new owner",
			Detail: fmt.Sprintf("%s carries the mark of %q, the former owner of this configuration; the apply gives it that of %q.", t.ID, o.FormerOwner, t.Mark.Owner)})
	}
	if len(paths) == 0 {
		return findings
	}
	detail := strings.Join(paths, ", ")
	if o.Changed != "" {
		detail += ", last written by " + o.Changed
	}
	return append(findings, fleet.Finding{Members: []string{o.Member}, Summary: t.ID.String() + " was changed outside of Terraform", Detail: detail + "."})
}
