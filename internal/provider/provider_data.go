package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// fleetOf takes the fleet out of what Configure has left for resources and data sources; nil before that.
func fleetOf(data any, who string) (*fleet.Fleet, diag.Diagnostics) {
	var diags diag.Diagnostics
	if data == nil {
		return nil, nil
	}
	configured, ok := data.(*fleet.Fleet)
	if !ok {
		diags.AddError("Unable to configure "+who, fmt.Sprintf("The provider has prepared %T for it. This is a bug in the provider.", data))
	}
	return configured, diags
}
