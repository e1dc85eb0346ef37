package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// TestAnArgumentThatIsNotEncodedIsNull: OpenTofu sends null so.
func TestAnArgumentThatIsNotEncodedIsNull(t *testing.T) {
	t.Parallel()
	text := func(s string) *tfprotov6.DynamicValue {
		value, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, s))
		if err != nil {
			t.Fatal(err)
		}
		return &value
	}
	template, err := tfprotov6.NewDynamicValue(tftypes.DynamicPseudoType, tftypes.NewValue(tftypes.String, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, nothing := range []*tfprotov6.DynamicValue{nil, {}} {
		resp, err := kubefed.NewServer("test")().CallFunction(t.Context(), &tfprotov6.CallFunctionRequest{
			Name: "render", Arguments: []*tfprotov6.DynamicValue{&template, nothing, text("eu"), nothing},
		})
		if err != nil || resp.Error != nil || resp.Result == nil {
			t.Errorf("render with null overrides and labels gives %+v, %v", resp, err)
		}
	}
}
