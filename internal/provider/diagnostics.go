package provider

import (
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// findingDiagnostics makes one diagnostic of each finding, those that say the same about several members in one.
func findingDiagnostics(findings []fleet.Finding) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, f := range fleet.Merge(findings) {
		at := pointable(attributePath(f.Path))
		switch {
		case f.Error && len(f.Path) == 0:
			diags.AddError(f.Summary, f.Text())
		case f.Error:
			diags.AddAttributeError(at, f.Summary, f.Text())
		case len(f.Path) == 0:
			diags.AddWarning(f.Summary, f.Text())
		default:
			diags.AddAttributeWarning(at, f.Summary, f.Text())
		}
	}
	return diags
}

// errorsOnly leaves out warnings: an apply does not repeat what its plan has said.
func errorsOnly(diags diag.Diagnostics) diag.Diagnostics { return diags.Errors() }

// inputDiagnostics binds faults in what the user wrote to their attributes.
func inputDiagnostics(err error) diag.Diagnostics {
	var diags diag.Diagnostics
	faults := federation.Findings(err)
	for _, f := range faults {
		diags.AddAttributeError(pointable(attributePath(f.Path)), f.Summary, f.Text())
	}
	if err != nil && len(faults) == 0 {
		diags.AddError("Invalid configuration", err.Error())
	}
	return diags
}

// textAttributes are those behind which nothing can be addressed: dynamic values and patches written as text.
var textAttributes = []string{"template", "json_patch", "merge_patch"}

// mapAttributes are those whose steps are keys.
var mapAttributes = []string{"replicas", "labels", "annotations", "match_labels"}

// setAttributes hold their elements by value: the attribute itself is what can be addressed.
var setAttributes = []string{"clusters", "exclude", "values"}

// pointable shortens a path to what Terraform can point at in a configuration: an attribute, and one element of it. Of what lies deeper in
// nested attributes it shows the head of the whole block, so there the text says what it is about.
func pointable(at path.Path) path.Path {
	steps, length := at.Steps(), 1
	if len(steps) > 1 {
		if _, inside := steps[1].(path.PathStepAttributeName); !inside {
			length = 2
		}
	}
	for range len(steps) - length {
		at = at.ParentPath()
	}
	return at
}

// attributePath is the path of an attribute, given as the domain writes it: names, map keys, and list indexes in decimal.
func attributePath(steps []string) path.Path {
	if len(steps) == 0 {
		return path.Empty()
	}
	at := path.Root(steps[0])
	for i, step := range steps[1:] {
		before := steps[i]
		index, err := strconv.Atoi(step)
		switch {
		case slices.Contains(textAttributes, before), slices.Contains(setAttributes, before):
			return at
		case slices.Contains(mapAttributes, before):
			return at.AtMapKey(step)
		case err == nil:
			at = at.AtListIndex(index)
		default:
			at = at.AtName(step)
		}
	}
	return at
}
