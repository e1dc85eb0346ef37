package tfvalue_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"pgregory.net/rapid"

	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

func TestValueOfEveryType(t *testing.T) {
	for name, c := range map[string]struct {
		tree any
		want attr.Value
	}{
		"null":          {nil, types.DynamicNull()},
		"string":        {"x", str("x")},
		"bool":          {false, types.BoolValue(false)},
		"integer":       {int64(9007199254740993), number("9007199254740993")},
		"fraction":      {0.1, number("0.1")},
		"large":         {1e300, number("1e300")},
		"object":        {map[string]any{"a": "x", "n": nil}, object(values{"a": str("x"), "n": types.DynamicNull()})},
		"empty object":  {map[string]any{}, object(values{})},
		"list":          {[]any{"x", int64(1), nil}, tuple(str("x"), integer(1), types.DynamicNull())},
		"empty list":    {[]any{}, tuple()},
		"list of lists": {[]any{[]any{true}}, tuple(tuple(types.BoolValue(true)))},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tfvalue.Value(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestValueRefusesWhatIsNotJSON(t *testing.T) {
	for name, bad := range map[string]any{
		"int":          1,
		"infinite":     math.Inf(1),
		"not a number": math.NaN(),
		"channel":      make(chan int),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tfvalue.Value(map[string]any{"a": []any{"x", bad}})
			var at *tfvalue.PathError
			if !errors.As(err, &at) {
				t.Fatalf("got error %v, want a *PathError", err)
			}
			if diff := cmp.Diff([]string{"a", "1"}, at.Path); diff != "" {
				t.Errorf("path (-want +got):\n%s", diff)
			}
		})
	}
}

// anyTree draws a JSON tree of at most depth levels.
func anyTree(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.String().AsAny(),
		rapid.Bool().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return f != math.Trunc(f) }).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	below := anyTree(depth - 1)
	return rapid.OneOf(append(scalars,
		rapid.SliceOfN(below, 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), below, 0, 4).AsAny())...)
}

func TestValueAndTreeAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := anyTree(4).Draw(t, "tree")
		v, err := tfvalue.Value(tree)
		if err != nil {
			t.Fatal(err)
		}
		back, unknown, err := tfvalue.Tree(v)
		if err != nil || unknown != nil {
			t.Fatalf("unknown %v, error %v", unknown, err)
		}
		if diff := cmp.Diff(tree, back); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// What a value looks like after it has been to Terraform and back is what counts in the end.
func TestValueSurvivesTheFrameworksOwnConversion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := anyTree(3).Draw(t, "tree")
		v, err := tfvalue.Value(tree)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := types.DynamicValue(v).ToTerraformValue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again, err := types.DynamicType.ValueFromTerraform(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := tfvalue.Tree(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree, back); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
