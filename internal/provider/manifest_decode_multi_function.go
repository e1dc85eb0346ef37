package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

var _ function.Function = manifestDecodeMultiFunction{}

// manifestDecodeMultiFunction is provider::kubefed::manifest_decode_multi.
type manifestDecodeMultiFunction struct{}

// NewManifestDecodeMultiFunction returns the function manifest_decode_multi: every document of a text as a list of objects.
func NewManifestDecodeMultiFunction() function.Function { return manifestDecodeMultiFunction{} }

func (manifestDecodeMultiFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest_decode_multi"
}

func (manifestDecodeMultiFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Read every manifest of a YAML or JSON text, as kubectl reads it",
		MarkdownDescription: "Reads every Kubernetes manifest of a YAML or JSON text and returns them as a list of objects, in the order " +
			"of the text.\n\n" +
			"Documents are separated by `---`. Empty documents and comments do not count, the items of a `List` come in its place, " +
			"and numbers and text mean what kubectl makes of them (see `manifest_decode`). A text without a manifest gives an empty " +
			"list. For `for_each`, use `manifests_by_id`: the position of a document in a file is no stable key.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "yaml",
				MarkdownDescription: "YAML or JSON text of any number of manifests, for example `file(\"all.yaml\")`.",
			},
		},
		Return: function.DynamicReturn{},
	}
}

func (manifestDecodeMultiFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	manifests, err := federation.DecodeAll(text)
	if err != nil {
		resp.Error = argumentError(0, err)
		return
	}
	list := make([]any, len(manifests))
	for i, manifest := range manifests {
		list[i] = manifest
	}
	setTree(ctx, resp, list)
}
