package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const federatedDescription = "One Kubernetes object on many clusters: a template, the members it goes to, and what is different on some of them.\n\n" +
	"The plan shows what each member will get, after each member's API server has said yes to it (dry run). What others change in the fields of the " +
	"template is found by the next plan, which names member and field, and is mended by the apply. Fields that the template does not name are left to others."

func federatedSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: federatedDescription,
		Attributes: map[string]schema.Attribute{
			// Required
			"template": schema.DynamicAttribute{
				Required: true,
				MarkdownDescription: "What every member gets: one object, written in HCL, or the JSON or YAML text of one document. Text (`file(\"web.yaml\")`) is read as `kubectl` " +
					"reads it, `0400` as octal, which `yamldecode` reads as 400, and is many times cheaper when large; an HCL object keeps the rest known when one value in it is unknown. Another group, kind, namespace or name " +
					"replaces the object; another version of its API does not. It is in the state as written, a Secret's data too: encrypt the state.",
			},
			"placement": placementAttribute(),

			// Optional
			"default_namespace": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("default"),
				MarkdownDescription: "Namespace for a namespaced kind whose template names none; ignored for others. Default `default`.",
				Validators:          notEmpty(),
			},
			"overrides": overridesAttribute(),
			"replicas": schema.MapAttribute{
				Optional: true, ElementType: types.NumberType,
				MarkdownDescription: "Replicas per member, in short: `spec.replicas` after all overrides. `\"*\"` stands for every member without an entry of its own.",
				Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.ValueNumbersAre(count)},
			},
			"sensitive_fields": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "JSON pointers of fields whose values are never shown in computed attributes or messages, such as `/data/password`. The data of a Secret always is one. " +
					"Terraform does not tell a provider which values are sensitive: name here what you mark as `sensitive` and put into another kind. The template is in the state all the same.",
			},
			"policy":   resourcePolicy(),
			"rollout":  rolloutAttribute(),
			"wait":     waitAttribute(),
			"deletion": deletionAttribute(),

			// Computed
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Group, kind, namespace and name: `apps/Deployment/default/nginx`, `core/Namespace/team`. Never the version.",
			},
			"target": schema.SingleNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The object, for other resources to refer to.",
				Attributes: map[string]schema.Attribute{
					"api_version": schema.StringAttribute{Computed: true, MarkdownDescription: "Its API version, such as `apps/v1`."},
					"kind":        schema.StringAttribute{Computed: true, MarkdownDescription: "Its kind."},
					"namespace":   schema.StringAttribute{Computed: true, MarkdownDescription: "Its namespace; null for a cluster-scoped kind."},
					"name":        schema.StringAttribute{Computed: true, MarkdownDescription: "Its name."},
				},
			},
			"placed_clusters": schema.SetAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The members that get the object; known at plan.",
			},
			"pending_clusters": schema.SetAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The members on which what shall be is not yet. A `postcondition` that asks for none lets a run fail without tainting the resource.",
			},
			"versions": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Member → hash of what shall be there (`v1:…`); known at plan, but for a Secret that is being created.",
			},
			"differences": schema.MapAttribute{
				Computed: true, ElementType: types.MapType{ElemType: types.StringType},
				MarkdownDescription: "Member → JSON pointer → JSON value: where a member deviates from the template, by override and, after a refresh, by drift. A path that is absent on " +
					"one side is `null`; masked values read `(sensitive)`, drifted ones `(sensitive, changed)`.",
			},
			"messages": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Member → why, only where something is not well.",
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeoutsBlock(ctx),
		},
	}
}

// timeoutsBlock is the framework's, which takes any duration: here one is above zero.
func timeoutsBlock(ctx context.Context) schema.Block {
	block := timeouts.Block(ctx, timeouts.Opts{
		Create: true, Update: true, Delete: true,
		CreateDescription: "How long a creation may take in all, such as `10m`. Default `30m`.",
		UpdateDescription: "How long an update may take in all. Default `30m`.",
		DeleteDescription: "How long a deletion may take in all, with the wait until every object is gone. Default `30m`.",
	})
	if nested, ok := block.(schema.SingleNestedBlock); ok {
		for name, attribute := range nested.Attributes {
			if text, ok := attribute.(schema.StringAttribute); ok {
				text.Validators = []validator.String{positiveDuration{}}
				nested.Attributes[name] = text
			}
		}
	}
	return block
}

func placementAttribute() schema.Attribute {
	attributes := selectionAttributes()
	attributes["exclude"] = schema.SetAttribute{
		Optional: true, ElementType: types.StringType,
		MarkdownDescription: "With a selector: members that do not get the object although the selector chooses them.",
	}
	return schema.SingleNestedAttribute{
		Required: true,
		MarkdownDescription: "Which members get the object: `clusters` (names) or `cluster_selector` (labels), exactly one of them. A member that leaves the placement loses the object. " +
			"Where a selector, or a name written as text, means members that this configuration joins, add `depends_on = [kubefed_cluster.…]`.",
		Attributes: attributes,
	}
}

// selectionAttributes choose members by name or by label.
func selectionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"clusters": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Names of members; `[]` is none.",
		},
		"cluster_selector": schema.SingleNestedAttribute{
			Optional: true,
			MarkdownDescription: "Members by label; `{}` is all, and so is a misspelt `match_labels`, which Terraform drops without a word: `placed_clusters` in the plan says who is chosen. Besides its own labels every member carries `kubernetes.io/metadata.name` (its name), `topology.kubernetes.io/region` and " +
				"`topology.kubernetes.io/zone`.",
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
						"values": schema.SetAttribute{
							Optional: true, ElementType: types.StringType,
							MarkdownDescription: "Values for `In` and `NotIn`.",
						},
					}},
				},
			},
		},
	}
}

func resourcePolicy() schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for _, a := range policyAttributes {
		attributes[a.name] = schema.StringAttribute{Optional: true, MarkdownDescription: a.description, Validators: a.validators()}
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "What to do where the world is not as the plan wants it. What is not set comes from the provider's `policy`, then from the default (the first value each). " +
			"At least one attribute must be set.",
		Attributes: attributes,
		Validators: []validator.Object{setsSomething{}},
	}
}

func rolloutAttribute() schema.Attribute {
	group := selectionAttributes()
	group["name"] = schema.StringAttribute{Optional: true, MarkdownDescription: "Name of the group, for messages.", Validators: notEmpty()}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "The order in which members are brought up to date: those of each group, then those in none. A group begins when all members before it are done: written, ready as with `wait = { ready = true }`, " +
			"and still ready after `min_ready_time`. A rollout that stops leaves the members after it as they are, and the next apply resumes at the first that is not up to date. Members that leave the placement lose the object last, in the same order. " +
			"Set `timeouts` to what the whole takes. At least one attribute must be set. Default: all members at once.",
		Validators: []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"groups": schema.ListNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Groups of members, in order; each has exactly one of `clusters` and `cluster_selector`. A member is in one group at most; one in none comes last.",
				Validators:          noNullItems(),
				NestedObject:        schema.NestedAttributeObject{Attributes: group},
			},
			"max_concurrency": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How many members of a group are under way at once: a number, or a percentage of the group, rounded up. Default `100%`.",
				Validators:          []validator.String{memberAmount},
			},
			"max_failures": schema.NumberAttribute{
				Optional: true,
				MarkdownDescription: "How many members may fail, in all groups together, before no further one is begun: by a refused write, or by not being ready in time. Default 0. " +
					"Those that fail are pending, and are tried again by the next apply.",
				Validators: []validator.Number{count},
			},
			"min_ready_time": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long an object must have been ready, such as `5m`, before its member is done; counted from the write or the last change to ready, whichever is later. Default: no time.",
				Validators:          []validator.String{positiveDuration{}},
			},
		},
	}
}

func waitAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "When a member is done with, beside that the object is written. One that is not ready in time is pending: a creation keeps it, with a warning; an update ends in an error. The next apply waits for it again. " +
			"At least one attribute must be set. Default: nothing is waited for.",
		Validators: []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"ready": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Wait until the object's status says that it is as its spec says: all replicas of the new version are available, a volume claim is bound, a custom resource has its condition `Ready` (kstatus). " +
					"A Job is ready when it has started; wait for its condition `Complete` instead. What can never get ready by itself, such as a Deployment past its progress deadline, is told at once. Default `false`.",
			},
			"conditions": schema.ListNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Conditions in the object's status that must all hold, for its present generation.",
				Validators:          append(noNullItems(), listvalidator.SizeAtLeast(1)),
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"type": schema.StringAttribute{Required: true, MarkdownDescription: "Type of the condition, such as `Ready`.", Validators: notEmpty()},
					"status": schema.StringAttribute{
						Optional: true, MarkdownDescription: "Its status: `True` (default), `False` or `Unknown`.",
						Validators: []validator.String{stringvalidator.OneOf("True", "False", "Unknown")},
					},
				}},
			},
			"timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long each member may take to get ready after it was written, such as `90s`. Default `10m`.",
				Validators:          []validator.String{positiveDuration{}},
			},
		},
	}
}

func deletionAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "How the object leaves a member: on destroy, and when the member leaves the placement. At least one attribute must be set.",
		Validators:          []validator.Object{setsSomething{}},
		Attributes: map[string]schema.Attribute{
			"policy": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "`delete` (default), or `orphan`: the object stays, and nothing of it is ours any more.",
				Validators:          []validator.String{stringvalidator.OneOf("delete", "orphan")},
			},
			"propagation": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "What becomes of the objects it owns: `Foreground` (default), `Background` or `Orphan`, as in Kubernetes.",
				Validators:          []validator.String{stringvalidator.OneOf("Foreground", "Background", "Orphan")},
			},
			"grace_period_seconds": schema.NumberAttribute{
				Optional:            true,
				MarkdownDescription: "Grace period; default is the kind's own.",
				Validators:          []validator.Number{count},
			},
			"protection": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Refuse to destroy or replace the object while others have something in it (objects in a Namespace, custom resources of a " +
					"CustomResourceDefinition). When only a member leaves the placement, such an object is released and left there. What this configuration has in it goes with it. Default `true` for these two kinds.",
			},
		},
	}
}

func overridesAttribute() schema.Attribute {
	attributes := selectionAttributes()
	for name, attribute := range overrideChanges() {
		attributes[name] = attribute
	}
	return schema.ListNestedAttribute{
		Optional:   true,
		Validators: noNullItems(),
		MarkdownDescription: "What some members get otherwise than the template says, in list order. Each entry has exactly one of `clusters` and `cluster_selector`, and at least one change; " +
			"within an entry the changes run in the order of this list: `json_patch`, `merge_patch`, `images`, `labels`, `annotations`, `env`, `args`, `embedded`. " +
			"Group, kind, namespace and name cannot be changed.",
		NestedObject: schema.NestedAttributeObject{Attributes: attributes},
	}
}

func overrideChanges() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	needed := func(description string) schema.Attribute {
		return schema.StringAttribute{Required: true, MarkdownDescription: description}
	}
	list := func(description string) schema.Attribute {
		return schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	stringMap := func(description string) schema.Attribute {
		return schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	nested := func(description string, attributes map[string]schema.Attribute) schema.Attribute {
		return schema.ListNestedAttribute{Optional: true, MarkdownDescription: description, Validators: noNullItems(), NestedObject: schema.NestedAttributeObject{Attributes: attributes}}
	}
	const container = "Name of the container, or `*` for all of them."
	return map[string]schema.Attribute{
		"json_patch": text("RFC 6902 as JSON or YAML text (`jsonencode([{op = \"replace\", path = \"/spec/replicas\", value = 5}])`). `op` defaults to `replace`. A slash in a key is " +
			"written `~1`, a tilde `~0`; `/-` appends to a list."),
		"merge_patch": text("RFC 7386 as JSON or YAML text: maps are merged, everything else is replaced, null removes."),
		"images": nested("Image references by part. The first part of a reference is a registry if it has a dot or a colon, or is `localhost`; so `team/app` has none.", map[string]schema.Attribute{
			"container":  needed(container),
			"registry":   text("Registry; `\"\"` removes it."),
			"repository": text("Repository, without the registry."),
			"tag":        text("Tag. With an image that has a digest, set `digest` too."),
			"digest":     text("Digest, such as `sha256:…`; `\"\"` removes it."),
		}),
		"labels":      stringMap("Labels to set on the object."),
		"annotations": stringMap("Annotations to set on the object."),
		"env": nested("Environment variables to set; one of the same name is replaced where it stands.", map[string]schema.Attribute{
			"container": needed(container), "name": needed("Name of the variable."), "value": needed("Its value."),
		}),
		"args": nested("Arguments to remove (exact matches) and then to add at the end.", map[string]schema.Attribute{
			"container": needed(container), "add": list("Arguments to add."), "remove": list("Arguments to remove."),
		}),
		"embedded": nested("Changes inside text, such as a file in a ConfigMap key.", map[string]schema.Attribute{
			"path":        needed("JSON pointer of the text, such as `/data/config.yaml`."),
			"format":      text("`yaml` (default) or `json`: how the text is read, and written again."),
			"json_patch":  text("RFC 6902, inside the text."),
			"merge_patch": text("RFC 7386, inside the text."),
		}),
	}
}

// setsSomething refuses an object that sets nothing: Terraform drops misspelt attributes without a word, so this catches the case in which
// the only attribute is misspelt.
type setsSomething struct{}

func (setsSomething) Description(context.Context) string {
	return "at least one attribute must be set"
}
func (v setsSomething) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (setsSomething) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	for _, value := range req.ConfigValue.Attributes() {
		if !value.IsNull() {
			return
		}
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Empty object", "Set at least one attribute. Is one misspelt? Terraform leaves out attributes that it does not know without a word.")
}
