package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

type rolloutModel struct {
	Groups         types.List   `tfsdk:"groups"`
	MaxConcurrency types.String `tfsdk:"max_concurrency"`
	MaxFailures    types.Number `tfsdk:"max_failures"`
	MinReadyTime   types.String `tfsdk:"min_ready_time"`
}

type waitModel struct {
	Ready      types.Bool   `tfsdk:"ready"`
	Conditions types.List   `tfsdk:"conditions"`
	Timeout    types.String `tfsdk:"timeout"`
}

// rolloutOf reads a rollout; nil if there is none, and if something in it is unknown: then there is no order yet. What was unknown in the plan
// has passed no validator, so it is checked here too.
func rolloutOf(ctx context.Context, value types.Object) (rollout *federation.Rollout, unknown bool, diags diag.Diagnostics) {
	var m rolloutModel
	diags.Append(asObject(ctx, value, &m)...)
	if value.IsNull() || diags.HasError() {
		return nil, false, diags
	}
	at := path.Root("rollout")
	diags.Append(count.check(ctx, m.MaxFailures, at.AtName("max_failures"))...)
	rollout = &federation.Rollout{MaxFailures: int64Of(m.MaxFailures, 0)}
	amount := stringOr(m.MaxConcurrency, "100%")
	diags.Append(memberAmount.check(amount, at.AtName("max_concurrency"))...)
	rollout.MaxConcurrency, _ = federation.ParseAmount(amount)
	rollout.MinReady = durationOr(m.MinReadyTime, 0, at.AtName("min_ready_time"), &diags)
	groups, unknown, err := elementsOf(m.Groups, groupOf, "rollout", "groups")
	rollout.Groups = groups
	diags.Append(inputDiagnostics(err)...)
	diags.Append(inputDiagnostics(federation.Below(rollout.Validate(), "rollout"))...)
	if unknown || value.IsUnknown() || m.MaxConcurrency.IsUnknown() || m.MaxFailures.IsUnknown() || m.MinReadyTime.IsUnknown() {
		return nil, true, diags
	}
	return rollout, false, diags
}

func groupOf(n treeNode) federation.Group {
	group := federation.Group{Selection: federation.Selection{
		Clusters: n.attribute("clusters").texts(), Selector: readSelector(n.attribute("cluster_selector"))}}
	if name := n.attribute("name").optionalText(); name != nil {
		group.Name = *name
	}
	return group
}

// waitOf reads what is waited for; a null value waits for nothing. With anything unknown in it that is open.
func waitOf(ctx context.Context, value types.Object) (wait fleet.Wait, unknown bool, diags diag.Diagnostics) {
	var m waitModel
	if diags.Append(asObject(ctx, value, &m)...); diags.HasError() {
		return wait, false, diags
	}
	conditions, unknown, err := elementsOf(m.Conditions, conditionOf, "wait", "conditions")
	diags.Append(inputDiagnostics(err)...)
	wait.Ready, wait.Conditions = m.Ready.ValueBool(), conditions
	wait.Timeout = durationOr(m.Timeout, fleet.DefaultWait, path.Root("wait").AtName("timeout"), &diags)
	return wait, unknown || value.IsUnknown() || m.Ready.IsUnknown() || m.Timeout.IsUnknown(), diags
}

func conditionOf(n treeNode) member.Condition {
	c := member.Condition{Type: n.attribute("type").text(), Status: "True"}
	if status := n.attribute("status").optionalText(); status != nil {
		c.Status = *status
	}
	return c
}

// elementsOf reads a list of nested objects, unless something in it is unknown.
func elementsOf[T any](value types.List, read func(treeNode) T, steps ...string) (elements []T, unknown bool, err error) {
	tree, pointers, err := tfvalue.Tree(value)
	if err != nil || len(pointers) > 0 {
		return nil, len(pointers) > 0, err
	}
	root := rootNode(tree, steps...)
	elements = eachElement(root, read)
	return elements, false, root.err()
}
