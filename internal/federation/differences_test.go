package federation

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// kept makes a manifest of kind A of a body, so that nothing in it is taken for a Secret.
func kept(t tester, body string) map[string]any {
	tree := object(t, body)
	tree["apiVersion"], tree["kind"] = "v1", "A"
	return tree
}

func TestDifferencesAreLeafByLeaf(t *testing.T) {
	for name, c := range map[string]struct {
		template, rendered string
		want               map[string]string
	}{
		"equal":                     {`{a: {b: [1]}}`, `{a: {b: [1]}}`, map[string]string{}},
		"a number":                  {`{spec: {replicas: 3}}`, `{spec: {replicas: 5}}`, map[string]string{"/spec/replicas": "5"}},
		"text":                      {`{labels: {tier: web}}`, `{labels: {tier: api}}`, map[string]string{"/labels/tier": "api"}},
		"added":                     {`{labels: {a: "1"}}`, `{labels: {a: "1", b/c: "2"}}`, map[string]string{"/labels/b~1c": `"2"`}},
		"added map, leaf by leaf":   {`{}`, `{a: {b: 1, c: {d: 2}}}`, map[string]string{"/a/b": "1", "/a/c/d": "2"}},
		"added empty map":           {`{}`, `{a: {}, b: {c: {}}}`, map[string]string{"/a": "{}", "/b/c": "{}"}},
		"removed":                   {`{labels: {a: "1", b: "2"}}`, `{labels: {a: "1"}}`, map[string]string{"/labels/b": "null"}},
		"removed map":               {`{a: {b: 1, c: 2}}`, `{}`, map[string]string{"/a": "null"}},
		"emptied map":               {`{a: {b: 1, c: 2}}`, `{a: {}}`, map[string]string{"/a/b": "null", "/a/c": "null"}},
		"another type":              {`{a: {b: 1}, c: 1}`, `{a: [1], c: {d: 1}}`, map[string]string{"/a": "[1]", "/c": `{"d":1}`}},
		"null is absent":            {`{a: ~, b: 1}`, `{b: ~}`, map[string]string{"/b": "null"}},
		"list as a whole":           {`{args: [a, b]}`, `{args: [a, c]}`, map[string]string{"/args": `["a","c"]`}},
		"list of another length":    {`{l: [{name: a, x: 1}]}`, `{l: [{name: a, x: 2}, {name: b}]}`, map[string]string{"/l": `[{"name":"a","x":2},{"name":"b"}]`}},
		"list of the same names":    {`{l: [{name: a, x: 1}, {name: b}]}`, `{l: [{name: a, x: 2}, {name: b}]}`, map[string]string{"/l/0/x": "2"}},
		"list in another order":     {`{l: [{name: a}, {name: b}]}`, `{l: [{name: b}, {name: a}]}`, map[string]string{"/l": `[{"name":"b"},{"name":"a"}]`}},
		"list by containerPort":     {`{l: [{containerPort: 80}]}`, `{l: [{containerPort: 80, hostPort: 1}]}`, map[string]string{"/l/0/hostPort": "1"}},
		"list by port and protocol": {`{l: [{port: 53, protocol: UDP}, {port: 53}]}`, `{l: [{port: 53}, {port: 53, protocol: UDP}]}`, map[string]string{"/l": `[{"port":53},{"port":53,"protocol":"UDP"}]`}},
		"protocol TCP is the rule":  {`{l: [{port: 53}]}`, `{l: [{port: 53, protocol: TCP, targetPort: 1}]}`, map[string]string{"/l/0/protocol": "TCP", "/l/0/targetPort": "1"}},
		"list without keys":         {`{l: [{x: 1}]}`, `{l: [{x: 2}]}`, map[string]string{"/l": `[{"x":2}]`}},
		"list that appears":         {`{}`, `{l: [a]}`, map[string]string{"/l": `["a"]`}},
		"list that goes":            {`{l: [a]}`, `{}`, map[string]string{"/l": "null"}},
		"emptied list":              {`{l: [a]}`, `{l: []}`, map[string]string{"/l": "[]"}},
		"integers are exact":        {`{num: 9007199254740992}`, `{num: 9007199254740993}`, map[string]string{"/num": "9007199254740993"}},
		"numbers in two spellings":  {`{num: 3}`, `{num: 3.0}`, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) { same(t, Differences(kept(t, c.template), kept(t, c.rendered), nil), c.want) })
	}
}

func TestDifferencesMaskDataOfSecretsButNotItsKeys(t *testing.T) {
	template := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x, labels: {a: b}}, type: Opaque, data: {pw: YQ==, same: Yg==, gone: Yg==}}`)
	rendered := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x, labels: {a: c}}, type: Opaque, data: {pw: Yw==, same: Yg==, more: Yg==}}`)
	same(t, Differences(template, rendered, nil), map[string]string{"/data/pw": "(sensitive)", "/data/more": "(sensitive)", "/data/gone": "null",
		"/metadata/labels/a": "c"})
	same(t, Drift(template, rendered, nil), map[string]string{"/data/pw": "(sensitive, changed)", "/data/more": "(sensitive, changed)", "/data/gone": "null",
		"/metadata/labels/a": "c"})
}

func TestDifferencesMaskSensitiveFields(t *testing.T) {
	template := kept(t, `{a: {b: 1, c: {d: 1}}, l: [{name: x, pw: 1}], m: [1, {pw: 1}], s: 1, data: {k: 1}}`)
	rendered := kept(t, `{a: {b: 2, c: {d: 2}}, l: [{name: x, pw: 2}], m: [2, {pw: 2}], s: {pw: 2}, data: {k: 2}}`)
	same(t, Differences(template, rendered, []string{"/a/c", "/l/0/pw", "/m/1/pw", "/s/pw"}), map[string]string{"/a/b": "2", "/a/c": "(sensitive)",
		"/l/0/pw": "(sensitive)", "/m": "(sensitive)", "/s": "(sensitive)", "/data/k": "2"})
}

func TestDriftOfATreeWithoutAKindShowsNoData(t *testing.T) {
	same(t, Drift(object(t, `{data: {pw: YQ==}}`), object(t, `{data: {pw: Yg==}}`), nil), map[string]string{"/data/pw": "(sensitive, changed)"})
}

func TestDriftGivesTheLiveValue(t *testing.T) {
	want := kept(t, `{metadata: {labels: {tier: api, team: x}}, spec: {replicas: 5, l: [a, b]}}`)
	live := kept(t, `{metadata: {labels: {tier: web}}, spec: {replicas: 9, l: [b, a]}}`)
	same(t, Drift(want, live, nil), map[string]string{"/metadata/labels/tier": "web", "/metadata/labels/team": "null", "/spec/replicas": "9", "/spec/l": `["b","a"]`})
	same(t, Drift(want, want, nil), map[string]string{})
	same(t, Drift(value(t, `[1]`), value(t, `[2]`), nil), map[string]string{"": "[2]"})
	same(t, Drift(nil, nil, nil), map[string]string{})
}

// Applying the differences to the template gives the rendered object: nothing is left out, nothing is said that is not so.
func TestDifferencesLeadFromTheTemplateToTheRenderedObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		template, rendered := mapGen(3).Draw(t, "template"), mapGen(3).Draw(t, "rendered")
		template["kind"], rendered["kind"] = "A", "A"
		differences := Differences(template, rendered, nil)
		tree := plainCopy(template)
		for _, pointer := range sortedKeys(differences) {
			tokens, err := parsePointer(pointer)
			noError(t, err)
			var deviation any
			if differences[pointer] != "null" {
				deviation = readShown(t, differences[pointer])
			}
			tree = put(tree, tokens, deviation)
		}
		if text(t, tree) != text(t, rendered) {
			t.Fatalf("%s with %v gives %s, not %s", text(t, template), differences, text(t, tree), text(t, rendered))
		}
		same(t, len(differences) == 0, text(t, template) == text(t, rendered))
	})
}

// readShown reads a value as differences write it: JSON, or plain text.
func readShown(t tester, shown string) any {
	if !json.Valid([]byte(shown)) {
		return shown
	}
	return value(t, shown)
}

func TestDifferencesShowTextPlainUnlessItWouldBeReadAsSomethingElse(t *testing.T) {
	rendered := map[string]any{"kind": "A", "a": "web", "b": "5", "c": "", "d": "true", "e": `{"x":1}`, "f": "null", "g": "(sensitive)", "h": "two words", "i": int64(5)}
	same(t, Differences(map[string]any{"kind": "A"}, rendered, nil), map[string]string{"/a": "web", "/b": `"5"`, "/c": `""`, "/d": `"true"`,
		"/e": `"{\"x\":1}"`, "/f": `"null"`, "/g": `"(sensitive)"`, "/h": "two words", "/i": "5"})
}

// put sets a value, making maps on the way; null removes.
func put(node any, tokens []string, v any) any {
	if len(tokens) == 0 {
		return v
	}
	if list, ok := node.([]any); ok {
		index, _ := listIndex(tokens[0])
		list[index] = put(list[index], tokens[1:], v)
		return list
	}
	fields, ok := node.(map[string]any)
	if !ok {
		fields = map[string]any{}
	}
	fields[tokens[0]] = put(fields[tokens[0]], tokens[1:], v)
	if fields[tokens[0]] == nil {
		delete(fields, tokens[0])
	}
	return fields
}

func TestPlannedDifferences(t *testing.T) {
	const template = `{metadata: {labels: {tier: api}}, spec: {replicas: 3, l: [a]}, data: {}}`
	for name, c := range map[string]struct {
		prior    map[string]string
		rendered string
		want     map[string]string
	}{
		"nothing":                         {nil, template, nil},
		"an override as before":           {map[string]string{"/spec/replicas": "5"}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/spec/replicas": "5"}},
		"a new override":                  {map[string]string{}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/spec/replicas": "5"}},
		"an override changed":             {map[string]string{"/spec/replicas": "4"}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/spec/replicas": "5"}},
		"drift of an overridden field":    {map[string]string{"/spec/replicas": "9"}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/spec/replicas": "5"}},
		"drift to the template's value":   {map[string]string{"/spec/replicas": "3"}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/spec/replicas": "5"}},
		"drift of a field of all":         {map[string]string{"/metadata/labels/tier": "web"}, template, map[string]string{"/metadata/labels/tier": "api"}},
		"drift: a field is gone":          {map[string]string{"/metadata/labels": "null"}, template, map[string]string{"/metadata/labels": `{"tier":"api"}`}},
		"drift: a field is too much":      {map[string]string{"/spec/x": "1"}, template, map[string]string{"/spec/x": "null"}},
		"drift of a list":                 {map[string]string{"/spec/l": `["b"]`}, template, map[string]string{"/spec/l": `["a"]`}},
		"mended drift says nothing":       {map[string]string{"/metadata/labels/tier": "api", "/spec/x": "null"}, template, map[string]string{"/metadata/labels/tier": "api", "/spec/x": "null"}},
		"mended drift goes with a change": {map[string]string{"/metadata/labels/tier": "api"}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/spec/replicas": "5"}},
		"an override removed":             {map[string]string{"/spec/replicas": "5"}, template, map[string]string{}},
		"mended and an override":          {map[string]string{"/metadata/labels/tier": "api", "/spec/replicas": "5"}, `{metadata: {labels: {tier: api}}, spec: {replicas: 5, l: [a]}, data: {}}`, map[string]string{"/metadata/labels/tier": "api", "/spec/replicas": "5"}},
	} {
		t.Run(name, func(t *testing.T) {
			template, rendered := kept(t, template), kept(t, c.rendered)
			computed := Differences(template, rendered, nil)
			if name == "an override removed" {
				c.want = map[string]string{"/spec/replicas": "3"}
			}
			same(t, PlannedDifferences(c.prior, computed, template, rendered, nil), c.want)
		})
	}
}

func TestPlannedDifferencesOfMaskedValues(t *testing.T) {
	secret := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {pw: YQ==}}`)
	same(t, PlannedDifferences(map[string]string{"/data/pw": "(sensitive, changed)"}, map[string]string{}, secret, secret, nil), map[string]string{"/data/pw": "(sensitive)"})
	same(t, PlannedDifferences(map[string]string{"/data/pw": "(sensitive, changed)"}, map[string]string{"/data/pw": "(sensitive)"}, secret, secret, nil), map[string]string{"/data/pw": "(sensitive)"})
	mended := map[string]string{"/data/pw": "(sensitive)"}
	same(t, PlannedDifferences(mended, map[string]string{}, secret, secret, nil), mended)
	same(t, PlannedDifferences(map[string]string{"/data/pw": "null"}, map[string]string{}, secret, secret, nil), map[string]string{"/data/pw": "(sensitive)"})
	same(t, PlannedDifferences(map[string]string{"/data/x": "(sensitive, changed)"}, map[string]string{}, secret, secret, nil), map[string]string{"/data/x": "null"})
}

func TestPlannedDifferencesOfAUniformChangeShowNoMendedDrift(t *testing.T) {
	former, next := kept(t, `{labels: {tier: api}}`), kept(t, `{labels: {tier: api2}}`)
	prior := map[string]string{"/labels/tier": "api"}
	same(t, PlannedDifferences(prior, map[string]string{}, former, next, nil), map[string]string{})
}

// After the apply the state holds what was planned; the next plan must change nothing.
func TestPlannedDifferencesConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		template := mapGen(3).Draw(t, "template")
		rendered, _ := MergePatch(template, patchGen(3).Draw(t, "override")).(map[string]any)
		live, _ := MergePatch(rendered, patchGen(3).Draw(t, "drift")).(map[string]any)
		for _, tree := range []map[string]any{template, rendered, live} {
			tree["kind"], tree["apiVersion"] = "Secret", rapid.SampledFrom([]string{"v1", "demo.test/v1"}).Draw(t, "apiVersion")
		}
		sensitive := rapid.SliceOfN(rapid.SampledFrom([]string{"/a", "/b/c", "/spec/0", "/a/b"}), 0, 3).Draw(t, "sensitive")
		computed := Differences(template, rendered, sensitive)
		// What a refresh makes of the state: what was there, and over it what has drifted.
		prior := maps.Clone(Differences(template, plainCopy(live).(map[string]any), sensitive))
		if rapid.Bool().Draw(t, "overridden before") {
			prior = maps.Clone(computed)
		}
		maps.Copy(prior, Drift(rendered, live, sensitive))
		planned := PlannedDifferences(prior, computed, template, rendered, sensitive)
		again := PlannedDifferences(planned, computed, template, rendered, sensitive)
		same(t, again, planned)
		for pointer, value := range computed {
			same(t, planned[pointer], value)
		}
		for pointer := range planned {
			if strings.Contains(planned[pointer], "changed") {
				t.Fatalf("%s is planned as drifted", pointer)
			}
		}
	})
}

func TestValueAt(t *testing.T) {
	tree := value(t, `{a: {b/c: [x, {d: ~}]}, "": 1}`)
	for pointer, want := range map[string]any{"/a/b~1c/0": "x", "/a/b~1c/1/d": nil, "/": int64(1), "": tree} {
		found, there := ValueAt(tree, pointer)
		same(t, there, true)
		same(t, found, want)
	}
	for _, pointer := range []string{"/a/b/c", "/a/b~1c/2", "/a/b~1c/-", "/a/b~1c/00", "/a/b~1c/0/x", "a", "/~", "/x"} {
		if found, there := ValueAt(tree, pointer); there {
			t.Errorf("%s finds %v", pointer, found)
		}
	}
}
