package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

func TestOverridesFromTreeReadsEveryAttribute(t *testing.T) {
	text := func(s string) *string { return &s }
	got, err := overridesFromTree([]any{
		map[string]any{
			"clusters":    []any{"eu", "us"},
			"json_patch":  "[{op: remove, path: /a}]",
			"merge_patch": "a: {b: 1}",
			"images":      []any{map[string]any{"container": "*", "registry": "", "repository": "team/app", "tag": int64(2), "digest": nil}},
			"labels":      map[string]any{"a": "b"},
			"annotations": map[string]any{"c": true},
			"env":         []any{map[string]any{"container": "web", "name": "PORT", "value": 80.5}},
			"args":        []any{map[string]any{"container": "web", "add": []any{"-x"}, "remove": nil}},
			"embedded":    []any{map[string]any{"path": "/data/k", "format": "json", "merge_patch": "{a: 1}"}},
		},
		map[string]any{
			"cluster_selector": map[string]any{
				"match_labels":      map[string]any{"tier": "edge"},
				"match_expressions": []any{map[string]any{"key": "a", "operator": "In", "values": []any{"b"}}},
			},
			"embedded": []any{map[string]any{"path": "/data/k", "json_patch": "[]"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []federation.Override{
		{
			Selection:   federation.Selection{Clusters: []string{"eu", "us"}},
			JSONPatch:   []federation.Operation{{Op: "remove", Path: "/a"}},
			MergePatch:  map[string]any{"a": map[string]any{"b": int64(1)}},
			Images:      []federation.ImageOverride{{Container: "*", Registry: text(""), Repository: text("team/app"), Tag: text("2")}},
			Labels:      map[string]string{"a": "b"},
			Annotations: map[string]string{"c": "true"},
			Env:         []federation.EnvOverride{{Container: "web", Name: "PORT", Value: "80.5"}},
			Args:        []federation.ArgsOverride{{Container: "web", Add: []string{"-x"}}},
			Embedded:    []federation.EmbeddedOverride{{Path: "/data/k", Format: "json", MergePatch: map[string]any{"a": int64(1)}}},
		},
		{
			Selection: federation.Selection{Selector: &federation.Selector{
				MatchLabels:      map[string]string{"tier": "edge"},
				MatchExpressions: []federation.Requirement{{Key: "a", Operator: "In", Values: []string{"b"}}},
			}},
			Embedded: []federation.EmbeddedOverride{{Path: "/data/k", JSONPatch: []federation.Operation{}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverridesFromTreeKeepsAbsentNullAndEmptyApart(t *testing.T) {
	for name, c := range map[string]struct {
		tree any
		want []federation.Override
	}{
		"no list":           {nil, nil},
		"an empty list":     {[]any{}, []federation.Override{}},
		"an entry of nulls": {[]any{map[string]any{"clusters": nil, "cluster_selector": nil, "labels": nil, "json_patch": nil}}, []federation.Override{{}}},
		"no clusters at all": {[]any{map[string]any{"clusters": []any{}, "labels": map[string]any{}}},
			[]federation.Override{{Selection: federation.Selection{Clusters: []string{}}, Labels: map[string]string{}}}},
		"every cluster": {[]any{map[string]any{"cluster_selector": map[string]any{}}},
			[]federation.Override{{Selection: federation.Selection{Selector: &federation.Selector{}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := overridesFromTree(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A typed attribute and a dynamic value with the same content must mean the same.
func TestOverridesFromTreeReadsATypedListAlike(t *testing.T) {
	entry := types.ObjectType{AttrTypes: map[string]attr.Type{
		"clusters": types.SetType{ElemType: types.StringType}, "merge_patch": types.StringType,
		"labels": types.MapType{ElemType: types.StringType},
	}}
	typed := types.ListValueMust(entry, []attr.Value{types.ObjectValueMust(entry.AttrTypes, map[string]attr.Value{
		"clusters":    types.SetValueMust(types.StringType, []attr.Value{types.StringValue("eu")}),
		"merge_patch": types.StringNull(),
		"labels":      types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringValue("b")}),
	})})
	tree, _, err := tfvalue.Tree(typed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := overridesFromTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []federation.Override{{Selection: federation.Selection{Clusters: []string{"eu"}}, Labels: map[string]string{"a": "b"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverridesFromTreeTellsEverythingThatIsWrongAtItsPlace(t *testing.T) {
	_, err := overridesFromTree([]any{
		"text",
		map[string]any{
			"cluster":          []any{"eu"},
			"clusters":         "eu",
			"cluster_selector": map[string]any{"labels": nil, "match_expressions": []any{map[string]any{"key": "a"}}},
			"json_patch":       "[{path: x}]",
			"merge_patch":      "[1]",
			"images":           []any{map[string]any{"image": "web:2"}},
			"labels":           []any{},
			"annotations":      map[string]any{"a": nil, "b": map[string]any{}},
			"env":              []any{map[string]any{"container": "web", "name": "A"}, nil},
			"args":             []any{map[string]any{"container": "web", "add": []any{nil}}},
			"embedded":         []any{map[string]any{"json_patch": []any{}}},
		},
	})
	var got []string
	for _, finding := range federation.Findings(err) {
		got = append(got, placeText(finding.Path)+": "+finding.Detail)
	}
	const attributes = "clusters, cluster_selector, json_patch, merge_patch, images, labels, annotations, env, args, embedded"
	want := []string{
		"overrides[0]: This must be an object with " + attributes + ", but is text.",
		`overrides[1].cluster: There is no attribute "cluster"; there are ` + attributes + ".",
		"overrides[1].clusters: This must be a list, but is text.",
		`overrides[1].cluster_selector.labels: There is no attribute "labels"; there are match_labels, match_expressions.`,
		"overrides[1].cluster_selector.match_expressions[0].operator: This is missing; text is needed.",
		`overrides[1].json_patch: Operation 1 of 1 (replace x): value is missing (null has to be written).`,
		"overrides[1].merge_patch: A merge patch is a map, but this is a list, which would replace the whole object.",
		`overrides[1].images[0].image: There is no attribute "image"; there are container, registry, repository, tag, digest.`,
		"overrides[1].images[0].container: This is missing; text is needed.",
		"overrides[1].labels: This must be a map of text, but is a list.",
		"overrides[1].annotations.a: `overrides[1].annotations[\"a\"]` is null. Leave the element out, or give it a value.",
		"overrides[1].annotations.b: This must be text, but is an object.",
		"overrides[1].env[0].value: This is missing; text is needed.",
		"overrides[1].env[1]: This must be an object with container, name, value, but is null.",
		"overrides[1].env[1].container: This is missing; text is needed.",
		"overrides[1].env[1].name: This is missing; text is needed.",
		"overrides[1].env[1].value: This is missing; text is needed.",
		"overrides[1].args[0].add[0]: `overrides[1].args[0].add[0]` is null. Leave the element out, or give it a value.",
		"overrides[1].embedded[0].path: This is missing; text is needed.",
		"overrides[1].embedded[0].json_patch: A patch is JSON or YAML text, but this is a list: put jsonencode(…) around it.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlaceTextReadsLikeAConfiguration(t *testing.T) {
	for want, path := range map[string][]string{
		"":                            {},
		"overrides[2].images[0].tag":  {"overrides", "2", "images", "0", "tag"},
		`metadata.labels["a.test/b"]`: {"metadata", "labels", "a.test/b"},
		"[0].metadata.name":           {"0", "metadata", "name"},
	} {
		if got := placeText(path); got != want {
			t.Errorf("%v: got %s, want %s", path, got, want)
		}
	}
}
