package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// controlPlaneModel is a kubefed_control_plane.
type controlPlaneModel struct {
	Namespace types.String `tfsdk:"namespace"`
	CRDs      types.Map    `tfsdk:"crds"`
}

func controlPlaneModelOf(ctx context.Context, plane *registry.ControlPlane) (*controlPlaneModel, diag.Diagnostics) {
	crds, diags := types.MapValueFrom(ctx, types.StringType, plane.CRDs)
	return &controlPlaneModel{Namespace: types.StringValue(plane.Namespace), CRDs: crds}, diags
}

// complete reports whether nothing of the control plane was missing when it was last seen.
func (m *controlPlaneModel) complete() bool {
	there := m.CRDs.Elements()
	for _, name := range registry.CRDNames() {
		if _, ok := there[name]; !ok {
			return false
		}
	}
	return m.Namespace.ValueString() != ""
}

// elsewhere reports whether it is in another namespace than the provider has now, so that it is going to be replaced.
func (m *controlPlaneModel) elsewhere(members *registry.Registry) bool {
	namespace := m.Namespace.ValueString()
	return namespace != "" && namespace != members.Namespace()
}

func (r *controlPlaneResource) install(ctx context.Context) (*controlPlaneModel, diag.Diagnostics) {
	ctx, cancel := context.WithTimeout(ctx, controlPlaneTimeout)
	defer cancel()
	plane, err := r.fleet.Registry().InstallControlPlane(ctx)
	if err != nil {
		return nil, diag.Diagnostics{diag.NewErrorDiagnostic("Unable to install the control plane", fmt.Sprintf("%v. What was made so far is completed by the next apply.", err))}
	}
	return controlPlaneModelOf(ctx, plane)
}
