package federation

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// hostileTexts are inputs that have broken parsers of YAML and JSON.
var hostileTexts = []string{
	"", "\x00", "\xff\xfe", "\uFEFF", "---", "...", "%YAML 1.1\n---\n", "? ", "- - - -", "a: &a [*a]", "<<: {a: 1}", "<<: [x]", "a: *b", "!!binary x",
	"!!float 1", "!!int x", "!!timestamp 2020-01-01", "!<tag:x> y", "0x", "0b", "1e", "-.inf", ".nan", "1_", "08", "+", "1:2:3", "{", "[", "\"", "'", "|", ">", "|9\n a",
	"a: 18446744073709551616", "a: -9223372036854775809", "a: 1e400", "a: 0.1000000000000000055511151231257827", "a:\r\n- b\r\n", "a: b: c", "\t", "a:\n\tb",
	`{"a": 1, "a": 2}`, `{"a": 1e999}`, `{"a": "\ud800"}`, `[1,]`, `{"a"}`, `{}{}`, `{}` + "\n---\n{}", `[[[[[[[[[[]]]]]]]]]]`, `"\u0000"`, "true: 1\n\"true\": 2",
	"kind: List\nitems: [{kind: List, items: [{kind: A}]}]", "kind: List\nitems: {}", "kind: List", "a: 1\n---\nb: 2", "{a: &x {b: *x}}", strings.Repeat("[", 2000),
	strings.Repeat("{\"a\":", 2000), strings.Repeat("- ", 2000), strings.Repeat("a: {", 1200), "? {a: 1}\n: b", "? [a]\n: b", "~: 1", ".inf: 1", "1.5: 1", "{[a]: b}",
}

const fuzzManifest = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, labels: {a/b: c, d~e: f}}, spec: {replicas: 3, list: [1, {x: y}, [2]],
	template: {spec: {containers: [{name: a, image: "r.io/a:1", args: [x], env: [{name: A, value: b}]}]}}}}`

func FuzzDecode(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Add(fuzzManifest)
	f.Add(deployment)
	f.Fuzz(func(t *testing.T, text string) {
		if value, err := DecodeValue(text); err == nil {
			encoded, err := Encode(value)
			noError(t, err)
			back, err := DecodeValue(encoded)
			if err != nil || !equalValues(back, value) {
				t.Fatalf("%q becomes %q, which reads back as %v: %v", text, encoded, back, err)
			}
		} else if len(Findings(err)) == 0 {
			t.Fatalf("%v is no InputError", err)
		}
		all, err := DecodeAll(text)
		if err != nil {
			return
		}
		for _, tree := range all {
			if out, _, err := Normalize(tree, TemplateOptions{Namespaced: &yes, HasStatus: true}); err == nil {
				Version(out, []string{"/spec"}, []byte("key"))
			}
		}
	})
}

func FuzzEncodeText(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, text)
	}
	f.Add("a", "line\n  indented\n\nend")
	f.Add("\n x", " \n")
	f.Fuzz(func(t *testing.T, key, text string) {
		tree := map[string]any{key: text, "list": []any{text, map[string]any{key: []any{text}}}}
		encoded, err := Encode(tree)
		if !utf8.ValidString(key) || !utf8.ValidString(text) {
			if err == nil {
				t.Fatal("text that is not UTF-8 is accepted")
			}
			return
		}
		noError(t, err)
		back, err := DecodeValue(encoded)
		if err != nil || !equalValues(back, tree) {
			t.Fatalf("%q reads back as %v: %v", encoded, back, err)
		}
	})
}

func FuzzPointer(f *testing.F) {
	for _, pointer := range []string{"", "/", "//", "/a", "/a/b", "/~0", "/~1", "/~01", "/~2", "/~", "a", "/spec/list/0", "/spec/list/-", "/spec/list/01", "/spec/list/-1",
		"/spec/list/99999999999999999999", "/metadata/labels/a~1b", "/spec/list/1e0", "/é", "/\x00", "/spec/list/1/x"} {
		f.Add(pointer)
	}
	tree := object(f, fuzzManifest)
	f.Fuzz(func(t *testing.T, pointer string) {
		tokens, err := parsePointer(pointer)
		if err == nil && pointerOf(tokens...) != pointer {
			t.Fatalf("%q becomes %q", pointer, pointerOf(tokens...))
		}
		found, there := ValueAt(tree, pointer)
		removed, _, removeErr := JSONPatch(tree, []Operation{{Op: "remove", Path: pointer}})
		if pointer != "" && there != (removeErr == nil) {
			t.Fatalf("%q: found %v, removed %v (%v)", pointer, found, removed, removeErr)
		}
		_ = ValidatePointers([]string{pointer, pointer})
		HasSensitive(tree, []string{pointer})
		Differences(tree, tree, []string{pointer})
	})
}

func FuzzOverride(f *testing.F) {
	for _, patch := range []string{`[{op: replace, path: /spec/replicas, value: 5}]`, `[{op: add, path: /spec/list/-, value: [~]}]`, `[{op: move, from: /spec, path: /metadata/x}]`,
		`[{op: copy, from: /spec, path: /spec/a}]`, `[{op: remove, path: /metadata/name}]`, `[{path: /spec/list/-1, value: i}]`, `[{op: test, path: /spec, value: {}}]`,
		`[{path: /spec/template, value: x}]`, `[{path: /spec/template/spec/containers, value: [1, {name: 1}, {name: a, env: [1], args: [1]}]}]`, `[{path: /metadata/labels, value: [a]}]`} {
		f.Add(patch, "spec: {replicas: 1}", "/metadata/labels/a~1b", "a")
	}
	for _, merge := range hostileTexts {
		f.Add(`[]`, merge, "/spec", "*")
	}
	template := object(f, fuzzManifest)
	before := text(f, template)
	f.Fuzz(func(t *testing.T, patch, merge, path, container string) {
		o := Override{Selection: Selection{Selector: &Selector{}}, Labels: map[string]string{path: merge},
			Images: []ImageOverride{{Container: container, Registry: &path, Tag: &merge}}, Env: []EnvOverride{{container, merge, patch}},
			Args: []ArgsOverride{{container, []string{path}, []string{"x", path}}}, Embedded: []EmbeddedOverride{{Path: path, MergePatch: map[string]any{"a": merge}}}}
		whole := []Override{o, {Selection: o.Selection}, {Selection: o.Selection, Env: o.Env, Args: o.Args}, {Selection: o.Selection, Embedded: o.Embedded}}
		if ops, err := ParseOperations(patch); err == nil {
			whole[0].JSONPatch, whole[1].JSONPatch, whole[3].Embedded[0].JSONPatch = ops, ops, ops
		}
		if parsed, err := ParseMergePatch(merge); err == nil {
			whole[0].MergePatch, whole[1].MergePatch = parsed, parsed
		}
		for i, one := range whole {
			_ = one.Validate(i)
			out, used, _, err := Render(template, []Override{one}, Member{Name: "a"})
			if text(t, template) != before {
				t.Fatal("the template has changed")
			}
			if err != nil {
				if len(Findings(err)) == 0 {
					t.Fatalf("%v is no InputError", err)
				}
				continue
			}
			again, err := RenderUsed(template, []Override{one}, used)
			noError(t, err)
			if text(t, again) != text(t, out) {
				t.Fatal("rendered otherwise the second time")
			}
		}
	})
}

func FuzzImage(f *testing.F) {
	for _, image := range []string{"", "app", "team/app", "reg.example/team/app", "localhost/app", "reg:5000/app:1", "a:b:c", "a@b@c", "/", ":", "@", "//a", "a/", "a:/b", "[::1]:5/a",
		"localhost", "localhost/", "r.io/a.b/c", "a:1@sha256:00", "A/B:c", "\x00", "é/é:é@é"} {
		f.Add(image, "", "", "", "")
		f.Add(image, "r.io", "a/b", "2", "sha256:00000000000000000000000000000000")
	}
	f.Fuzz(func(t *testing.T, image, registry, repository, tag, digest string) {
		o := ImageOverride{Container: "a", Registry: &registry, Repository: &repository, Tag: &tag, Digest: &digest}
		tree := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "x"},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": image}}}}
		out, _, err := Apply(tree, Override{Images: []ImageOverride{o}}, 0)
		if err != nil {
			return
		}
		changed, _ := ValueAt(out, "/spec/containers/0/image")
		if got := parseImage(changed.(string)); got != (imageRef{registry, repository, tag, digest}) {
			t.Fatalf("%q becomes %q, read as %+v", image, changed, got)
		}
	})
}

func FuzzDifferences(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, fuzzManifest, "/spec/list")
		f.Add(fuzzManifest, text, "/")
	}
	f.Add(fuzzManifest, strings.ReplaceAll(fuzzManifest, "3", "4"), "/spec/replicas")
	f.Fuzz(func(t *testing.T, one, other, pointer string) {
		template, err := DecodeOne(one)
		if err != nil {
			return
		}
		rendered, err := DecodeOne(other)
		if err != nil {
			return
		}
		computed := Differences(template, rendered, []string{pointer})
		for _, prior := range []map[string]string{Drift(rendered, template, []string{pointer}), {pointer: one}, nil} {
			planned := PlannedDifferences(prior, computed, template, rendered, []string{pointer})
			same(t, PlannedDifferences(planned, computed, template, rendered, []string{pointer}), planned)
		}
	})
}
