package federation

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web}
  annotations: {example.com/owner: x}
spec:
  replicas: 3
  template:
    spec:
      initContainers:
      - {name: init, image: "busybox:1.36"}
      containers:
      - name: web
        image: "reg.example/team/web:1.0"
        args: ["--v=1", "--port=80", "--v=1"]
        env:
        - {name: A, value: "1"}
        - {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}
        - {name: C, value: "3"}
      - {name: side, image: side}
`

// overridden applies one entry to a manifest, which must stay as it is.
func overridden(t *testing.T, manifest string, o Override) (map[string]any, []string, error) {
	t.Helper()
	in := object(t, manifest)
	out, warnings, err := Apply(in, o, 2)
	same(t, in, object(t, manifest))
	return out, warnings, err
}

// at gives what an entry makes of the deployment at a pointer, as JSON.
func overriddenAt(t *testing.T, o Override, pointer string) string {
	t.Helper()
	out, warnings, err := overridden(t, deployment, o)
	noError(t, err)
	same(t, warnings, []string(nil))
	found, _ := ValueAt(out, pointer)
	return text(t, found)
}

func patchOverride(t *testing.T, patch string) Override {
	return Override{JSONPatch: operations(t, patch)}
}

func TestOverrideRunsItsPartsInTheOrderOfTheSchema(t *testing.T) {
	o := Override{
		JSONPatch:   operations(t, `[{path: /metadata/labels/app, value: patched}, {op: add, path: /spec/paused, value: true}]`),
		MergePatch:  value(t, `{metadata: {labels: {app: merged, m: "1"}}, spec: {paused: ~}}`),
		Labels:      map[string]string{"app": "label"},
		Annotations: map[string]string{"a": "b"},
	}
	out, _, err := overridden(t, deployment, o)
	noError(t, err)
	same(t, out["metadata"], value(t, `{name: web, namespace: shop, labels: {app: label, m: "1"}, annotations: {example.com/owner: x, a: b}}`))
	if _, there := ValueAt(out, "/spec/paused"); there {
		t.Error("merge_patch did not run after json_patch")
	}
}

func TestOverrideSetsLabelsAndAnnotationsWhereThereAreNone(t *testing.T) {
	out, _, err := overridden(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, Override{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}})
	noError(t, err)
	same(t, out["metadata"], value(t, `{name: x, labels: {a: b}, annotations: {c: d}}`))
}

func TestOverrideErrorsNameEntryOperationAndSegment(t *testing.T) {
	_, _, err := overridden(t, deployment, patchOverride(t, `[{path: /spec/replicas, value: 5}, {path: /spec/replica, value: 5}]`))
	refused(t, err, "overrides.2.json_patch", "Operation 2 of 2 (replace /spec/replica)", `/spec has no key "replica"`)
}

func TestOverrideWarningsNameEntryAndOperation(t *testing.T) {
	_, warnings, err := overridden(t, deployment, patchOverride(t, `[{op: add, path: /metadata/annotations, value: {k2: "2"}}]`))
	noError(t, err)
	same(t, warnings, []string{"overrides[2]: operation 1 (add /metadata/annotations): replaces 1 existing element; to add one, name its key in the path or use merge_patch"})
}

func TestOverrideRefusesNegativeIndexes(t *testing.T) {
	for _, index := range []string{"-1", "7", "01", "1e0", "9223372036854775808"} {
		_, _, err := overridden(t, deployment, patchOverride(t, `[{path: /spec/template/spec/containers/`+index+`/image, value: i}]`))
		refused(t, err, "overrides.2.json_patch", index)
	}
}

func TestOverrideOfAFieldTheKindDoesNotHaveSaysSo(t *testing.T) {
	_, _, _, err := Render(object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: d}}`),
		[]Override{{Selection: Selection{Clusters: []string{"b"}}, JSONPatch: operations(t, `[{path: /spec/replicas, value: 1}]`)}}, Member{Name: "b"})
	refused(t, err, "overrides.0.json_patch", "Member b", "overrides[0]", "Operation 1 of 1", `the object has no key "spec"`)
}

func TestOverrideMustNotChangeTheIdentity(t *testing.T) {
	for patch, word := range map[string]string{
		`[{path: /metadata/name, value: z}]`:                   `the name from "web" to "z"`,
		`[{path: /metadata, value: {name: z}}]`:                `the namespace from "shop" to ""`,
		`[{path: /metadata/namespace, value: z}]`:              `the namespace from "shop" to "z"`,
		`[{op: remove, path: /metadata/namespace}]`:            `the namespace from "shop" to ""`,
		`[{path: /kind, value: X}]`:                            `the kind from "Deployment" to "X"`,
		`[{path: /apiVersion, value: v1}]`:                     `the group from "apps" to ""`,
		`[{op: remove, path: /kind}]`:                          "has no kind",
		`[{path: /metadata, value: x}]`:                        "metadata must be a map",
		`[{path: /metadata/name, value: 7}]`:                   "must be text",
		`[{op: add, path: /metadata/generateName, value: x-}]`: "generateName",
		`[{op: move, from: /metadata, path: /spec/metadata}]`:  "needs metadata",
	} {
		t.Run(patch, func(t *testing.T) {
			_, _, err := overridden(t, deployment, patchOverride(t, patch))
			refused(t, err, "overrides.2", word)
		})
	}
	for name, merge := range map[string]string{"name": `{metadata: {name: z}}`, "kind": `{kind: X}`, "null": `{metadata: ~}`, "text": `{metadata: x}`} {
		t.Run("merge patch of "+name, func(t *testing.T) {
			_, _, err := overridden(t, deployment, Override{MergePatch: value(t, merge), Labels: map[string]string{"a": "b"}})
			refused(t, err, "overrides.2", "identity")
		})
	}
}

func TestOverrideMayChangeTheVersion(t *testing.T) {
	out, _, err := overridden(t, deployment, patchOverride(t, `[{path: /apiVersion, value: apps/v1beta2}]`))
	noError(t, err)
	same(t, out["apiVersion"], any("apps/v1beta2"))
}

func TestOverrideRefusesTheProvidersOwnMarks(t *testing.T) {
	_, _, err := overridden(t, deployment, Override{Labels: map[string]string{MarkPrefix + "owner": "x"}})
	refused(t, err, "overrides.2.labels."+MarkPrefix+"owner", "own marks")
	_, _, _, err = Render(object(t, deployment), []Override{{Selection: Selection{Selector: &Selector{}},
		MergePatch: value(t, `{metadata: {annotations: {terraform.kubefed.io/resource: x}}}`)}}, Member{Name: "a"})
	refused(t, err, "overrides.0", "own marks", "Member a")
}

func TestOverrideValidate(t *testing.T) {
	everywhere := Selection{Selector: &Selector{}}
	for name, c := range map[string]struct {
		override   Override
		path, word string
	}{
		"no selection":        {Override{Labels: map[string]string{"a": "b"}}, "overrides.4", "Missing selection"},
		"two selections":      {Override{Selection: Selection{[]string{"a"}, &Selector{}}, Labels: map[string]string{"a": "b"}}, "overrides.4.cluster_selector", "exclude each other"},
		"selector operator":   {Override{Selection: Selection{nil, ptr(expression("a", "is", "b"))}, Labels: map[string]string{"a": "b"}}, "overrides.4.cluster_selector.match_expressions.0.operator", `"is"`},
		"nothing":             {Override{Selection: everywhere}, "overrides.4", "json_patch, merge_patch, images, labels"},
		"path":                {Override{Selection: everywhere, JSONPatch: []Operation{{Op: "remove", Path: "a"}}}, "overrides.4.json_patch", "start with a slash"},
		"merge patch":         {Override{Selection: everywhere, MergePatch: []any{}}, "overrides.4.merge_patch", "is a list"},
		"mark":                {Override{Selection: everywhere, Annotations: map[string]string{MarkPrefix: "x"}}, "overrides.4.annotations." + MarkPrefix, "marks"},
		"image container":     {Override{Selection: everywhere, Images: []ImageOverride{{Tag: ptr("1")}}}, "overrides.4.images.0.container", "missing"},
		"image without parts": {Override{Selection: everywhere, Images: []ImageOverride{{Container: "a"}}}, "overrides.4.images.0.container", "changes nothing"},
		"env name":            {Override{Selection: everywhere, Env: []EnvOverride{{Container: "a"}}}, "overrides.4.env.0.name", "missing"},
		"args":                {Override{Selection: everywhere, Args: []ArgsOverride{{Container: "a"}}}, "overrides.4.args.0.container", "changes nothing"},
		"embedded format":     {Override{Selection: everywhere, Embedded: []EmbeddedOverride{{Path: "/a", Format: "toml", MergePatch: map[string]any{}}}}, "overrides.4.embedded.0.format", "toml"},
		"embedded path":       {Override{Selection: everywhere, Embedded: []EmbeddedOverride{{Path: "a", MergePatch: map[string]any{}}}}, "overrides.4.embedded.0.path", "slash"},
		"embedded nothing":    {Override{Selection: everywhere, Embedded: []EmbeddedOverride{{Path: "/a"}}}, "overrides.4.embedded.0.path", "changes nothing"},
		"embedded patch":      {Override{Selection: everywhere, Embedded: []EmbeddedOverride{{Path: "/a", JSONPatch: []Operation{{Op: "x", Path: "/a"}}}}}, "overrides.4.embedded.0.json_patch", `"x"`},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.override.Validate(4), c.path, c.word) })
	}
	noError(t, Override{Selection: everywhere, JSONPatch: operations(t, `[{op: remove, path: /a}]`)}.Validate(0))
}

func ptr[T any](v T) *T { return &v }

func TestMergePatchExamplesOfRFC7386(t *testing.T) {
	for _, c := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		same(t, MergePatch(value(t, c.target), value(t, c.patch)), value(t, c.want))
	}
	same(t, MergePatch(value(t, `{"a":"foo"}`), nil), nil)
}

func TestMergePatchLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, patch := mapGen(3).Draw(t, "tree"), patchGen(3).Draw(t, "patch")
		treeBefore, patchBefore := text(t, tree), len(patch)
		once := MergePatch(tree, patch)
		same(t, MergePatch(once, patch), once)
		same(t, MergePatch(tree, map[string]any{}), any(tree))
		same(t, text(t, tree), treeBefore)
		same(t, len(patch), patchBefore)
		for key, value := range patch {
			found, there := once.(map[string]any)[key]
			if (value == nil) == there {
				t.Fatalf("key %q: patch %v, result %v", key, value, found)
			}
		}
		for key, value := range tree {
			if _, touched := patch[key]; !touched {
				same(t, once.(map[string]any)[key], value)
			}
		}
	})
}

func TestMergePatchResultSharesNothing(t *testing.T) {
	tree, patch := value(t, `{a: {b: [1]}, c: [1]}`), value(t, `{d: {e: [1]}}`)
	out, _ := MergePatch(tree, patch).(map[string]any)
	out["a"].(map[string]any)["b"].([]any)[0] = "changed"
	out["c"].([]any)[0] = "changed"
	out["d"].(map[string]any)["e"].([]any)[0] = "changed"
	same(t, tree, value(t, `{a: {b: [1]}, c: [1]}`))
	same(t, patch, value(t, `{d: {e: [1]}}`))
}

func TestParseMergePatchWantsAMap(t *testing.T) {
	patch, err := ParseMergePatch("spec: {replicas: 5, paused: null}")
	noError(t, err)
	same(t, patch, value(t, `{spec: {replicas: 5, paused: ~}}`))
	for _, wrong := range []string{"[]", "x", "7", "null", "", "a: 1\n---\nb: 2", "{", "a: 99999999999999999999"} {
		if _, err := ParseMergePatch(wrong); len(Findings(err)) != 1 {
			t.Errorf("%q: want one finding, got %v", wrong, err)
		}
	}
}

func TestSetReplicas(t *testing.T) {
	for _, manifest := range []string{
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 1}}`, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}}`,
		`{apiVersion: v1, kind: ReplicationController, metadata: {name: x}, spec: {}}`, `{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: x}, spec: {}}`,
		`{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDeployment, metadata: {name: x}}`,
	} {
		tree := object(t, manifest)
		noError(t, SetReplicas(tree, 5))
		found, _ := ValueAt(tree, "/spec/replicas")
		same(t, found, any(int64(5)))
	}
}

func TestSetReplicasRefusesKindsWithout(t *testing.T) {
	for manifest, word := range map[string]string{
		`{apiVersion: batch/v1, kind: Job, metadata: {name: x}}`:                  "parallelism",
		`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x}}`:             "Kind DaemonSet has no spec.replicas",
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`:                  "Kind ConfigMap has no spec.replicas",
		`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x}}`:  "Kind Ingress has no spec.replicas",
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: [a]}`: "spec must be a map",
	} {
		refused(t, SetReplicas(object(t, manifest), 1), "replicas", word)
	}
	refused(t, SetReplicas(object(t, deployment), -1), "replicas", "negative")
}

func TestUnknownContainerListsThoseThere(t *testing.T) {
	for name, o := range map[string]Override{
		"images": {Images: []ImageOverride{{Container: "web", Tag: ptr("2")}, {Container: "wbe", Tag: ptr("2")}}},
		"env":    {Env: []EnvOverride{{"web", "A", "1"}, {"wbe", "A", "1"}}},
		"args":   {Args: []ArgsOverride{{Container: "web", Add: []string{"a"}}, {Container: "wbe", Add: []string{"a"}}}},
	} {
		_, _, err := overridden(t, deployment, o)
		refused(t, err, "overrides.2."+name+".1.container", `no container "wbe"`, `"init", "web" and "side"`)
	}
}

func TestImagesOfAKindWithoutContainersAreRefused(t *testing.T) {
	_, _, err := overridden(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, Override{Images: []ImageOverride{{Container: "*", Tag: ptr("2")}}})
	refused(t, err, "overrides.2.images", "Kind ConfigMap has no containers")
	_, _, err = overridden(t, `{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: []}}`, Override{Env: []EnvOverride{{"*", "a", "b"}}})
	refused(t, err, "overrides.2.env.0.container", "no containers")
}

func TestEnvIsSetInPlaceOrAtTheEnd(t *testing.T) {
	const env = "/spec/template/spec/containers/0/env"
	same(t, overriddenAt(t, Override{Env: []EnvOverride{{"web", "B", "two"}, {"web", "D", ""}, {"web", "A", "one"}}}, env),
		`[{"name":"A","value":"one"},{"name":"B","value":"two"},{"name":"C","value":"3"},{"name":"D","value":""}]`)
	same(t, overriddenAt(t, Override{Env: []EnvOverride{{"*", "X", "1"}}}, "/spec/template/spec/initContainers/0/env"), `[{"name":"X","value":"1"}]`)
	same(t, overriddenAt(t, Override{Env: []EnvOverride{{"*", "X", "1"}}}, "/spec/template/spec/containers/1/env"), `[{"name":"X","value":"1"}]`)
}

func TestArgsAreRemovedWhereEqualThenAddedAtTheEnd(t *testing.T) {
	const args = "/spec/template/spec/containers/0/args"
	same(t, overriddenAt(t, Override{Args: []ArgsOverride{{Container: "web", Remove: []string{"--v=1"}, Add: []string{"--v=2", "--v=1"}}}}, args),
		`["--port=80","--v=2","--v=1"]`)
	same(t, overriddenAt(t, Override{Args: []ArgsOverride{{Container: "side", Add: []string{"a"}}}}, "/spec/template/spec/containers/1/args"), `["a"]`)
	same(t, overriddenAt(t, Override{Args: []ArgsOverride{{Container: "*", Remove: []string{"--port=80", "--port=80"}}}}, args), `["--v=1","--v=1"]`)
}

func TestArgsWarnOfARemovalThatFindsNothing(t *testing.T) {
	_, warnings, err := overridden(t, deployment, Override{Args: []ArgsOverride{{Container: "web", Remove: []string{"--v=1", "--v"}}}})
	noError(t, err)
	same(t, warnings, []string{`overrides[2]: args[0]: remove[1] is no argument of container "web"`})
}

func TestArgsAndEnvThatAreNoListsAreRefused(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, args: x, env: {a: b}}]}}`
	_, _, err := overridden(t, pod, Override{Args: []ArgsOverride{{Container: "a", Add: []string{"a"}}}})
	refused(t, err, "overrides.2.args.0", "args of container", "text")
	_, _, err = overridden(t, pod, Override{Env: []EnvOverride{{"a", "b", "c"}}})
	refused(t, err, "overrides.2.env.0", "env of container", "a map")
}

func TestContainersAreFoundInEveryKindThatMakesPods(t *testing.T) {
	for manifest, pointer := range map[string]string{
		`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: i}]}}`:                                                      "/spec/containers/0/image",
		`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [], ephemeralContainers: [{name: a, image: i}]}}`:                             "/spec/ephemeralContainers/0/image",
		`{apiVersion: v1, kind: PodTemplate, metadata: {name: x}, template: {spec: {containers: [{name: a, image: i}]}}}`:                                  "/template/spec/containers/0/image",
		`{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {containers: [{name: a, image: i}]}}}}`:                            "/spec/template/spec/containers/0/image",
		`{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: i}]}}}}}}`: "/spec/jobTemplate/spec/template/spec/containers/0/image",
		`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: x}, spec: {template: {spec: {containers: [{name: a, image: i}]}}}}`:            "/spec/template/spec/containers/0/image",
	} {
		out, _, err := overridden(t, manifest, Override{Images: []ImageOverride{{Container: "a", Tag: ptr("2")}}})
		noError(t, err)
		found, _ := ValueAt(out, pointer)
		same(t, found, any("i:2"))
	}
}

func TestApplyRefusesWhatIsNoManifest(t *testing.T) {
	for _, tree := range []map[string]any{nil, {}, {"kind": "A"}, {"metadata": "x"}} {
		if _, _, err := Apply(tree, Override{Labels: map[string]string{"a": "b"}}, 0); err == nil {
			t.Errorf("%v is accepted", tree)
		}
	}
}

func TestEmbeddedDocumentsArePatchedInTheirFormat(t *testing.T) {
	const config = `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {c.yaml: %s, other: o}}`
	for name, c := range map[string]struct {
		before   string
		override EmbeddedOverride
		want     string
	}{
		"yaml":                {"a: 1\nb: {c: yes}\n", EmbeddedOverride{JSONPatch: operations(t, `[{path: /a, value: "yes"}]`)}, "a: \"yes\"\nb:\n  c: true\n"},
		"yaml without a line": {"a: 1", EmbeddedOverride{Format: "yaml", MergePatch: value(t, `{b: 0400}`)}, "a: 1\nb: 256"},
		"yaml then merge":     {"a: 1\n", EmbeddedOverride{JSONPatch: operations(t, `[{op: add, path: /b, value: 1}]`), MergePatch: value(t, `{b: ~, c: 9007199254740993}`)}, "a: 1\nc: 9007199254740993\n"},
		"a list":              {"- a\n- b\n", EmbeddedOverride{JSONPatch: operations(t, `[{op: add, path: /-, value: c}]`)}, "- a\n- b\n- c\n"},
		"json on one line":    {`{"b": 1, "a": "<&>"}`, EmbeddedOverride{Format: "json", MergePatch: value(t, `{c: 1.5}`)}, `{"a":"<&>","b":1,"c":1.5}`},
		"json on many":        {"{\n    \"a\": 1\n}\n", EmbeddedOverride{Format: "json", MergePatch: value(t, `{b: [1]}`)}, "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ]\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c.override.Path = "/data/c.yaml"
			in := object(t, strings.Replace(config, "%s", "x", 1))
			in["data"].(map[string]any)["c.yaml"] = c.before
			out, _, err := Apply(in, Override{Embedded: []EmbeddedOverride{c.override}}, 0)
			noError(t, err)
			same(t, out["data"], any(map[string]any{"c.yaml": c.want, "other": "o"}))
		})
	}
}

func TestEmbeddedDocumentInASecretIsInBase64(t *testing.T) {
	out, _, err := overridden(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {c: YTogMQo=}}`,
		Override{Embedded: []EmbeddedOverride{{Path: "/data/c", MergePatch: value(t, `{b: 2}`)}}})
	noError(t, err)
	same(t, out["data"], value(t, `{c: YTogMQpiOiAyCg==}`))
	_, _, err = overridden(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {c: "a: 1"}}`,
		Override{Embedded: []EmbeddedOverride{{Path: "/data/c", MergePatch: value(t, `{b: 2}`)}}})
	refused(t, err, "overrides.2.embedded.0.path", "is not base64")
}

func TestEmbeddedErrorsAreAtTheirAttribute(t *testing.T) {
	const config = `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {good: "a: 1", bad: "a: [hunter2", two: "a: 1\n---\nb: 2", map: {}}}`
	merge := value(t, `{b: 2}`)
	for name, c := range map[string]struct {
		override EmbeddedOverride
		field    string
		words    []string
	}{
		"absent":       {EmbeddedOverride{Path: "/data/none", MergePatch: merge}, "path", []string{`/data has no key "none"`}},
		"no text":      {EmbeddedOverride{Path: "/data/map", MergePatch: merge}, "path", []string{"must be text, but is a map"}},
		"broken":       {EmbeddedOverride{Path: "/data/bad", MergePatch: merge}, "path", []string{"not one YAML document"}},
		"two":          {EmbeddedOverride{Path: "/data/two", MergePatch: merge}, "path", []string{"not one YAML document"}},
		"yaml as json": {EmbeddedOverride{Path: "/data/good", Format: "json", MergePatch: merge}, "path", []string{"not one JSON value"}},
		"patch":        {EmbeddedOverride{Path: "/data/good", JSONPatch: operations(t, `[{path: /x, value: 1}]`)}, "json_patch", []string{"Operation 1 of 1", `no key "x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := overridden(t, config, Override{Embedded: []EmbeddedOverride{c.override}})
			refused(t, err, "overrides.2.embedded.0."+c.field, c.words...)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes the text: %v", err)
			}
		})
	}
}
