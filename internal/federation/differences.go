package federation

import (
	"encoding/json"
	"maps"
	"slices"
)

// absentValue is what differences say where a path does not exist on one side.
const absentValue = "null"

// Differences says where a rendered object deviates from its template: JSON pointer → the rendered value as JSON, text without its
// quotes unless it would then be read as something else; "null" where there is no value, "(sensitive)" where it must not be shown.
// Maps are compared key by key, and so are lists of equal length whose elements are the same things in the same order (by name, or
// containerPort and the like); other lists as a whole.
func Differences(template, rendered map[string]any, sensitive []string) map[string]string {
	c := comparison{masked: maskedValue, out: map[string]string{}}
	c.compare(template, rendered, &trail{}, sensitivePaths(rendered, sensitive))
	return c.out
}

// Drift says where what a member holds deviates from what shall be there: JSON pointer → the live value, written as Differences writes
// values, but "(sensitive, changed)" where it must not be shown. Both sides are to be projected on the fields in question first. A tree
// without a kind is taken for a Secret: its data is not shown.
func Drift(want, live any, sensitive []string) map[string]string {
	c := comparison{masked: maskedChangedValue, out: map[string]string{}}
	object, _ := want.(map[string]any)
	c.compare(want, live, &trail{}, sensitivePaths(object, sensitive))
	return c.out
}

// comparison gathers the paths at which two trees differ. Null and absent are the same.
type comparison struct {
	masked string
	out    map[string]string
}

func (c *comparison) compare(a, b any, where *trail, s sensitivity) {
	if !s.whole && c.compareInside(a, b, where, s) {
		return
	}
	if !equalValues(a, b) {
		c.out[where.pointer()] = shown(b, s.any(a) || s.any(b), c.masked)
	}
}

// compareInside compares what two values hold, and tells whether they could be compared so.
func (c *comparison) compareInside(a, b any, where *trail, s sensitivity) bool {
	switch right := b.(type) {
	case map[string]any:
		left, isMap := a.(map[string]any)
		if !isMap && (a != nil || len(right) == 0) {
			return false
		}
		for key := range left {
			if _, both := right[key]; !both {
				c.compare(left[key], nil, where.at(key), s.at(key))
			}
		}
		for key, value := range right {
			c.compare(left[key], value, where.at(key), s.at(key))
		}
		return true
	case []any:
		left, isList := a.([]any)
		if !isList || !sameElements(left, right) {
			return false
		}
		for i, value := range right {
			at := where.index(i)
			c.compare(left[i], value, at, s.at(at.token))
		}
		return true
	}
	return false
}

// shown is what differences say of a value.
func shown(v any, masked bool, mask string) string {
	if v == nil {
		return absentValue
	}
	if masked {
		return mask
	}
	if text, ok := v.(string); ok && !ambiguous(text) {
		return text
	}
	text, err := Canonical(v)
	if err != nil {
		return "(not JSON)"
	}
	return string(text)
}

// ambiguous tells whether plain text would be read as something else: as a JSON value ("5" and 5 differ), or as one of the marks.
func ambiguous(text string) bool {
	return text == "" || json.Valid([]byte(text)) || text == maskedValue || text == maskedChangedValue
}

// elementKeys are the fields that tell elements of a list apart when they have no name.
var elementKeys = []string{"containerPort", "port", "protocol", "mountPath", "devicePath", "ip", "uid", "topologyKey", "key", "type", "host"}

// sameElements tells whether two lists hold the same things in the same order, so that they can be compared one by one.
func sameElements(a, b []any) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y any) bool {
		left, leftIsMap := x.(map[string]any)
		right, rightIsMap := y.(map[string]any)
		return leftIsMap && rightIsMap && sameElement(left, right)
	})
}

func sameElement(a, b map[string]any) bool {
	if a["name"] != nil || b["name"] != nil {
		return equalValues(a["name"], b["name"])
	}
	keyed := false
	for _, key := range elementKeys {
		x, y := a[key], b[key]
		if fallback, ok := keyDefaults[key]; ok && (x == nil) != (y == nil) {
			x, y = orElse(x, fallback), orElse(y, fallback)
		}
		if !equalValues(x, y) {
			return false
		}
		keyed = keyed || x != nil
	}
	return keyed
}

func orElse(v any, fallback string) any {
	if v == nil {
		return fallback
	}
	return v
}

// PlannedDifferences gives the differences to plan for a member. prior is what the state says, computed what Differences gives for
// the configuration, template the template that prior was made with (the present one where the former is not at hand).
//
// A refresh puts drift into the state: paths in prior that are not in computed and at which prior says something else than rendered.
// Such a path is planned as the rendered value, so that the plan reads "web" -> "api". After the apply it stands in the state with the
// rendered value and says nothing any more: if prior holds nothing but such entries beside computed, it is planned as it is, which is
// no change; else they go.
func PlannedDifferences(prior, computed map[string]string, template, rendered map[string]any, sensitive []string) map[string]string {
	s := sensitivePaths(rendered, sensitive)
	telling := map[string]string{}
	for pointer, value := range prior {
		if _, inComputed := computed[pointer]; inComputed || value != shownAt(rendered, pointer, s) {
			telling[pointer] = value
		}
	}
	if maps.Equal(telling, computed) {
		return prior
	}
	planned := maps.Clone(computed)
	if planned == nil {
		planned = map[string]string{}
	}
	for pointer, value := range telling {
		if _, inComputed := computed[pointer]; !inComputed && value != shownAt(template, pointer, s) {
			planned[pointer] = shownAt(rendered, pointer, s)
		}
	}
	return planned
}

// shownAt is what differences say of what a tree holds at a pointer.
func shownAt(tree map[string]any, pointer string, s sensitivity) string {
	tokens, err := parsePointer(pointer)
	if err != nil {
		return absentValue
	}
	value, _ := valueAt(tree, tokens)
	for _, token := range tokens {
		s = s.at(token)
	}
	return shown(value, s.any(value), maskedValue)
}
