package tfvalue_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

// Shorthands, so that a table reads like the configuration it stands for.
type (
	values map[string]attr.Value
	list   []attr.Value
)

func str(s string) attr.Value { return types.StringValue(s) }

func integer(n int64) attr.Value { return types.NumberValue(new(big.Float).SetInt64(n)) }

// number reads a number the way Terraform reads one in a configuration.
func number(text string) attr.Value {
	n, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return types.NumberValue(n)
}

func object(fields values) attr.Value {
	kinds := make(map[string]attr.Type, len(fields))
	for key, field := range fields {
		kinds[key] = typeOf(field)
	}
	return types.ObjectValueMust(kinds, fields)
}

func tuple(elements ...attr.Value) attr.Value {
	kinds := make([]attr.Type, len(elements))
	for i, element := range elements {
		kinds[i] = typeOf(element)
	}
	return types.TupleValueMust(kinds, elements)
}

func typeOf(v attr.Value) attr.Type {
	var noContext context.Context // Type takes one for custom types; those of the framework do not look at it.
	return v.Type(noContext)
}

type treeCase struct {
	in      attr.Value
	tree    any
	unknown []string
}

func checkTrees(t *testing.T, cases map[string]treeCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree, unknown, err := tfvalue.Tree(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.tree, tree); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.unknown, unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTreeOfEveryTypeKnown(t *testing.T) {
	checkTrees(t, map[string]treeCase{
		"string":       {in: str("web"), tree: "web"},
		"empty string": {in: str(""), tree: ""},
		"bool":         {in: types.BoolValue(true), tree: true},
		"false":        {in: types.BoolValue(false), tree: false},
		"number":       {in: integer(3), tree: int64(3)},
		"object":       {in: object(values{"a": str("x")}), tree: map[string]any{"a": "x"}},
		"empty object": {in: object(values{}), tree: map[string]any{}},
		"tuple":        {in: tuple(str("x"), integer(1)), tree: []any{"x", int64(1)}},
		"empty tuple":  {in: tuple(), tree: []any{}},
		"map":          {in: types.MapValueMust(types.StringType, values{"a": str("x")}), tree: map[string]any{"a": "x"}},
		"list":         {in: types.ListValueMust(types.StringType, list{str("x"), str("y")}), tree: []any{"x", "y"}},
		"empty list":   {in: types.ListValueMust(types.StringType, list{}), tree: []any{}},
		"set":          {in: types.SetValueMust(types.StringType, list{str("x")}), tree: []any{"x"}},
		"dynamic":      {in: types.DynamicValue(object(values{"a": str("x")})), tree: map[string]any{"a": "x"}},
		"nested": {
			in:   object(values{"spec": object(values{"ports": tuple(object(values{"port": integer(80)}))})}),
			tree: map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}},
		},
	})
}

func TestTreeKeepsNullAsNil(t *testing.T) {
	checkTrees(t, map[string]treeCase{
		"string":             {in: types.StringNull()},
		"bool":               {in: types.BoolNull()},
		"number":             {in: types.NumberNull()},
		"object":             {in: types.ObjectNull(map[string]attr.Type{"a": types.StringType})},
		"tuple":              {in: types.TupleNull([]attr.Type{types.StringType})},
		"map":                {in: types.MapNull(types.StringType)},
		"list":               {in: types.ListNull(types.StringType)},
		"set":                {in: types.SetNull(types.StringType)},
		"dynamic":            {in: types.DynamicNull()},
		"typed in dynamic":   {in: types.DynamicValue(types.StringNull())},
		"no value":           {in: nil},
		"entry of an object": {in: object(values{"a": types.StringNull()}), tree: map[string]any{"a": nil}},
		"untyped entry":      {in: object(values{"a": types.DynamicNull()}), tree: map[string]any{"a": nil}},
		"element of a list":  {in: tuple(str("x"), types.DynamicNull()), tree: []any{"x", nil}},
	})
}

func TestTreeLeavesUnknownOutAndListsIt(t *testing.T) {
	all := []string{""}
	checkTrees(t, map[string]treeCase{
		"string":             {in: types.StringUnknown(), unknown: all},
		"bool":               {in: types.BoolUnknown(), unknown: all},
		"number":             {in: types.NumberUnknown(), unknown: all},
		"object":             {in: types.ObjectUnknown(map[string]attr.Type{"a": types.StringType}), unknown: all},
		"tuple":              {in: types.TupleUnknown([]attr.Type{types.StringType}), unknown: all},
		"map":                {in: types.MapUnknown(types.StringType), unknown: all},
		"list":               {in: types.ListUnknown(types.StringType), unknown: all},
		"set":                {in: types.SetUnknown(types.StringType), unknown: all},
		"dynamic":            {in: types.DynamicUnknown(), unknown: all},
		"typed in dynamic":   {in: types.DynamicValue(types.StringUnknown()), unknown: all},
		"element of a root":  {in: tuple(str("x"), types.StringUnknown()), unknown: all},
		"entry of an object": {in: object(values{"a": types.StringUnknown(), "b": str("x")}), tree: map[string]any{"b": "x"}, unknown: []string{"/a"}},
		"several, sorted": {
			in:      object(values{"z": types.StringUnknown(), "a": types.DynamicUnknown(), "k": types.BoolUnknown()}),
			tree:    map[string]any{},
			unknown: []string{"/a", "/k", "/z"},
		},
		"a key with slash and tilde": {
			in:      object(values{"example.com/a~b": types.StringUnknown()}),
			tree:    map[string]any{},
			unknown: []string{"/example.com~1a~0b"},
		},
	})
}

func TestTreeLeavesListWithUnknownElementOutAsAWhole(t *testing.T) {
	unknown := types.StringUnknown()
	checkTrees(t, map[string]treeCase{
		"the last element": {
			in:      object(values{"args": tuple(str("x"), unknown), "b": str("y")}),
			tree:    map[string]any{"b": "y"},
			unknown: []string{"/args"},
		},
		"what was noted inside goes with it": {
			in:      object(values{"l": tuple(object(values{"a": unknown}), unknown)}),
			tree:    map[string]any{},
			unknown: []string{"/l"},
		},
		"a list in a list": {
			in:      object(values{"l": tuple(tuple(unknown), str("x"))}),
			tree:    map[string]any{},
			unknown: []string{"/l"},
		},
		"a map element keeps its place": {
			in:      object(values{"l": tuple(object(values{"name": str("web"), "image": unknown}), object(values{"name": str("log")}))}),
			tree:    map[string]any{"l": []any{map[string]any{"name": "web"}, map[string]any{"name": "log"}}},
			unknown: []string{"/l/0/image"},
		},
	})
}

func TestTreeNumbersAreExact(t *testing.T) {
	for text, want := range map[string]any{
		"0":                    int64(0),
		"-1":                   int64(-1),
		"30.0":                 int64(30),
		"1e3":                  int64(1000),
		"9007199254740993":     int64(9007199254740993),
		"9223372036854775807":  int64(9223372036854775807),
		"-9223372036854775808": int64(-9223372036854775808),
		"0.1":                  0.1,
		"1.10":                 1.1,
		"-2.5e-7":              -2.5e-7,
		"1e300":                1e300,
	} {
		t.Run(text, func(t *testing.T) {
			got, _, err := tfvalue.Tree(number(text))
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("got %T %v, want %T %v", got, got, want, want)
			}
		})
	}
}

func TestTreeKeepsAFloat64OfAnotherProvider(t *testing.T) {
	got, _, err := tfvalue.Tree(types.NumberValue(big.NewFloat(0.1)))
	if err != nil {
		t.Fatal(err)
	}
	if got != 0.1 {
		t.Errorf("got %v, want 0.1", got)
	}
}

func TestTreeRefusesNumbersThatWouldChange(t *testing.T) {
	third := new(big.Float).SetPrec(512).Quo(big.NewFloat(1), big.NewFloat(3))
	for name, n := range map[string]attr.Value{
		"integer beyond 64 bits":       number("9223372036854775808"),
		"unsigned 64 bits":             number("18446744073709551615"),
		"more digits than float64 has": number("0.12345678901234567890123"),
		"quotient":                     types.NumberValue(third),
		"beyond float64":               number("1e400"),
		"infinite":                     types.NumberValue(new(big.Float).SetInf(false)),
	} {
		t.Run(name, func(t *testing.T) {
			tree, _, err := tfvalue.Tree(object(values{"spec": tuple(integer(1), object(values{"n": n}))}))
			var at *tfvalue.PathError
			if !errors.As(err, &at) {
				t.Fatalf("got tree %v and error %v, want a *PathError", tree, err)
			}
			if diff := cmp.Diff([]string{"spec", "1", "n"}, at.Path); diff != "" {
				t.Errorf("path (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTreeErrorNamesPlaceNumberAndRemedy(t *testing.T) {
	_, _, err := tfvalue.Tree(object(values{"b": number("18446744073709551615"), "a": object(values{"x/y": number("1e400")})}))
	want := "/a/x~1y: number 1e+400 cannot be kept exactly (64 bits); round it, or write it as text\n" +
		"/b: number 18446744073709551615 cannot be kept exactly (64 bits); round it, or write it as text"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestTreeRefusesTypesWithoutCounterpart(t *testing.T) {
	_, _, err := tfvalue.Tree(types.Int64Value(1))
	var at *tfvalue.PathError
	if !errors.As(err, &at) || len(at.Path) != 0 {
		t.Errorf("got %v, want a *PathError at the root", err)
	}
}
