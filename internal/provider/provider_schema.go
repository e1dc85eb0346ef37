package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const providerDescription = "Kubernetes Cluster Federation with Terraform as its control loop: one template goes to many clusters, with placement and overrides " +
	"computed in the plan.\n\nAt least one of `host_cluster` and `member_clusters` is needed. No connection is ever taken from elsewhere: not from `$KUBECONFIG`, " +
	"not from localhost, not from the service account of a pod."

func providerSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: providerDescription,
		Attributes: map[string]schema.Attribute{
			// Required
			"owner": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Readable name of this configuration, such as `payments/shop`. It is recorded on every object, so that it can be told whose an object is, also " +
					"when a run was killed before its state was written. Every configuration needs its own, and keeps it. When it changes, the objects in the state get the new owner in " +
					"place with the next apply, and a `kubefed_cluster` with its next change, before which it cannot be destroyed; what is not in the state stays the former owner's.",
				Validators: []validator.String{ownerName},
			},

			// Optional
			"host_cluster": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "How to reach the cluster that keeps the registry of members (KubeFedCluster objects). May be left out when all members are in " +
					"`member_clusters`.",
				Attributes: providerConnection(nil),
			},
			"namespace": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Namespace of the registry on the host cluster, and of the accounts on the members that join it. Default `kube-federation-system`.",
				Validators:          []validator.String{namespaceName},
			},
			"member_clusters": schema.MapNestedAttribute{
				Optional: true,
				MarkdownDescription: "Members known without a registry, by name. Those that the host cluster has registered are joined with them; a name in both is an error. " +
					"Each member is a connection, and what selectors may ask for.",
				NestedObject: schema.NestedAttributeObject{Attributes: providerConnection(memberAttributes())},
			},
			"config_path": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Kubeconfig for every connection, here and in resources, that gives `config_context` and no `config_path`.",
				Validators:          notEmpty(),
			},
			"field_manager": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Name under which objects are applied to the members (server-side apply). Default `terraform-kubefed`. Keep it: under another name the fields written before stay.",
				Validators:          []validator.String{managerName},
			},
			"impersonate": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Act on the members as somebody else. Not on the host cluster, and not while joining a cluster.",
				Attributes: map[string]schema.Attribute{
					"user":   schema.StringAttribute{Required: true, MarkdownDescription: "User to act as.", Validators: []validator.String{identityName}},
					"groups": schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Groups to act as a member of. Default: none.", Validators: []validator.List{listvalidator.ValueStringsAre(identityName)}},
				},
			},
			"policy":       providerPolicy(),
			"health_check": healthCheckAttribute(),
			"client":       clientAttribute(),
		},
	}
}

func memberAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Labels for selectors."},
		"region": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Region, for selectors (`topology.kubernetes.io/region`). Default: what the nodes' labels say.",
			Validators:          []validator.String{placeName},
		},
		"zones": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Zones, for selectors (`topology.kubernetes.io/zone`). Default: what the nodes' labels say.",
			Validators:          []validator.Set{setvalidator.ValueStringsAre(placeName)},
		},
		"availability": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: availabilityDescription,
			Validators:          []validator.String{stringvalidator.OneOf("active", "cordoned", "draining", "offline")},
		},
	}
}

const availabilityDescription = "`active` (default); `cordoned`: selectors place nothing new there (a placement by name still does); `draining`: selector placements leave it; `offline`: nobody dials it, as if it were down."

func providerPolicy() schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for _, a := range policyAttributes {
		attributes[a.name] = schema.StringAttribute{Optional: true, MarkdownDescription: a.description, Validators: a.validators()}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "What to do where the world is not as the plan wants it; for every resource that does not say it itself.",
		Validators:          []validator.Object{setsSomething{}},
		Attributes:          attributes,
	}
}

func healthCheckAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "How often, and how long, a cluster is asked before it counts as down.",
		Validators:          []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"attempts": schema.NumberAttribute{
				Optional:            true,
				MarkdownDescription: "Attempts before a cluster counts as down. Default 3.",
				Validators:          []validator.Number{numberBetween{1, 100, true}},
			},
			"timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long one attempt may take, such as `500ms` or `3s`. Default `3s`.",
				Validators:          []validator.String{positiveDuration{}},
			},
			"interval": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Time from the start of one attempt to the start of the next; an attempt that takes longer is followed at once. Default `1s`.",
				Validators:          []validator.String{positiveDuration{}},
			},
		},
	}
}

func clientAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "How the clusters are spoken to.",
		Validators:          []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"max_parallel_members": schema.NumberAttribute{
				Optional:            true,
				MarkdownDescription: "How many members are worked on at once, for each resource. Default 16.",
				Validators:          []validator.Number{numberBetween{1, 10_000, true}},
			},
			"qps": schema.NumberAttribute{
				Optional:            true,
				MarkdownDescription: "Requests per second and cluster. Default: no limit; an API server protects itself, and its answer to slow down is heeded.",
				Validators:          []validator.Number{numberBetween{0.1, 1_000_000, false}},
			},
			"request_timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long one request may take, such as `30s`. Default `30s`.",
				Validators:          []validator.String{positiveDuration{}},
			},
		},
	}
}
