package tfvalue

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// Tree converts a Terraform value (dynamic, object, map, list, tuple, set, string, number, bool; null at any place) to a JSON tree.
//
// What is unknown is not in the tree. A map or object lacks the entry; a list, tuple or set with an unknown element is left out
// as a whole, because leaving out the element alone would move the others. The JSON pointers of the parts left out are returned
// in unknown, sorted; "" stands for the whole value, and then tree is nil. A value is wholly known when unknown is empty.
//
// Null is nil in the tree, in maps and in lists. Integers of 64 bits become int64 and stay exact. Other numbers become float64
// if that has the very value written in decimal, else the conversion fails: silently sending another number than the user wrote
// is worse than an error. Errors are *PathError, or several of them joined.
func Tree(v attr.Value) (tree any, unknown []string, err error) {
	w := walker{trail: make(trail, 0, 16)}
	tree, _ = w.value(v)
	slices.Sort(w.unknown)
	if err := joined(w.problems); err != nil {
		return nil, w.unknown, err
	}
	return tree, w.unknown, nil
}

// walker carries what a walk through a Terraform value finds.
type walker struct {
	trail    trail
	unknown  []string
	problems []*PathError
}

// value converts v. The second result is false when v is left out because it, or an element it cannot do without, is unknown.
func (w *walker) value(v attr.Value) (any, bool) {
	if v == nil || v.IsNull() {
		return nil, true
	}
	if v.IsUnknown() {
		return w.leaveOut()
	}
	switch v := v.(type) {
	case basetypes.StringValue:
		return v.ValueString(), true
	case basetypes.ObjectValue:
		return w.fields(v.Attributes()), true
	case basetypes.TupleValue:
		return w.elements(v.Elements())
	case basetypes.BoolValue:
		return v.ValueBool(), true
	case basetypes.NumberValue:
		return w.number(v), true
	case basetypes.MapValue:
		return w.fields(v.Elements()), true
	case basetypes.ListValue:
		return w.elements(v.Elements())
	case basetypes.SetValue:
		return w.elements(v.Elements())
	case basetypes.DynamicValue:
		return w.value(v.UnderlyingValue())
	default:
		w.refuse(fmt.Sprintf("a value of type %T has no counterpart in JSON", v))
		return nil, true
	}
}

func (w *walker) fields(in map[string]attr.Value) map[string]any {
	out := make(map[string]any, len(in))
	for key, v := range in {
		w.trail.enterKey(key)
		if tree, known := w.value(v); known {
			out[key] = tree
		}
		w.trail.leave()
	}
	return out
}

func (w *walker) elements(in []attr.Value) (any, bool) {
	out := make([]any, len(in))
	before := len(w.unknown)
	for i, v := range in {
		w.trail.enterIndex(i)
		tree, known := w.value(v)
		w.trail.leave()
		if !known {
			// What was noted inside the list is part of what is left out now.
			w.unknown = w.unknown[:before]
			return w.leaveOut()
		}
		out[i] = tree
	}
	return out, true
}

func (w *walker) number(v basetypes.NumberValue) any {
	number, err := fromBig(v.ValueBigFloat())
	if err != nil {
		w.refuse(err.Error())
	}
	return number
}

func (w *walker) leaveOut() (any, bool) {
	w.unknown = append(w.unknown, pointer(w.trail.path()))
	return nil, false
}

func (w *walker) refuse(reason string) {
	w.problems = append(w.problems, &PathError{Path: w.trail.path(), Reason: reason})
}
