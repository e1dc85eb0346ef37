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
