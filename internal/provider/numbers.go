package provider

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// numberBetween validates a number. Attributes are numbers of any size and precision, as Terraform's are, because the framework calls one that
// does not fit into an int64 a bug of the provider before any validator sees it.
type numberBetween struct {
	min, max float64
	whole    bool
}

// count is a number of replicas or of seconds: what Kubernetes keeps in 32 bits.
var count = numberBetween{0, math.MaxInt32, true}

func (v numberBetween) Description(context.Context) string {
	kind := "number"
	if v.whole {
		kind = "whole number"
	}
	return fmt.Sprintf("a %s from %s to %s", kind, decimal(v.min), decimal(v.max))
}
func (v numberBetween) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v numberBetween) ValidateNumber(ctx context.Context, req validator.NumberRequest, resp *validator.NumberResponse) {
	resp.Diagnostics.Append(v.check(ctx, req.ConfigValue, req.Path)...)
}

// check says what is wrong with a number; a null or unknown one is none.
func (v numberBetween) check(ctx context.Context, value types.Number, at path.Path) diag.Diagnostics {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}
	n := value.ValueBigFloat()
	if n.Cmp(big.NewFloat(v.min)) >= 0 && n.Cmp(big.NewFloat(v.max)) <= 0 && (!v.whole || n.IsInt()) {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(pointable(at), "Invalid number", fmt.Sprintf("`%s` must be %s, but is %s.", at, v.Description(ctx), n.Text('g', -1)))}
}

func decimal(f float64) string { return big.NewFloat(f).Text('f', -1) }

// int64Of is the value of a number that numberBetween has found whole; fallback if it is null or unknown.
func int64Of(value types.Number, fallback int64) int64 {
	if value.IsNull() || value.IsUnknown() {
		return fallback
	}
	n, _ := value.ValueBigFloat().Int64()
	return n
}
