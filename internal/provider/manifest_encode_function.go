package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

var _ function.Function = manifestEncodeFunction{}

// manifestEncodeFunction is provider::kubefed::manifest_encode.
type manifestEncodeFunction struct{}

// NewManifestEncodeFunction returns the function manifest_encode: an object as YAML text.
func NewManifestEncodeFunction() function.Function { return manifestEncodeFunction{} }

func (manifestEncodeFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest_encode"
}

func (manifestEncodeFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Write an object as YAML that kubectl reads back as the same object",
		MarkdownDescription: "Writes an object as YAML text that kubectl, and `manifest_decode`, read back as the same object.\n\n" +
			"Keys are sorted, integers keep every digit, and text that YAML would take for something else (`yes`, `0400`, `1.10`) is " +
			"quoted. The same object always gives the same text.",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name:                "object",
				MarkdownDescription: "An object, usually a manifest.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (manifestEncodeFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var argument types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &argument); resp.Error != nil {
		return
	}
	object, known, funcErr := objectArgument(0, argument)
	if funcErr != nil {
		resp.Error = funcErr
		return
	}
	if !known {
		resp.Error = resp.Result.Set(ctx, types.StringUnknown())
		return
	}
	text, err := federation.Encode(object)
	if err != nil {
		resp.Error = argumentError(0, err)
		return
	}
	resp.Error = resp.Result.Set(ctx, text)
}
