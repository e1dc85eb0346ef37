package provider

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

// importState makes the state of an object that exists: on which members, what it says, and where they differ.
func (r *federatedResource) importState(ctx context.Context, text string) (*federatedModel, private, diag.Diagnostics) {
	var diags diag.Diagnostics
	gvk, id, err := parseImportID(text)
	if err != nil {
		diags.AddError("Invalid import id", err.Error())
		return nil, private{}, diags
	}
	found, err := r.fleet.Find(ctx, gvk, id)
	if found != nil {
		diags.Append(findingDiagnostics(found.Findings)...)
	}
	if err != nil {
		diags.Append(importDiagnostic(text, gvk, id, err))
		return nil, private{}, diags
	}
	if diags.HasError() {
		return nil, private{}, diags
	}
	model, err := importedModel(ctx, found)
	if err != nil {
		diags.AddError("Unable to import "+id.String(), err.Error()+".")
		return nil, private{}, diags
	}
	stored := private{record: found.Record, facts: &fleet.Facts{Scope: &found.Scope}}
	diags.Append(r.recordImported(ctx, model, stored)...)
	return model, stored, diags
}

// recordImported notes the versions that the members hold, as the imported state renders them.
func (r *federatedResource) recordImported(ctx context.Context, model *federatedModel, stored private) diag.Diagnostics {
	spec, diags := model.spec(ctx, r.fleet.Policy())
	if diags.HasError() {
		return diags
	}
	resolution, err := r.fleet.Resolve(ctx, spec, stored.facts, stored.record.Members())
	if err != nil {
		diags.Append(registryDiagnostic(ctx, err))
		return diags
	}
	if diags.Append(errorsOnly(findingDiagnostics(resolution.Findings))...); diags.HasError() {
		return diags
	}
	versions := resolution.Versions(spec.Sensitive, stored.record)
	differences := map[string]map[string]string{}
	for name, c := range stored.record.Copies {
		c.Version, c.Used = versions[name], resolution.Desired[name].Used
		differences[name] = federation.Differences(resolution.Template, resolution.Desired[name].Tree, spec.Sensitive)
	}
	model.setIdentity(resolution)
	model.setPlaced(resolution, versions)
	model.setDifferences(differences)
	model.setPending(nil)
	return diags
}

// importedModel writes what was found as a configuration would: one template, the members, and a merge patch for each that differs.
func importedModel(ctx context.Context, found *fleet.Found) (*federatedModel, error) {
	template, err := tfvalue.Value(found.Template)
	if err != nil {
		return nil, err
	}
	attributes := federatedSchema(ctx)
	objectType := func(name string) types.ObjectType {
		t, _ := attributes.Attributes[name].GetType().(types.ObjectType)
		return t
	}
	listType, _ := attributes.Attributes["overrides"].GetType().(types.ListType)
	overrideType, _ := listType.ElemType.(types.ObjectType)
	overrides, err := importedOverrides(ctx, found, overrideType)
	if err != nil {
		return nil, err
	}
	timeoutsType, _ := attributes.Blocks["timeouts"].Type().(timeouts.Type)
	return &federatedModel{
		Template:         types.DynamicValue(template),
		DefaultNamespace: types.StringValue("default"),
		Placement:        objectOf(ctx, objectType("placement"), map[string]attr.Value{"clusters": stringSet(found.Members)}),
		Overrides:        overrides,
		Replicas:         types.MapNull(types.NumberType),
		SensitiveFields:  types.ListNull(types.StringType),
		Policy:           types.ObjectNull(objectType("policy").AttrTypes),
		Rollout:          types.ObjectNull(objectType("rollout").AttrTypes),
		Wait:             types.ObjectNull(objectType("wait").AttrTypes),
		Deletion:         types.ObjectNull(objectType("deletion").AttrTypes),
		Timeouts:         timeouts.Value{Object: types.ObjectNull(timeoutsType.AttrTypes)},
	}, nil
}

func importedOverrides(ctx context.Context, found *fleet.Found, entry types.ObjectType) (types.List, error) {
	if len(found.Patches) == 0 {
		return types.ListNull(entry), nil
	}
	var entries []attr.Value
	for _, name := range found.Members {
		patch, differs := found.Patches[name]
		if !differs {
			continue
		}
		text, err := json.Marshal(patch)
		if err != nil {
			return types.ListNull(entry), fmt.Errorf("write the override of member %s: %w", name, err)
		}
		entries = append(entries, objectOf(ctx, entry, map[string]attr.Value{
			"clusters": stringSet([]string{name}), "merge_patch": types.StringValue(string(text))}))
	}
	return types.ListValueMust(entry, entries), nil
}

// objectOf makes an object of which all attributes are null but those given.
func objectOf(ctx context.Context, t types.ObjectType, values map[string]attr.Value) types.Object {
	all := make(map[string]attr.Value, len(t.AttrTypes))
	for name, attributeType := range t.AttrTypes {
		if value, ok := values[name]; ok {
			all[name] = value
			continue
		}
		null, err := attributeType.ValueFromTerraform(ctx, tftypes.NewValue(attributeType.TerraformType(ctx), nil))
		if err == nil {
			all[name] = null
		}
	}
	return types.ObjectValueMust(t.AttrTypes, all)
}
