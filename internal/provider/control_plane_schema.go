package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const controlPlaneDescription = "What a host cluster needs to keep the registry of members: the provider's `namespace` and the kinds KubeFedCluster and FederatedTypeConfig, in KubeFed's " +
	"own shape. What is there already, on a host of KubeFed for instance, is used as it is. Destroying it removes what it has created, and is refused while a member is registered."

func controlPlaneSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: controlPlaneDescription,
		Attributes: map[string]schema.Attribute{
			// Computed
			"namespace": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Namespace of the registry on the host cluster: the provider's `namespace`, a change of which replaces the control plane.",
			},
			"crds": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Name of each CustomResourceDefinition → `created` by this resource, which removes it again, or `adopted`.",
			},
		},
	}
}
