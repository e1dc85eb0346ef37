package provider

import (
	"context"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

// functions are the constructors of every provider function, in the order of the documentation.
var functions = []func() function.Function{
	NewManifestDecodeFunction,
	NewManifestDecodeMultiFunction,
	NewManifestsByIDFunction,
	NewManifestEncodeFunction,
	NewRenderFunction,
	NewJSONPatchFunction,
}

// setTree makes a tree the dynamic result of a function.
func setTree(ctx context.Context, resp *function.RunResponse, tree any) {
	value, err := tfvalue.Value(tree)
	if err != nil {
		resp.Error = function.NewFuncError(err.Error())
		return
	}
	resp.Error = resp.Result.Set(ctx, types.DynamicValue(value))
}

// setUnknown makes the dynamic result of a function unknown. Terraform does not call a function with an argument that is not wholly
// known; a tool that does gets the answer that is right in any case.
func setUnknown(ctx context.Context, resp *function.RunResponse) {
	resp.Error = resp.Result.Set(ctx, types.DynamicUnknown())
}

// argumentTree converts the argument at a position, counted from 0, to a tree. known is false when any part of it is unknown.
func argumentTree(position int64, argument attr.Value) (tree any, known bool, funcErr *function.FuncError) {
	tree, unknown, err := tfvalue.Tree(argument)
	if err != nil {
		return nil, false, argumentError(position, err)
	}
	return tree, len(unknown) == 0, nil
}

// objectArgument is argumentTree for an argument that must be an object; nil when it is not wholly known.
func objectArgument(position int64, argument attr.Value) (object map[string]any, known bool, funcErr *function.FuncError) {
	tree, known, funcErr := argumentTree(position, argument)
	if funcErr != nil || !known {
		return nil, false, funcErr
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, false, function.NewArgumentFuncError(position, "an object is needed; read YAML or JSON text with "+
			"provider::kubefed::manifest_decode first, and give the elements of a list one by one")
	}
	return object, true, nil
}

// argumentError says what is wrong with the argument at a position, counted from 0. Terraform puts its own title before the text and
// a full stop behind it, so those of err are left out.
func argumentError(position int64, err error) *function.FuncError {
	return function.NewArgumentFuncError(position, strings.TrimSuffix(errorText(err), "."))
}

// errorText gives the details of all findings in err, one a line, each behind the place it is about; or the text of another error.
func errorText(err error) string {
	findings := federation.Findings(err)
	if len(findings) == 0 {
		return err.Error()
	}
	lines := make([]string, len(findings))
	for i, finding := range findings {
		lines[i] = finding.Text()
		if place := placeText(finding.Path); place != "" {
			lines[i] = place + ": " + finding.Text()
		}
	}
	return strings.Join(lines, "\n")
}

// placeText spells a path as a configuration would: overrides[2].images[0].tag, metadata.labels["app.kubernetes.io/name"].
func placeText(path []string) string {
	var b strings.Builder
	for _, step := range path {
		switch {
		case isIndex(step):
			b.WriteString("[" + step + "]")
		case strings.ContainsAny(step, "./ "):
			b.WriteString("[" + strconv.Quote(step) + "]")
		case b.Len() > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

func isIndex(step string) bool {
	_, err := strconv.ParseUint(step, 10, 31)
	return err == nil
}
