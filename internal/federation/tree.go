package federation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds how deep a tree may nest. The deepest real objects (CRD schemas) stay below 100; the bound keeps hostile input
// from costing stack and time.
const maxDepth = 1000

// trail is the way from the root to a value. It is built while walking and spelled out only when there is something to report.
type trail struct {
	parent *trail
	token  string
}

func (t *trail) at(token string) *trail { return &trail{parent: t, token: token} }

func (t *trail) index(i int) *trail { return &trail{parent: t, token: strconv.Itoa(i)} }

// steps lists the tokens from the root.
func (t *trail) steps() []string {
	var steps []string
	for ; t != nil && t.parent != nil; t = t.parent {
		steps = append(steps, t.token)
	}
	slices.Reverse(steps)
	return steps
}

func (t *trail) pointer() string { return pointerOf(t.steps()...) }

// copier makes a deep copy of a tree whose values are all of the types the package works on.
type copier struct {
	dropNulls bool
	deep      bool
	problems  []*InputError
}

func (c *copier) refuse(where *trail, summary, detail string) {
	c.problems = append(c.problems, &InputError{Path: where.steps(), Summary: summary, Detail: detail})
}

// err joins what was found, in the order of the paths: maps are walked in any order.
func (c *copier) err() error {
	slices.SortFunc(c.problems, func(a, b *InputError) int { return slices.Compare(a.Path, b.Path) })
	return joinFindings(c.problems)
}

// copyTree copies v, numbers brought to int64 and float64; nulls in maps and lists stay.
func copyTree(v any) (any, error) {
	c := &copier{}
	out := c.value(v, &trail{}, 0)
	return out, c.err()
}

// withoutNulls copies v without the null values of its maps. A null element of a list is an error: dropping it would move the
// others, and Kubernetes has no meaning for it.
func withoutNulls(tree map[string]any) (map[string]any, error) {
	c := &copier{dropNulls: true}
	out := c.fields(tree, &trail{}, 0)
	return out, c.err()
}

func (c *copier) value(v any, where *trail, depth int) any {
	if plainScalar(v) {
		return v
	}
	switch value := v.(type) {
	case map[string]any:
		return c.fields(value, where, depth)
	case []any:
		return c.elements(value, where, depth)
	case string:
		c.refuse(where, "Invalid text", fmt.Sprintf("%s holds bytes that are not UTF-8.", where.pointer()))
		return value
	default:
		number, err := normalNumber(v)
		if err != nil {
			c.refuse(where, "Invalid value", fmt.Sprintf("%s: %s.", where.pointer(), err))
		}
		return number
	}
}

// plainScalar tells whether a value is copied as it is. Most values are, and need no trail.
func plainScalar(v any) bool {
	switch value := v.(type) {
	case string:
		return utf8.ValidString(value)
	case nil, bool, int64:
		return true
	}
	return false
}

func (c *copier) fields(in map[string]any, where *trail, depth int) map[string]any {
	if c.tooDeep(depth) {
		return nil
	}
	out := make(map[string]any, len(in))
	for key, value := range in {
		if value == nil && c.dropNulls {
			continue
		}
		if plainScalar(value) && utf8.ValidString(key) {
			out[key] = value
			continue
		}
		if !utf8.ValidString(key) {
			c.refuse(where, "Invalid text", fmt.Sprintf("%s has a key that is not UTF-8.", where.pointer()))
		}
		out[key] = c.value(value, where.at(key), depth+1)
	}
	return out
}

func (c *copier) elements(in []any, where *trail, depth int) []any {
	if c.tooDeep(depth) {
		return nil
	}
	out := make([]any, len(in))
	for i, value := range in {
		if value != nil && plainScalar(value) {
			out[i] = value
			continue
		}
		at := where.index(i)
		if value == nil && c.dropNulls {
			c.refuse(at, "Null in a list", fmt.Sprintf("The element %s is null. A list cannot hold null: "+
				"leave the element out.", at.pointer()))
		}
		out[i] = c.value(value, at, depth+1)
	}
	return out
}

func (c *copier) tooDeep(depth int) bool {
	if depth < maxDepth {
		return false
	}
	if !c.deep {
		c.problems = append(c.problems, tooDeepError())
	}
	c.deep = true
	return true
}

// normalNumber brings every Go number to int64, or float64 where it is no integer of that size. A float64 that is a whole number
// becomes int64, as it does when kubectl writes it to JSON and reads it back.
func normalNumber(v any) (any, error) {
	switch n := v.(type) {
	case int64:
		return n, nil
	case float64:
		return normalFloat(n)
	case float32:
		return normalFloat(float64(n))
	case int:
		return int64(n), nil
	case int32:
		return int64(n), nil
	case uint64:
		if n > math.MaxInt64 {
			return nil, fmt.Errorf("integer %d is larger than Kubernetes can hold (64 bit, signed); quote it to make it text", n)
		}
		return int64(n), nil
	case json.Number:
		return parseNumber(n.String())
	default:
		return nil, fmt.Errorf("a value of type %T is not JSON", v)
	}
}

func normalFloat(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is not a JSON number", f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f), nil
	}
	return f, nil
}

// equalValues compares two trees as JSON: numbers by value, maps without regard to order.
func equalValues(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equalValues)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalValues)
	case nil, bool, string:
		return a == b
	}
	return equalNumbers(a, b)
}

func equalNumbers(a, b any) bool {
	x, errA := normalNumber(a)
	y, errB := normalNumber(b)
	return errA == nil && errB == nil && x == y
}

// sortedKeys lists the keys of a map in order, so that everything derived from it comes in the same order every time.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
