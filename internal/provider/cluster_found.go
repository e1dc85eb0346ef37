package provider

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

func (m *clusterModel) setFoundLists(ctx context.Context, found *registry.Registration, former registry.Cluster) (diags diag.Diagnostics) {
	if !sameSet(found.Zones, former.Zones) {
		m.Zones = types.SetNull(types.StringType)
		if len(found.Zones) > 0 {
			value, more := types.SetValueFrom(ctx, types.StringType, found.Zones)
			m.Zones = value
			diags.Append(more...)
		}
	}
	if !slices.Equal(found.DisabledTLSValidations, former.DisabledTLSValidations) {
		m.DisabledTLSValidations = types.ListNull(types.StringType)
		if len(found.DisabledTLSValidations) > 0 {
			value, more := types.ListValueFrom(ctx, types.StringType, found.DisabledTLSValidations)
			m.DisabledTLSValidations = value
			diags.Append(more...)
		}
	}
	if !sameSet(found.Scope.Namespaces, former.Scope.Namespaces) || !sameRules(found.Scope.Rules, former.Scope.Rules) {
		value, more := scopeValue(ctx, found.Scope)
		m.Scope = value
		diags.Append(more...)
	}
	return diags
}

var (
	ruleTypes = map[string]attr.Type{
		"api_groups": types.ListType{ElemType: types.StringType}, "resources": types.ListType{ElemType: types.StringType}, "verbs": types.ListType{ElemType: types.StringType},
	}
	scopeTypes = map[string]attr.Type{
		"namespaces": types.SetType{ElemType: types.StringType}, "rules": types.ListType{ElemType: types.ObjectType{AttrTypes: ruleTypes}},
	}
)

func scopeValue(ctx context.Context, scope registry.Scope) (types.Object, diag.Diagnostics) {
	if len(scope.Namespaces) == 0 && len(scope.Rules) == 0 {
		return types.ObjectNull(scopeTypes), nil
	}
	model := scopeModel{Namespaces: types.SetNull(types.StringType), Rules: types.ListNull(types.ObjectType{AttrTypes: ruleTypes})}
	var diags, more diag.Diagnostics
	if len(scope.Namespaces) > 0 {
		model.Namespaces, more = types.SetValueFrom(ctx, types.StringType, scope.Namespaces)
		diags.Append(more...)
	}
	if len(scope.Rules) > 0 {
		rules := make([]ruleModel, len(scope.Rules))
		for i, r := range scope.Rules {
			rules[i] = ruleModel(r)
		}
		model.Rules, more = types.ListValueFrom(ctx, types.ObjectType{AttrTypes: ruleTypes}, rules)
		diags.Append(more...)
	}
	value, more := types.ObjectValueFrom(ctx, scopeTypes, model)
	diags.Append(more...)
	return value, diags
}

// only keeps the entries whose keys are among those of known.
func only(all, known map[string]string) map[string]string {
	kept := map[string]string{}
	for key := range known {
		if value, ok := all[key]; ok {
			kept[key] = value
		}
	}
	return kept
}

func sameMap(a, b map[string]string) bool { return maps.Equal(a, b) }

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func sameRules(a, b []registry.Rule) bool {
	return (len(a) == 0 && len(b) == 0) || reflect.DeepEqual(a, b)
}

func stringOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func mapOrNull(ctx context.Context, texts map[string]string, diags *diag.Diagnostics) types.Map {
	if len(texts) == 0 {
		return types.MapNull(types.StringType)
	}
	value, more := types.MapValueFrom(ctx, types.StringType, texts)
	diags.Append(more...)
	return value
}
