package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

var _ function.Function = manifestsByIDFunction{}

// manifestsByIDFunction is provider::kubefed::manifests_by_id.
type manifestsByIDFunction struct{}

// NewManifestsByIDFunction returns the function manifests_by_id: every document of several texts, keyed by its id, for for_each.
func NewManifestsByIDFunction() function.Function { return manifestsByIDFunction{} }

func (manifestsByIDFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifests_by_id"
}

func (manifestsByIDFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Read manifests from YAML or JSON texts into a map keyed by their id, for for_each",
		MarkdownDescription: "Reads every Kubernetes manifest of a list of YAML or JSON texts and returns them in a map for `for_each`.\n\n" +
			"A key is `<group>/<Kind>/[<namespace>/]<name>`, such as `apps/Deployment/shop/web` or `core/Namespace/shop`: stable when files " +
			"are split, merged or reordered, and when the API version changes. The namespace is the one the document names itself; " +
			"a document without one has none in its key. The items of a `List` count as documents of their own, empty documents do not. " +
			"Two documents with the same id are an error that names both places.",
		Parameters: []function.Parameter{
			function.ListParameter{
				Name:        "yaml",
				ElementType: types.StringType,
				MarkdownDescription: "YAML or JSON texts, each with any number of manifests, for example " +
					"`[for name in fileset(path.module, \"manifests/*.yaml\") : file(\"${path.module}/${name}\")]`.",
			},
		},
		Return: function.DynamicReturn{},
	}
}

func (manifestsByIDFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var texts []types.String
	if resp.Error = req.Arguments.Get(ctx, &texts); resp.Error != nil {
		return
	}
	found := manifestIndex{byID: map[string]any{}, places: map[string]string{}}
	for i, text := range texts {
		if text.IsUnknown() {
			setUnknown(ctx, resp)
			return
		}
		if err := found.addText(i+1, text); err != nil {
			resp.Error = argumentError(0, err)
			return
		}
	}
	setTree(ctx, resp, found.byID)
}

// manifestIndex gathers manifests by id and remembers where each was found.
type manifestIndex struct {
	byID   map[string]any
	places map[string]string
}

// addText adds every manifest of a text; its number in the list, like that of a manifest in it, counts from 1.
func (m manifestIndex) addText(number int, text types.String) error {
	if text.IsNull() {
		return fmt.Errorf("text %d is null; leave it out, for example with compact()", number)
	}
	manifests, err := federation.DecodeAll(text.ValueString())
	if err != nil {
		return fmt.Errorf("text %d: %s", number, errorText(err))
	}
	for i, manifest := range manifests {
		place := fmt.Sprintf("manifest %d of text %d", i+1, number)
		if len(manifests) == 1 {
			place = fmt.Sprintf("text %d", number)
		}
		if err := m.add(place, manifest); err != nil {
			return err
		}
	}
	return nil
}

func (m manifestIndex) add(place string, manifest map[string]any) error {
	_, id, err := federation.Identify(manifest)
	if err != nil {
		return fmt.Errorf("%s: %s", place, errorText(err))
	}
	key := id.String()
	if first, there := m.places[key]; there {
		return fmt.Errorf("%s is declared twice: in %s and in %s. Remove one (texts and manifests count from 1, "+
			"the items of a List count as manifests)", key, first, place)
	}
	m.byID[key], m.places[key] = manifest, place
	return nil
}
