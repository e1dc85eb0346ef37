package provider

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

var _ function.Function = jsonPatchFunction{}

// jsonPatchFunction is provider::kubefed::json_patch.
type jsonPatchFunction struct{}

// NewJSONPatchFunction returns the function json_patch: an object after a JSON patch.
func NewJSONPatchFunction() function.Function { return jsonPatchFunction{} }

func (jsonPatchFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "json_patch"
}

func (jsonPatchFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Apply a JSON patch (RFC 6902) to an object",
		MarkdownDescription: "Applies a JSON patch (RFC 6902) to an object and returns the result, by the same rules as `json_patch` in the " +
			"`overrides` of a `kubefed_federated_resource`.\n\n" +
			"Every path starts with a slash, a slash inside a key is written `~1` and a tilde `~0`, list indexes count from 0 and `-` " +
			"stands for the end of a list. `op` defaults to `replace`. To replace or remove what is not there is an error that names " +
			"the operation and the first part of the path that is missing.",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name:                "object",
				MarkdownDescription: "The object to patch. For a manifest in YAML, use `manifest_decode` first.",
			},
			function.DynamicParameter{
				Name: "patch",
				MarkdownDescription: "The operations in order: a list of objects with `op`, `path`, `value` and (for `move` and `copy`) " +
					"`from`, or the same as JSON or YAML text.",
			},
		},
		Return: function.DynamicReturn{},
	}
}

func (jsonPatchFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var objectValue, patchValue types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &objectValue, &patchValue); resp.Error != nil {
		return
	}
	object, objectKnown, funcErr := objectArgument(0, objectValue)
	if funcErr != nil {
		resp.Error = funcErr
		return
	}
	patch, patchKnown, funcErr := argumentTree(1, patchValue)
	if funcErr != nil {
		resp.Error = funcErr
		return
	}
	if !objectKnown || !patchKnown {
		setUnknown(ctx, resp)
		return
	}
	operations, err := operationsFromTree(patch)
	if err != nil {
		resp.Error = argumentError(1, err)
		return
	}
	patched, _, err := federation.JSONPatch(object, operations)
	if err != nil {
		resp.Error = argumentError(1, err)
		return
	}
	setTree(ctx, resp, patched)
}

// operationsFromTree reads a JSON patch given as text or as a list. A list is read by way of its text, so that there is one parser
// of patches.
func operationsFromTree(patch any) ([]federation.Operation, error) {
	if text, ok := patch.(string); ok {
		return federation.ParseOperations(text)
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("read JSON patch: %w", err)
	}
	return federation.ParseOperations(string(text))
}
