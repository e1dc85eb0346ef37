package provider

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

// federatedModel is a kubefed_federated_resource. Placement, overrides, policy and deletion stay Terraform values here: what is unknown in
// them matters.
type federatedModel struct {
	Template         types.Dynamic  `tfsdk:"template"`
	DefaultNamespace types.String   `tfsdk:"default_namespace"`
	Placement        types.Object   `tfsdk:"placement"`
	Overrides        types.List     `tfsdk:"overrides"`
	Replicas         types.Map      `tfsdk:"replicas"`
	SensitiveFields  types.List     `tfsdk:"sensitive_fields"`
	Policy           types.Object   `tfsdk:"policy"`
	Rollout          types.Object   `tfsdk:"rollout"`
	Wait             types.Object   `tfsdk:"wait"`
	Deletion         types.Object   `tfsdk:"deletion"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`

	ID              types.String `tfsdk:"id"`
	Target          types.Object `tfsdk:"target"`
	PlacedClusters  types.Set    `tfsdk:"placed_clusters"`
	PendingClusters types.Set    `tfsdk:"pending_clusters"`
	Versions        types.Map    `tfsdk:"versions"`
	Differences     types.Map    `tfsdk:"differences"`
	Messages        types.Map    `tfsdk:"messages"`
}

type deletionModel struct {
	Policy             types.String `tfsdk:"policy"`
	Propagation        types.String `tfsdk:"propagation"`
	GracePeriodSeconds types.Number `tfsdk:"grace_period_seconds"`
	Protection         types.Bool   `tfsdk:"protection"`
}

// spec translates what the user wrote. Faults are diagnostics at their attributes.
func (m *federatedModel) spec(ctx context.Context, defaults fleet.Policy) (fleet.Spec, diag.Diagnostics) {
	var diags diag.Diagnostics
	spec := fleet.Spec{DefaultNamespace: m.DefaultNamespace.ValueString()}
	report := func(err error) { diags.Append(inputDiagnostics(err)...) }
	var err error
	spec.Template, spec.TemplateUnknown, err = templateTree(m.Template)
	report(federation.Below(err, "template"))
	if m.DefaultNamespace.IsUnknown() {
		spec.TemplateUnknown = append(spec.TemplateUnknown, "/metadata/namespace")
	}
	spec.Placement, spec.PlacementUnknown, err = placementOf(m.Placement)
	report(err)
	spec.Overrides, spec.OverridesUnknown, err = overridesOf(m.Overrides)
	report(err)
	spec.ReplicasUnknown = m.Replicas.IsUnknown()
	var found diag.Diagnostics
	spec.Replicas, spec.ReplicasOpen, found = replicasOf(ctx, m.Replicas)
	diags.Append(found...)
	spec.Sensitive, err = sensitiveOf(m.SensitiveFields)
	report(err)
	policy, found := policyOf(ctx, m.Policy)
	diags.Append(found...)
	spec.Policy = policy.Over(defaults).Over(fleet.DefaultPolicy())
	spec.Rollout, spec.RolloutUnknown, found = rolloutOf(ctx, m.Rollout)
	diags.Append(found...)
	spec.Wait, spec.WaitUnknown, found = waitOf(ctx, m.Wait)
	diags.Append(found...)
	var deletion deletionModel
	diags.Append(asObject(ctx, m.Deletion, &deletion)...)
	diags.Append(count.check(ctx, deletion.GracePeriodSeconds, path.Root("deletion").AtName("grace_period_seconds"))...)
	spec.Deletion = deletion.toDomain()
	return spec, diags
}

// templateTree reads the template: an object, or the text of one document.
func templateTree(value types.Dynamic) (tree map[string]any, unknown []string, err error) {
	if value.IsUnknown() || value.IsUnderlyingValueUnknown() {
		return nil, []string{""}, nil
	}
	switch underlying := value.UnderlyingValue().(type) {
	case types.String:
		tree, err = federation.DecodeOne(underlying.ValueString())
		return tree, nil, err
	case types.Object, types.Map:
		object, unknown, err := tfvalue.Tree(underlying)
		if err != nil {
			return nil, nil, &federation.InputError{Summary: "Invalid template", Detail: err.Error()}
		}
		tree, _ = object.(map[string]any)
		return tree, unknown, nil
	default:
		return nil, nil, &federation.InputError{Summary: "Invalid template", Detail: "The template must be one object, or the JSON or YAML text of one document, but it is " +
			friendlyType(value.UnderlyingValue()) + ". Use for_each for several objects, for instance over provider::kubefed::manifests_by_id([…])."}
	}
}

func friendlyType(value attr.Value) string {
	switch value.(type) {
	case nil:
		return "null"
	case types.List, types.Tuple, types.Set:
		return "a list"
	case types.Number:
		return "a number"
	case types.Bool:
		return "a bool"
	}
	return "something else"
}

func placementOf(value types.Object) (placement federation.Placement, unknown bool, err error) {
	tree, pointers, err := tfvalue.Tree(value)
	if err != nil || len(pointers) > 0 {
		return federation.Placement{}, true, err
	}
	root := rootNode(tree, "placement")
	placement = federation.Placement{
		Selection: federation.Selection{Clusters: root.attribute("clusters").texts(), Selector: readSelector(root.attribute("cluster_selector"))},
		Exclude:   root.attribute("exclude").texts(),
	}
	if err := root.err(); err != nil {
		return placement, false, err
	}
	if err := federation.Below(placement.Validate(), "placement"); err != nil {
		return placement, false, err
	}
	if placement.Exclude != nil && placement.Selector == nil {
		return placement, false, &federation.InputError{Path: []string{"placement", "exclude"}, Summary: "Needless exclude",
			Detail: "exclude goes with cluster_selector; leave the names out of clusters instead."}
	}
	return placement, false, nil
}

// overridesOf reads the overrides. Of an entry with something unknown in its changes the selection alone is read; if the selection of any is
// unknown, it is not known who gets what.
func overridesOf(value types.List) (overrides []fleet.Override, unknown bool, err error) {
	tree, pointers, err := tfvalue.Tree(value)
	entries, ok := tree.([]any)
	if err != nil || (!ok && len(pointers) > 0) {
		return nil, true, err
	}
	open := map[int]bool{}
	for _, pointer := range pointers {
		index, content := entryWithUnknownContent(pointer)
		if !content {
			return nil, true, nil
		}
		open[index] = true
	}
	entries = slices.Clone(entries)
	for index := range open {
		entry, _ := entries[index].(map[string]any)
		entries[index] = map[string]any{"clusters": entry["clusters"], "cluster_selector": entry["cluster_selector"]}
	}
	if entries == nil {
		return nil, false, nil
	}
	parsed, err := overridesFromTree(entries)
	if err != nil {
		return nil, false, err
	}
	var faults []error
	for i, o := range parsed {
		overrides = append(overrides, fleet.Override{Override: o, Unknown: open[i]})
		if !open[i] {
			faults = append(faults, o.Validate(i))
			continue
		}
		faults = append(faults, federation.Below(o.Selection.Validate(), "overrides", strconv.Itoa(i)))
	}
	return overrides, false, errors.Join(faults...)
}

// entryWithUnknownContent reads which entry a pointer to something unknown lies in; content is false when it is not about the entry's
// changes alone, but about who gets them.
func entryWithUnknownContent(pointer string) (index int, content bool) {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	index, err := strconv.Atoi(steps[0])
	return index, err == nil && len(steps) > 1 && steps[1] != "clusters" && steps[1] != "cluster_selector"
}

// replicasOf reads the counts, and whose are unknown. What was unknown in the plan has passed no validator, so it is checked here too.
func replicasOf(ctx context.Context, value types.Map) (replicas map[string]int64, open map[string]bool, diags diag.Diagnostics) {
	replicas, open = map[string]int64{}, map[string]bool{}
	for name, element := range value.Elements() {
		n, ok := element.(types.Number)
		at := path.Root("replicas").AtMapKey(name)
		switch {
		case !ok || n.IsUnknown():
			open[name] = true
		case n.IsNull():
			diags.Append(nullElement(at))
		default:
			diags.Append(count.check(ctx, n, at)...)
			replicas[name] = int64Of(n, 0)
		}
	}
	return replicas, open, diags
}

func sensitiveOf(value types.List) ([]string, error) {
	var pointers []string
	for _, element := range value.Elements() {
		if text, ok := element.(types.String); ok && !text.IsUnknown() {
			pointers = append(pointers, text.ValueString())
		}
	}
	return pointers, federation.Below(federation.ValidatePointers(pointers), "sensitive_fields")
}

func (m deletionModel) toDomain() fleet.Deletion {
	deletion := fleet.Deletion{
		Orphan:      m.Policy.ValueString() == "orphan",
		Propagation: metav1.DeletionPropagation(m.Propagation.ValueString()),
		Protection:  m.Protection.ValueBoolPointer(),
	}
	if !m.GracePeriodSeconds.IsNull() && !m.GracePeriodSeconds.IsUnknown() {
		seconds := int64Of(m.GracePeriodSeconds, 0)
		deletion.GraceSeconds = &seconds
	}
	if m.Protection.IsUnknown() {
		deletion.Protection = nil
	}
	return deletion
}
