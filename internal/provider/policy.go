package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// policyModel is the `policy` object, the same on the provider and on resources.
type policyModel struct {
	OnExisting          types.String `tfsdk:"on_existing"`
	OnMissingNamespace  types.String `tfsdk:"on_missing_namespace"`
	OnMissingAPI        types.String `tfsdk:"on_missing_api"`
	OnUnreachable       types.String `tfsdk:"on_unreachable"`
	OnUnreachableDelete types.String `tfsdk:"on_unreachable_delete"`
	OnImmutable         types.String `tfsdk:"on_immutable"`
	OnFailure           types.String `tfsdk:"on_failure"`
	OnMissing           types.String `tfsdk:"on_missing"`
	OnConflict          types.String `tfsdk:"on_conflict"`
}

// policyOf reads a policy object; a null one sets nothing, and what is unknown is fleet.PolicyUnknown.
func policyOf(ctx context.Context, value types.Object) (fleet.Policy, diag.Diagnostics) {
	var m policyModel
	if value.IsUnknown() {
		unknown := types.StringUnknown()
		m = policyModel{unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown}
	}
	diags := asObject(ctx, value, &m)
	return fleet.Policy{
		OnExisting:          policyValue(m.OnExisting),
		OnMissingNamespace:  policyValue(m.OnMissingNamespace),
		OnMissingAPI:        policyValue(m.OnMissingAPI),
		OnUnreachable:       policyValue(m.OnUnreachable),
		OnUnreachableDelete: policyValue(m.OnUnreachableDelete),
		OnImmutable:         policyValue(m.OnImmutable),
		OnFailure:           policyValue(m.OnFailure),
		OnMissing:           policyValue(m.OnMissing),
		OnConflict:          policyValue(m.OnConflict),
	}, diags
}

func policyValue(value types.String) string {
	if value.IsUnknown() {
		return fleet.PolicyUnknown
	}
	return value.ValueString()
}

// policyAttribute is one attribute of the `policy` object.
type policyAttribute struct {
	name, description string
	values            []string
}

func (a policyAttribute) validators() []validator.String {
	return []validator.String{stringvalidator.OneOf(a.values...)}
}

// policyAttributes lists the attributes of `policy`; the first value of each is its default.
var policyAttributes = []policyAttribute{
	{"on_existing", "An object is there that is not ours: `error` (default) is a plan error; `adopt` takes it over: the fields that the template names become ours (the plan says which values change), all others stay as they are.", []string{"error", "adopt"}},
	{"on_missing_namespace", "A member lacks the object's namespace: `error` (default), `create` it on the way (it is never deleted again), or `skip` the member.", []string{"error", "create", "skip"}},
	{"on_missing_api", "A member does not serve the kind: `error` (default) or `skip` the member.", []string{"error", "skip"}},
	{"on_unreachable", "A member with something to write does not answer, or refuses our credentials: `error` (default) is a plan error on create, and on update an error after the others were written; `skip` leaves it for a later run.", []string{"error", "skip"}},
	{"on_unreachable_delete", "A member to delete from does not answer: `error` (default) keeps it in state; `forget` drops it with a warning that names what is left behind.", []string{"error", "forget"}},
	{"on_immutable", "The API server refuses a change as immutable: `error` (default) at plan.", []string{"error"}},
	{"on_failure", "A write is refused, or an object is not ready in time (`wait`, `rollout`): `stop` (default) goes no further; a creation is undone after a refused write, and kept where the object is not ready. `continue` tries every member and leaves those that fail pending.", []string{"stop", "continue"}},
	{"on_missing", "An object we wrote is gone: `recreate` (default) it, or `keep` the state as it is (a finished Job with a TTL).", []string{"recreate", "keep"}},
	{"on_conflict", "Another manager owns a field that we never owned: `error` (default) at plan, or `force` it to be ours.", []string{"error", "force"}},
}
