package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const clusterDescription = "A member of the federation. Joining makes an account for the federation on the cluster and registers it on the host, as `kubefedctl join` does; destroying " +
	"takes both away again, for which the account's own rights are enough.\n\n" +
	"A `kubefed_cluster` is joined in the same run as what is placed on it, if that refers to it (`kubefed_cluster.eu.name`) or has `depends_on`. Give it " +
	"`lifecycle { create_before_destroy = true }` from the start, so that one that leaves gives up its objects before it is unjoined."

func clusterSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: clusterDescription,
		Attributes: map[string]schema.Attribute{
			// Required
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the member, a DNS label. Another name unjoins the cluster and joins it anew; with `create_before_destroy` that takes two applies (remove it, then add it), as a cluster has one name at a time.",
				Validators:          []validator.String{clusterName{}},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},

			// Optional
			"cluster_connection": schema.SingleNestedAttribute{
				Optional:  true,
				WriteOnly: true,
				MarkdownDescription: "How to reach the cluster with the rights of an administrator. Needed to join it, and to change what the join has made (`scope`, `token_rotation`, mending). It is never " +
					"stored and never a difference; reading and unjoining use the account that the join has made.",
				Attributes: resourceConnection(),
			},
			"api_endpoint": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Address of the API server to register, if the member is to be reached elsewhere than where the connection leads. Default: where it led when the cluster was joined.",
				Validators:          []validator.String{endpointURL},
			},
			"labels": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Labels of the KubeFedCluster, for selectors. Labels that others set there stay.",
				Validators:          []validator.Map{mapvalidator.KeysAre(foreignKey{})},
			},
			"annotations": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Annotations of the KubeFedCluster. Annotations that others set there stay.",
				Validators:          []validator.Map{mapvalidator.KeysAre(foreignKey{})},
			},
			"region": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Region, for selectors (`topology.kubernetes.io/region`). Default: what the nodes' labels say, which is not stored.",
				Validators:          []validator.String{placeName},
			},
			"zones": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Zones, for selectors (`topology.kubernetes.io/zone`). Default: what the nodes' labels say, which is not stored.",
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(placeName)},
			},
			"availability": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("active"),
				MarkdownDescription: availabilityDescription + " Respected by every configuration that uses the registry.",
				Validators:          []validator.String{stringvalidator.OneOf("active", "cordoned", "draining", "offline")},
			},
			"scope": scopeAttribute(),
			"disabled_tls_validations": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Checks of the API server's certificate that are left out when the member is reached: `*` (all; alone), `SubjectName`, `ValidityPeriod`. They work together with a proxy.",
				Validators:          []validator.List{listvalidator.SizeAtLeast(1), listvalidator.UniqueValues(), listvalidator.ValueStringsAre(stringvalidator.OneOf("*", "SubjectName", "ValidityPeriod")), starAlone{}},
			},
			"proxy_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Proxy to reach the member through: `http://`, `https://` or `socks5://`. The connection may have its own for joining.",
				Validators:          []validator.String{proxyAddress},
			},
			"token_rotation": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Any values; when one changes, the member gets a new token, the old one ends, and the certificate authority is recorded anew. Needs `cluster_connection`.",
			},
			"on_destroy": onDestroyAttribute(),

			// Computed
			"cluster_uid": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Identity of the cluster: the uid of its namespace kube-system or, with `scope.namespaces`, of the account's. A registered name that answers with another is not written to.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"secret_name": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Secret on the host that holds the member's token.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"service_account": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Account of the federation on the member, `namespace/name`. Known after apply when the join is about to be mended.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
		},
	}
}

func scopeAttribute() schema.Attribute {
	texts := func(description string) schema.Attribute {
		return schema.ListAttribute{
			Required: true, ElementType: types.StringType, MarkdownDescription: description,
			Validators: []validator.List{listvalidator.SizeAtLeast(1)},
		}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Limits what the federation may do on the member. Default: everything. A change needs `cluster_connection`.",
		Validators:          []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"namespaces": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Only in these namespaces of the member, which have to exist. Then nothing cluster-scoped can be federated to it.",
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(namespaceName)},
			},
			"rules": schema.ListNestedAttribute{
				Optional: true,
				MarkdownDescription: "RBAC rules instead of everything. What the federation needs for itself is added: to read the uid of a namespace, and to give up its own role. " +
					"Federated objects need `get`, `list`, `create`, `patch` and `delete`.",
				Validators: []validator.List{noNulls{}, listvalidator.SizeAtLeast(1)},
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"api_groups": texts("API groups; `\"\"` is the core group."),
					"resources":  texts("Resources in the plural, such as `deployments`."),
					"verbs":      texts("Verbs, such as `get`."),
				}},
			},
		},
	}
}

func onDestroyAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "What happens when the cluster is unjoined. It has to be applied before the destroy.",
		Validators:          []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"objects": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Federated objects are still on it: `error` (default) lists them by owner; `orphan` leaves them there, those of this configuration without its mark; " +
					"`delete` deletes those of this configuration, and others' remain an error.",
				Validators: []validator.String{stringvalidator.OneOf("error", "orphan", "delete")},
			},
			"unreachable": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "It does not answer: `error` (default), or `forget` it, with a warning that says what is left behind.",
				Validators:          []validator.String{stringvalidator.OneOf("error", "forget")},
			},
		},
	}
}
