package provider

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// foreignKey refuses label and annotation keys that are the provider's own.
type foreignKey struct{}

func (foreignKey) Description(context.Context) string {
	return "no key that begins with terraform.kubefed.io/"
}
func (v foreignKey) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (foreignKey) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if strings.HasPrefix(req.ConfigValue.ValueString(), "terraform.kubefed.io/") {
		resp.Diagnostics.AddAttributeError(req.Path, "Reserved key", "Keys that begin with terraform.kubefed.io/ are written by the provider itself.")
	}
}

// listItem refuses what cannot be stored in a comma-separated annotation.
type listItem struct{}

func (listItem) Description(context.Context) string               { return "not empty, and without a comma" }
func (v listItem) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (listItem) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	text := req.ConfigValue.ValueString()
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() && (text == "" || strings.Contains(text, ",")) {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid zone", "A zone is not empty and has no comma in it.")
	}
}

// clusterNamespace validates the name of a namespace, which is a DNS label as the name of a member is.
type clusterNamespace struct{}

func (clusterNamespace) Description(context.Context) string               { return "a DNS label" }
func (v clusterNamespace) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (clusterNamespace) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if message := invalidClusterName(req.ConfigValue.ValueString()); message != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid namespace", message)
	}
}

// starAlone refuses "*" among other TLS checks: it is all of them.
type starAlone struct{}

func (starAlone) Description(context.Context) string               { return "`*` stands alone" }
func (v starAlone) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (starAlone) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	elements := req.ConfigValue.Elements()
	isStar := func(v attr.Value) bool { return v.Equal(types.StringValue("*")) }
	if len(elements) > 1 && slices.ContainsFunc(elements, isStar) {
		resp.Diagnostics.AddAttributeError(req.Path, "Contradictory TLS checks", "`*` leaves out all checks; it stands alone.")
	}
}
