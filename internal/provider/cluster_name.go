package provider

import (
	"context"
	"fmt"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// dnsLabel is the shape of a DNS label (RFC 1123), which is what the name of a member has to be: it becomes a part of DNS names.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

const maxLabel = 63

// invalidClusterName says what is wrong with the name of a member; "" if nothing is.
func invalidClusterName(name string) string {
	if len(name) <= maxLabel && dnsLabel.MatchString(name) {
		return ""
	}
	return fmt.Sprintf("%q is not a DNS label: at most 63 characters, lower-case letters, digits and `-`, with a letter or digit at both ends.", name)
}

// clusterName validates the name of a member.
type clusterName struct{}

func (clusterName) Description(context.Context) string               { return "a DNS label" }
func (v clusterName) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (clusterName) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if message := invalidClusterName(req.ConfigValue.ValueString()); message != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid member name", message)
	}
}
