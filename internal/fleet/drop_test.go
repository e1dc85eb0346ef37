package fleet_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

const sidecar = `{name: side, image: "busybox:1"}`

// withSidecar is the deployment with a second container.
func withSidecar() string {
	return strings.TrimRight(deployment, "\n") + "\n      - " + sidecar + "\n"
}

func TestADroppedFieldGoesWhateverOthersDidToIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, c := range map[string]struct {
		before, after string
		between       string // what somebody does in between
		gone          string
		applies       int
	}{
		"nobody touched it": {configMap, strings.Replace(configMap, `, b: "1"`, "", 1), "", "/data/b", 1},
		"edited":            {configMap, strings.Replace(configMap, `, b: "1"`, "", 1), `{data: {b: theirs}}`, "/data/b", 2},
		"a label":           {deployment, strings.Replace(deployment, ", labels: {team: x}", "", 1), `{metadata: {labels: {team: theirs}}}`, "/metadata/labels/team", 2},
		"a list item": {withSidecar(), deployment,
			`{spec: {template: {spec: {containers: [{name: web, image: "nginx:1"}, {name: side, image: "theirs:2", env: [{name: X, value: "1"}]}]}}}}`,
			"/spec/template/spec/containers/1", 1},
		"an item of env": {deployment, strings.Replace(deployment, `{name: B, value: "2"}, `, "", 1),
			`{spec: {template: {spec: {containers: [{name: web, image: "nginx:1", env: [{name: B, value: theirs}, {name: A, value: "1"}]}]}}}}`,
			"/spec/template/spec/containers/0/env/1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			suffix := kubetest.UniqueName(t, "x")
			rename := strings.NewReplacer("name: cm", "name: cm-"+suffix, "name: web, labels", "name: web-"+suffix+", labels", "metadata: {name: web}", "metadata: {name: web-"+suffix+"}").Replace
			r := w.declare(t, rename(c.before))
			r.must(t)
			if c.between != "" {
				r.patch(t, "a", c.between)
			}
			r.write(t, rename(c.after))
			if p := r.plan(t); len(p.findings) > 0 {
				t.Errorf("the plan says %s", texts(p.findings))
			}
			w.reset()
			r.must(t)
			if got := r.value(t, "a", c.gone); got != nil {
				t.Errorf("%s is still %v", c.gone, got)
			}
			applied := func(q kubetest.Request) bool { return q.Verb == kubetest.Apply && !q.DryRun }
			if n := w.proxies["a"].Count(applied); n != c.applies {
				t.Errorf("applied %d times, want %d", n, c.applies)
			}
			r.empty(t)
		})
	}
}

func TestADroppedEmptyMapLeavesWhatOthersPutIntoIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, adopted := range map[string]bool{"created": false, "adopted": true} {
		cm := kubetest.UniqueName(t, "cm")
		manifest := func(data string) string {
			return `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + cm + `}` + data + `}`
		}
		theirs := func(r *resource) any { return r.value(t, "a", "/data/theirs") }
		r := w.declare(t, manifest(`, data: {}, binaryData: {x: AA==}`))
		if adopted {
			w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+cm+`, namespace: `+w.namespace+`}, data: {theirs: "1"}}`)
			r.spec.Policy.OnExisting = fleet.PolicyAdopt
			r.must(t)
		} else {
			r.must(t)
			r.patch(t, "a", `{data: {theirs: "1"}}`)
		}
		for _, data := range []string{`, data: {a: "1"}`, `, data: {}, binaryData: {x: AA==}`, ``} {
			r.write(t, manifest(data))
			r.must(t)
			if got := theirs(r); got != "1" {
				t.Errorf("%s, then with %q: theirs is %v", name, data, got)
			}
			r.empty(t)
		}
	}
}

// withSpec is the schema of an object whose spec has these properties.
func withSpec(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": properties}}}
}

// TestAMapThatIsDroppedWholeLeavesNothingBehind: who created the object anew holds the map besides what is in it.
func TestAMapThatIsDroppedWholeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	text := map[string]any{"type": "string"}
	mapOf := func(values map[string]any) map[string]any {
		return map[string]any{"type": "object", "additionalProperties": values}
	}
	apiVersion := w.widgetOf(t, "a", false, withSpec(map[string]any{
		"a": text, "open": mapOf(text), "deep": mapOf(mapOf(text)), "list": map[string]any{
			"type": "array", "items": map[string]any{"type": "object", "required": []any{"x"}, "properties": map[string]any{"x": text}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"x"}},
	}))
	for name, restored := range map[string]bool{"restored": true, "adopted": false} {
		object := func(spec string) string {
			return `{apiVersion: ` + apiVersion + `, kind: Widget, metadata: {name: ` + name + `}, spec: {a: "1"` + spec + `}}`
		}
		whole := object(`, open: {x: "1"}, deep: {z: {z: "1"}}, list: [{x: "1"}]`)
		r := w.declare(t, whole)
		r.spec.Policy.OnExisting = fleet.PolicyAdopt
		if restored {
			r.must(t)
			r.restore(t, "a")
		} else {
			w.clusters["a"].Create(t, strings.Replace(whole, "metadata: {", "metadata: {namespace: "+w.namespace+", ", 1))
			r.must(t)
		}
		r.empty(t)
		r.write(t, object(""))
		r.must(t)
		if spec := r.value(t, "a", "/spec"); !reflect.DeepEqual(spec, map[string]any{"a": "1"}) {
			t.Errorf("%s: what is left is %v", name, spec)
		}
		r.empty(t)
	}
}

// TestAMapThatIsEmptiedStaysAndIsEmpty: API servers make null of it in one step, which schemas refuse.
func TestAMapThatIsEmptiedStaysAndIsEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	text := map[string]any{"type": "string"}
	apiVersion := w.widgetOf(t, "a", false, withSpec(map[string]any{
		"a": text, "open": map[string]any{"type": "object", "additionalProperties": text}, "raw": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	}))
	for name, restored := range map[string]bool{"ours": false, "restored": true} {
		object := func(spec string) string {
			return `{apiVersion: ` + apiVersion + `, kind: Widget, metadata: {name: ` + name + `}, spec: {a: "1", ` + spec + `}}`
		}
		r := w.declare(t, object(`open: {x: "1"}, raw: {x: [1]}`))
		r.spec.Policy.OnExisting = fleet.PolicyAdopt
		r.must(t)
		if restored {
			r.restore(t, "a")
			r.empty(t)
		}
		r.write(t, object(`open: {}, raw: {}`))
		if p := r.plan(t); len(p.findings) > 0 {
			t.Errorf("%s: the plan says %s", name, texts(p.findings))
		}
		r.must(t)
		if spec := r.value(t, "a", "/spec"); !reflect.DeepEqual(spec, map[string]any{"a": "1", "open": map[string]any{}, "raw": map[string]any{}}) {
			t.Errorf("%s: the member holds %v", name, spec)
		}
		r.empty(t)
	}
}

// TestADroppedMapGoesWholeWhereOthersHoldAPartOfIt: a schema refuses what they would leave of it.
func TestADroppedMapGoesWholeWhereOthersHoldAPartOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	text := map[string]any{"type": "string"}
	apiVersion := w.widgetOf(t, "a", false, withSpec(map[string]any{
		"a": text, "ref": map[string]any{"type": "object", "required": []any{"kind", "name"}, "properties": map[string]any{"kind": text, "name": text, "scope": text}},
	}))
	object := func(spec string) string {
		return `{apiVersion: ` + apiVersion + `, kind: Widget, metadata: {name: held}, spec: {` + spec + `}}`
	}
	r := w.declare(t, object(`a: "1", ref: {kind: A, name: a, scope: Cluster}`))
	r.must(t)
	r.restore(t, "a")
	r.empty(t)
	r.write(t, object(`a: "1", ref: {kind: B, name: b, scope: Cluster}`))
	r.must(t)

	r.write(t, object(`a: 7`))
	tells(t, r.plan(t).findings, "a error: API server refuses "+r.id(t))

	r.write(t, object(`a: "2"`))
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	r.must(t)
	if spec := r.value(t, "a", "/spec"); !reflect.DeepEqual(spec, map[string]any{"a": "2"}) {
		t.Errorf("what is left is %v", spec)
	}
	r.empty(t)
}

// TestADroppedFieldThatAnUpdaterSetToOurValueGoes: whoever writes back the value of ours co-owns it without anybody seeing a difference.
func TestADroppedFieldThatAnUpdaterSetToOurValueGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	r.patch(t, "a", `{data: {b: theirs}}`)
	r.patch(t, "a", `{data: {b: "1"}}`)
	r.write(t, strings.Replace(configMap, `, b: "1"`, "", 1))
	r.must(t)
	if b := r.value(t, "a", "/data/b"); b != nil {
		t.Errorf("b is still %v", b)
	}
	r.empty(t)
}

func TestADroppedFieldThatAnotherApplierHasStaysAndThePlanSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	w.clusters["a"].Apply(t, "another tool", false, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}, data: {b: "1"}}`)
	r.write(t, strings.Replace(configMap, `, b: "1"`, "", 1))
	p := r.plan(t)
	tells(t, p.findings, "a warning: Dropped field stays")
	says(t, p.findings, ".data.b", `"another tool"`)
	r.must(t)
	if b := r.value(t, "a", "/data/b"); b != "1" {
		t.Errorf("b is %v", b)
	}
	r.empty(t)
}

func TestADroppedReplicaCountKeepsItsLiveValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, scale := range map[string]string{"ours": "", "scaled by others": `{spec: {replicas: 5}}`} {
		rename := strings.NewReplacer("name: web, labels", "name: "+kubetest.UniqueName(t, "web")+", labels").Replace
		r := w.declare(t, rename(deployment))
		r.must(t)
		want := int64(2)
		if scale != "" {
			r.patch(t, "a", scale, "scale")
			want = 5
		}
		r.write(t, rename(strings.Replace(deployment, "  replicas: 2\n", "", 1)))
		if p := r.plan(t); len(p.findings) > 0 {
			t.Errorf("%s: the plan says %s", name, texts(p.findings))
		}
		r.must(t)
		if n := r.value(t, "a", "/spec/replicas"); n != want {
			t.Errorf("%s: %v replicas, want %d", name, n, want)
		}
		r.empty(t)
		r.patch(t, "a", `{spec: {replicas: 7}}`, "scale")
		r.empty(t)
		r.write(t, rename(strings.NewReplacer("  replicas: 2\n", "", "nginx:1", "nginx:2").Replace(deployment)))
		r.must(t)
		if n := r.value(t, "a", "/spec/replicas"); n != int64(7) {
			t.Errorf("%s: after the next update %v replicas, want 7", name, n)
		}
	}
}

func TestAFormerManifestThatIsRefusedByNowDoesNotStandInTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	w.proxies["a"].Status(403, kubetest.When(func(q kubetest.Request) bool { return q.DryRun && strings.Contains(string(q.Body), `"b":`) }))
	r.write(t, strings.Replace(configMap, `, b: "1"`, "", 1))
	r.must(t)
	if b := r.value(t, "a", "/data/b"); b != nil {
		t.Errorf("b is still %v", b)
	}
}

// TestADropCutOffAnywhereConverges: the member is lost after each of the writes that a contested drop takes.
func TestADropCutOffAnywhereConverges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for k := 1; k <= 3; k++ {
		rename := strings.NewReplacer("name: cm", "name: "+kubetest.UniqueName(t, "cm")).Replace
		r := w.declare(t, rename(configMap))
		r.must(t)
		r.patch(t, "a", `{data: {b: theirs, c: theirs}}`)
		r.write(t, rename(strings.NewReplacer(`, b: "1"`, "", `a: "1"`, `a: "2"`).Replace(configMap)))
		fault := w.proxies["a"].CutAfterWrites(k)
		if outcome := r.apply(t); !outcome.Failed() {
			t.Errorf("cut after %d: no error", k)
		}
		fault.Heal()
		if p := r.plan(t); len(p.findings) > 0 || !slices.Equal(p.writes, w.names) {
			t.Errorf("cut after %d: the plan writes %v and says %s", k, p.writes, texts(p.findings))
		}
		r.must(t)
		if a, b, c := r.value(t, "a", "/data/a"), r.value(t, "a", "/data/b"), r.value(t, "a", "/data/c"); a != "2" || b != nil || c != "theirs" {
			t.Errorf("cut after %d: a %v, b %v, c %v", k, a, b, c)
		}
		r.empty(t)
	}
}
