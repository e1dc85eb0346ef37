package provider

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// textRule validates text by a function that says what is wrong with it, "" if nothing is. The text itself is quoted by the function, where it
// may be shown.
type textRule struct {
	summary, rule string
	wrong         func(string) string
}

func (r textRule) Description(context.Context) string             { return r.rule }
func (r textRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (r textRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	resp.Diagnostics.Append(r.check(req.ConfigValue.ValueString(), req.Path)...)
}

// check says what is wrong with a text.
func (r textRule) check(text string, at path.Path) diag.Diagnostics {
	if why := r.wrong(text); why != "" {
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(pointable(at), r.summary, fmt.Sprintf("`%s`: %s", at, why))}
	}
	return nil
}

// maxOwner is what an owner's name may take: readable names are short, and it is on every object.
const maxOwner = 253

// maxManager is the limit that API servers have for the name of a field manager, in bytes.
const maxManager = 128

var (
	namespaceName = textRule{"Invalid namespace", "a DNS label", invalidClusterName}
	placeName     = textRule{"Invalid region or zone", "a label value", invalidPlace}
	endpointURL   = textRule{"Invalid address", "https://name:port", member.InvalidEndpoint}
	proxyAddress  = textRule{"Invalid proxy", "http, https or socks5", member.InvalidProxy}
	memberAmount  = textRule{"Invalid number of members", "a number or a percentage", invalidAmount}
	ownerName     = printable("Invalid owner", maxOwner)
	managerName   = printable("Invalid field manager", maxManager)
	identityName  = printable("Invalid identity", 0)
)

// invalidPlace: selectors see region and zones as labels.
func invalidPlace(text string) string {
	if text == "" {
		return "it is empty. Leave it out, or give it a value."
	}
	if why := registry.InvalidLabelValue(text); why != "" {
		return fmt.Sprintf("%q is no label value, which selectors need: %s.", text, why)
	}
	return ""
}

func invalidAmount(text string) string {
	if _, err := federation.ParseAmount(text); err != nil {
		return err.Error() + "."
	}
	return ""
}

// printable is text of one line that can be read, of so many bytes at most (0: any number).
func printable(summary string, most int) textRule {
	return textRule{summary, "one line of printable characters", func(text string) string {
		switch {
		case strings.TrimSpace(text) == "":
			return fmt.Sprintf("it must hold more than blanks (at least 1 character), but is %q.", text)
		case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fmt.Sprintf("%q has characters that cannot be printed, such as a line break.", text)
		case most > 0 && len(text) > most:
			return fmt.Sprintf("it has %d bytes; at most %d are possible.", len(text), most)
		}
		return ""
	}}
}
