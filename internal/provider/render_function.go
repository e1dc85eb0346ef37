package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

var _ function.Function = renderFunction{}

// Positions of the arguments of render, for errors.
const (
	renderTemplate int64 = iota
	renderOverrides
	renderCluster
	renderLabels
)

// renderFunction is provider::kubefed::render.
type renderFunction struct{}

// NewRenderFunction returns the function render: what a member would get of a template with overrides.
func NewRenderFunction() function.Function { return renderFunction{} }

func (renderFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "render"
}

func (renderFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Show what a member cluster would get of a template with overrides",
		MarkdownDescription: "Returns the object that a member would get of a `kubefed_federated_resource` with this `template` and these " +
			"`overrides`. It asks no cluster, so it can be used in `terraform test`, in `terraform console` and in checks.\n\n" +
			"Overrides apply in list order if they choose the member. Nulls are dropped, `stringData` of a Secret is turned into " +
			"`data`, and fields that belong to the server are left out. A namespace is not filled in: whether a kind has one, only a " +
			"cluster can say; for the same reason `status` is kept as written.",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name:                "template",
				MarkdownDescription: "The template: an object, or JSON or YAML text of one manifest.",
			},
			function.DynamicParameter{
				Name:           "overrides",
				AllowNullValue: true,
				MarkdownDescription: "A list of objects as in `overrides` of `kubefed_federated_resource`; `null` or `[]` for none. Here, " +
					"unlike there, an attribute name that does not exist is an error.",
			},
			function.StringParameter{
				Name:                "cluster",
				MarkdownDescription: "Name of the member.",
			},
			function.MapParameter{
				Name:           "labels",
				ElementType:    types.StringType,
				AllowNullValue: true,
				MarkdownDescription: "Labels of the member, for overrides with a `cluster_selector`; `null` or `{}` for none. Its name is " +
					"added as `kubernetes.io/metadata.name`; region and zone are what the labels `topology.kubernetes.io/region` and " +
					"`topology.kubernetes.io/zone` say.",
			},
		},
		Return: function.DynamicReturn{},
	}
}

func (renderFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var template, overrides types.Dynamic
	var cluster string
	var labels types.Map
	if resp.Error = req.Arguments.Get(ctx, &template, &overrides, &cluster, &labels); resp.Error != nil {
		return
	}
	manifest, manifestKnown, funcErr := manifestArgument(renderTemplate, template)
	if funcErr != nil {
		resp.Error = funcErr
		return
	}
	entries, entriesKnown, funcErr := overridesArgument(renderOverrides, overrides)
	if funcErr != nil {
		resp.Error = funcErr
		return
	}
	member, memberKnown, funcErr := memberArguments(cluster, labels)
	if funcErr != nil {
		resp.Error = funcErr
		return
	}
	if !manifestKnown || !entriesKnown || !memberKnown {
		setUnknown(ctx, resp)
		return
	}
	rendered, _, _, err := federation.Render(manifest, entries, member)
	if err != nil {
		resp.Error = argumentError(renderOverrides, err)
		return
	}
	setTree(ctx, resp, rendered)
}

// manifestArgument reads a template, object or text, and brings it to the form in which it is rendered.
func manifestArgument(position int64, argument attr.Value) (manifest map[string]any, known bool, funcErr *function.FuncError) {
	tree, known, funcErr := argumentTree(position, argument)
	if funcErr != nil || !known {
		return nil, false, funcErr
	}
	var err error
	switch value := tree.(type) {
	case map[string]any:
		manifest = value
	case string:
		manifest, err = federation.DecodeOne(value)
	default:
		err = errors.New("a template is an object, or JSON or YAML text of one manifest, but this is " + typeName(tree))
	}
	if err == nil {
		manifest, _, err = federation.Normalize(manifest, federation.TemplateOptions{})
	}
	if err != nil {
		return nil, false, argumentError(position, err)
	}
	return manifest, true, nil
}

// overridesArgument reads and checks a list of overrides; null is none.
func overridesArgument(position int64, argument attr.Value) (overrides []federation.Override, known bool, funcErr *function.FuncError) {
	tree, known, funcErr := argumentTree(position, argument)
	if funcErr != nil || !known {
		return nil, false, funcErr
	}
	overrides, err := overridesFromTree(tree)
	if err != nil {
		return nil, false, argumentError(position, err)
	}
	var problems []error
	for i, override := range overrides {
		problems = append(problems, override.Validate(i))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, false, argumentError(position, err)
	}
	return overrides, true, nil
}

// memberArguments makes a member of its name and its labels.
func memberArguments(cluster string, labels types.Map) (member federation.Member, known bool, funcErr *function.FuncError) {
	if cluster == "" {
		return member, false, function.NewArgumentFuncError(renderCluster, "the name of a member is needed, but this is empty")
	}
	tree, known, funcErr := argumentTree(renderLabels, labels)
	if funcErr != nil || !known {
		return member, false, funcErr
	}
	root := rootNode(tree)
	member = federation.Member{Name: cluster, Labels: root.textMap()}
	if err := root.err(); err != nil {
		return member, false, argumentError(renderLabels, err)
	}
	return member, true, nil
}
