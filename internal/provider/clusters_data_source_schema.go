package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const clustersDescription = "The members of the federation as they are at this moment: those of the provider block, those registered on the host, and those that this run joins."

func clustersSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: clustersDescription,
		Attributes: map[string]schema.Attribute{
			// Optional
			"cluster_selector": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Only members whose labels match; `{}`, and leaving it out, is all. Besides its own labels every member carries `kubernetes.io/metadata.name` (its name), " +
					"`topology.kubernetes.io/region` and `topology.kubernetes.io/zone`.",
				Attributes: map[string]schema.Attribute{
					"match_labels": schema.MapAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Labels that a member must have, with these values.",
					},
					"match_expressions": schema.ListNestedAttribute{
						Optional:            true,
						MarkdownDescription: "Conditions that must all hold.",
						Validators:          noNullItems(),
						NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
							"key":      schema.StringAttribute{Required: true, MarkdownDescription: "Label key."},
							"operator": schema.StringAttribute{Required: true, MarkdownDescription: "`In`, `NotIn`, `Exists` or `DoesNotExist`."},
							"values":   schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Values for `In` and `NotIn`."},
						}},
					},
				},
			},

			// Computed
			"names": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Names of the members, sorted.",
			},
			"clusters": schema.MapNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Name → what the member is like.",
				NestedObject:        schema.NestedAttributeObject{Attributes: reportAttributes()},
			},
		},
	}
}

func reportAttributes() map[string]schema.Attribute {
	capacity := func(description string) schema.Attribute {
		return schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: description + " Null where it is not known: the member does not answer, or nodes and pods may not be listed.",
			Attributes: map[string]schema.Attribute{
				"cpu":    schema.StringAttribute{Computed: true, MarkdownDescription: "Cores, as Kubernetes writes quantities: `4`, `1500m`."},
				"memory": schema.StringAttribute{Computed: true, MarkdownDescription: "Bytes, as Kubernetes writes quantities: `32Gi`."},
				"pods":   schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of pods."},
			},
		}
	}
	return map[string]schema.Attribute{
		"labels":             schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Its own labels."},
		"region":             schema.StringAttribute{Computed: true, MarkdownDescription: "Its region: the user's or, where none is given, that of its nodes; null if neither is known."},
		"zones":              schema.SetAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Its zones, likewise."},
		"availability":       schema.StringAttribute{Computed: true, MarkdownDescription: "`active`, `cordoned`, `draining` or `offline`."},
		"ready":              schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it answers."},
		"reason":             schema.StringAttribute{Computed: true, MarkdownDescription: "Why it is not ready; null if it is."},
		"kubernetes_version": schema.StringAttribute{Computed: true, MarkdownDescription: "Its version of Kubernetes, such as `v1.37.2`."},
		"allocatable":        capacity("What its nodes that take pods offer."),
		"free":               capacity("What of that no pod has asked for."),
	}
}
