package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

var _ function.Function = manifestDecodeFunction{}

// manifestDecodeFunction is provider::kubefed::manifest_decode.
type manifestDecodeFunction struct{}

// NewManifestDecodeFunction returns the function manifest_decode: one YAML or JSON document as an object.
func NewManifestDecodeFunction() function.Function { return manifestDecodeFunction{} }

func (manifestDecodeFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest_decode"
}

func (manifestDecodeFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Read one manifest from YAML or JSON, as kubectl reads it",
		MarkdownDescription: "Reads one Kubernetes manifest from YAML or JSON text and returns it as an object.\n\n" +
			"The text means what kubectl makes of it, which is not always what Terraform's own `yamldecode` makes of it: `0400` is the " +
			"file mode 256 (octal) and not the number 400, the key `on` stays `on`, and an integer such as `9007199254740993` keeps " +
			"every digit. Empty documents and comments do not count. A second document is an error, and so is a `List`: " +
			"`manifest_decode_multi` and `manifests_by_id` read those.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "yaml",
				MarkdownDescription: "YAML or JSON text of one manifest, for example `file(\"web.yaml\")`.",
			},
		},
		Return: function.DynamicReturn{},
	}
}

func (manifestDecodeFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	manifest, err := federation.DecodeOne(text)
	if err != nil {
		resp.Error = argumentError(0, err)
		return
	}
	setTree(ctx, resp, manifest)
}
