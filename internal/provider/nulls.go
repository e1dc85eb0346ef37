package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// nullElements refuses every list, set and map of a configuration or a plan that has a null element: nothing in the schema gives one a meaning.
// Terraform lets them through, and the framework calls them a bug of the provider. kind is the type of the schema; what is dynamic (a
// template) is left alone.
func nullElements(kind attr.Type, raw tftypes.Value) diag.Diagnostics {
	var diags diag.Diagnostics
	if fields, ok := kind.(attr.TypeWithAttributeTypes); ok {
		kinds, values := fields.AttributeTypes(), map[string]tftypes.Value{}
		if raw.As(&values) != nil {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			diags.Append(nullsBelow(kinds[name], values[name], path.Root(name))...)
		}
	}
	return diags
}

func nullsBelow(kind attr.Type, raw tftypes.Value, at path.Path) diag.Diagnostics {
	var diags diag.Diagnostics
	if raw.IsNull() || !raw.IsKnown() {
		return nil
	}
	switch kind := kind.(type) {
	case attr.TypeWithAttributeTypes:
		var fields map[string]tftypes.Value
		if raw.As(&fields) == nil {
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				diags.Append(nullsBelow(kind.AttributeTypes()[name], fields[name], at.AtName(name))...)
			}
		}
	case attr.TypeWithElementType:
		eachRaw(raw, at, func(element tftypes.Value, at path.Path) {
			if element.IsNull() {
				diags.Append(nullElement(at))
			}
			diags.Append(nullsBelow(kind.ElementType(), element, at)...)
		})
	}
	return diags
}

// eachRaw calls do for every element of a list, set or map. An element of a set has no place of its own.
func eachRaw(raw tftypes.Value, at path.Path, do func(element tftypes.Value, at path.Path)) {
	var (
		list   []tftypes.Value
		byName map[string]tftypes.Value
	)
	if raw.As(&byName) == nil {
		for _, key := range slices.Sorted(maps.Keys(byName)) {
			do(byName[key], at.AtMapKey(key))
		}
		return
	}
	if raw.As(&list) != nil {
		return
	}
	for i, element := range list {
		if raw.Type().Is(tftypes.Set{}) {
			do(element, at)
		} else {
			do(element, at.AtListIndex(i))
		}
	}
}

// nullElement is the error for an element that is null; at is the element or, in a set, the set.
func nullElement(at path.Path) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(pointable(at), "Null element", nullWords(at))
}

func nullWords(at path.Path) string {
	what := "is null"
	if last, _ := at.Steps().LastStep(); last != nil {
		if _, whole := last.(path.PathStepAttributeName); whole {
			what = "has an element that is null"
		}
	}
	return fmt.Sprintf("`%s` %s. Leave the element out, or give it a value.", at, what)
}

// noNulls refuses null elements of nested attributes before the framework asks each of them for its required attributes. It says so in the
// words of nullElements, so that there is one error.
type noNulls struct{}

func (noNulls) Description(context.Context) string               { return "no null element" }
func (v noNulls) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (noNulls) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	for i, element := range req.ConfigValue.Elements() {
		if element.IsNull() {
			resp.Diagnostics.Append(nullElement(req.Path.AtListIndex(i)))
		}
	}
}

func noNullItems() []validator.List { return []validator.List{noNulls{}} }
