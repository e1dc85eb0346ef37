package tfvalue

import (
	"fmt"
	"math"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// Value converts a JSON tree to a Terraform value that a dynamic attribute or function result can hold: maps become objects,
// lists become tuples (their elements may differ in type), nil becomes a null of no type. Numbers keep their exact value;
// a float64 becomes the decimal number it is written as, so that 0.1 equals the 0.1 of a configuration.
//
// It fails with *PathError, or several of them joined, on what is not JSON: other Go types, infinite numbers, NaN.
func Value(tree any) (attr.Value, error) {
	b := builder{}
	v, _ := b.value(tree)
	if err := joined(b.problems); err != nil {
		return nil, err
	}
	return v, nil
}

// builder carries what the conversion of a tree finds.
type builder struct {
	trail    trail
	problems []*PathError
}

// value returns the value and its type; to ask a framework value for its type copies all the types below it.
func (b *builder) value(tree any) (attr.Value, attr.Type) {
	switch t := tree.(type) {
	case nil:
		return basetypes.NewDynamicNull(), basetypes.DynamicType{}
	case string:
		return basetypes.NewStringValue(t), basetypes.StringType{}
	case bool:
		return basetypes.NewBoolValue(t), basetypes.BoolType{}
	case int64:
		return basetypes.NewNumberValue(new(big.Float).SetInt64(t)), basetypes.NumberType{}
	case float64:
		return b.float(t)
	case map[string]any:
		return b.object(t)
	case []any:
		return b.tuple(t)
	default:
		return b.refuse(fmt.Sprintf("a value of type %T is not part of a JSON tree", tree))
	}
}

func (b *builder) float(f float64) (attr.Value, attr.Type) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return b.refuse(fmt.Sprintf("%v is not a number that JSON knows", f))
	}
	return basetypes.NewNumberValue(decimal(f)), basetypes.NumberType{}
}

func (b *builder) object(fields map[string]any) (attr.Value, attr.Type) {
	values := make(map[string]attr.Value, len(fields))
	kinds := make(map[string]attr.Type, len(fields))
	for key, field := range fields {
		b.trail.enterKey(key)
		values[key], kinds[key] = b.value(field)
		b.trail.leave()
	}
	object, diags := basetypes.NewObjectValue(kinds, values)
	if diags.HasError() {
		return b.refuse(diags.Errors()[0].Detail())
	}
	return object, basetypes.ObjectType{AttrTypes: kinds}
}

func (b *builder) tuple(elements []any) (attr.Value, attr.Type) {
	values := make([]attr.Value, len(elements))
	kinds := make([]attr.Type, len(elements))
	for i, element := range elements {
		b.trail.enterIndex(i)
		values[i], kinds[i] = b.value(element)
		b.trail.leave()
	}
	tuple, diags := basetypes.NewTupleValue(kinds, values)
	if diags.HasError() {
		return b.refuse(diags.Errors()[0].Detail())
	}
	return tuple, basetypes.TupleType{ElemTypes: kinds}
}

func (b *builder) refuse(reason string) (attr.Value, attr.Type) {
	b.problems = append(b.problems, &PathError{Path: b.trail.path(), Reason: reason})
	return basetypes.NewDynamicNull(), basetypes.DynamicType{}
}
