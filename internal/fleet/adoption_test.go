package fleet_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// TestAFieldOfAnObjectThatAnUpdaterMadeGoesWithTheApplyThatDropsIt: however the object became ours, and also if that apply is the first.
func TestAFieldOfAnObjectThatAnUpdaterMadeGoesWithTheApplyThatDropsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, take := range map[string]func(t *testing.T, template string) *resource{
		"adopted": func(t *testing.T, template string) *resource {
			r := w.declare(t, template)
			r.spec.Policy.OnExisting = fleet.PolicyAdopt
			r.must(t)
			return r
		},
		"imported": func(t *testing.T, template string) *resource {
			r, _ := w.imported(t, configMapKind, w.declare(t, template).name())
			r.must(t)
			return r
		},
		"imported, and nothing applied yet": func(t *testing.T, template string) *resource {
			r, _ := w.imported(t, configMapKind, w.declare(t, template).name())
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			template := `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + kubetest.UniqueName(t, "cm") + `}, data: {keep: "1", drop: "1"}}`
			w.clusters["a"].Create(t, strings.Replace(template, "metadata: {", "metadata: {namespace: "+w.namespace+", ", 1))
			r := take(t, template)
			r.write(t, strings.Replace(template, `, drop: "1"`, "", 1))
			if p := r.plan(t); len(p.findings) > 0 || len(p.writes) != 1 {
				t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
			}
			r.must(t)
			if data := r.value(t, "a", "/data"); !reflect.DeepEqual(data, map[string]any{"keep": "1"}) {
				t.Errorf("the object holds %v", data)
			}
			r.empty(t)
		})
	}
}

// name is the name of the resource's object.
func (r *resource) name() string {
	name, _ := federation.ValueAt(r.spec.Template, "/metadata/name")
	return name.(string)
}

// TestAnAdoptionTellsWhatADestroyWillDo: the object had a life before ours.
func TestAnAdoptionTellsWhatADestroyWillDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for orphan, words := range map[bool]string{false: "A destroy deletes it", true: "A destroy releases it"} {
		template := strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1)
		r := w.declare(t, template)
		w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+r.name()+`, namespace: `+w.namespace+`}, data: {theirs: "1"}}`)
		r.spec.Policy.OnExisting, r.spec.Deletion.Orphan = fleet.PolicyAdopt, orphan
		says(t, r.plan(t).findings, words, `deletion.policy = "orphan"`)
		r.must(t)
		if outcome := r.destroy(t); len(outcome.Findings) > 0 {
			t.Errorf("destroy says %s", texts(outcome.Findings))
		}
		live, there := r.find(t, "a")
		if there != orphan {
			t.Errorf("orphan %v: there %v", orphan, there)
		}
		if there && r.value(t, "a", "/data/theirs") != "1" {
			t.Errorf("what others had in it is gone: %v", live.Object)
		}
	}
}

// TestOfAnObjectThatAnotherManagerAppliesWeOwnWhatTheTemplateSaysAndOurMarks: no default, no port, nothing else.
func TestOfAnObjectThatAnotherManagerAppliesWeOwnWhatTheTemplateSaysAndOurMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clusters["a"].Apply(t, "theirs", false, `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: `+w.namespace+`}, spec: {selector: {app: web}, ports: [{port: 80}]}}`)
	r := w.declare(t, `{apiVersion: v1, kind: Service, metadata: {name: web, labels: {x: "y"}}}`)
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	r.must(t)
	var fields any
	for _, entry := range r.get(t, "a").GetManagedFields() {
		if entry.Manager == fieldManager {
			if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]any{"f:metadata": map[string]any{
		"f:labels":      map[string]any{"f:x": map[string]any{}, "f:" + member.OwnerLabel: map[string]any{}},
		"f:annotations": map[string]any{"f:" + member.OwnerAnnotation: map[string]any{}, "f:" + member.ResourceAnnotation: map[string]any{}},
	}}
	if !reflect.DeepEqual(fields, want) {
		t.Errorf("owned are %v", fields)
	}
	r.empty(t)
	r.patch(t, "a", `{spec: {sessionAffinity: ClientIP}}`)
	r.empty(t)
}

// TestAnExportedObjectSettles: what the server put into it is neither sent nor part of the version.
func TestAnExportedObjectSettles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	w.undefine(t, "gadgets."+group)
	exported := w.clusters["a"].Create(t, definition(group))
	for name, template := range map[string]string{"gadgets": encoded(t, exported.Object)} {
		r := w.declare(t, template)
		r.spec.Policy.OnExisting = fleet.PolicyAdopt
		resolution, _, _ := r.resolve(t, w.run(t))
		if len(resolution.Findings) != 1 || resolution.Findings[0].Error {
			t.Errorf("%s: told is %s", name, texts(resolution.Findings))
		}
		w.reset()
		r.must(t)
		for _, write := range w.proxies["a"].Writes() {
			for _, field := range []string{"creationTimestamp", `"uid":""`, "conditions", "generation", "last-applied"} {
				if write.Verb == kubetest.Apply && strings.Contains(string(write.Body), field) {
					t.Errorf("%s: %s is sent: %s", name, field, write.Body)
				}
			}
		}
		r.empty(t)
	}
	clean := w.declare(t, definition(group))
	clean.spec.Policy.OnExisting = fleet.PolicyAdopt
	_, change, _ := clean.resolve(t, w.run(t))
	same := w.declare(t, strings.Replace(definition(group), "metadata: {", "status: {conditions: []}\nmetadata: {creationTimestamp: null, resourceVersion: \"7\", uid: abc, managedFields: [], ", 1))
	_, again, _ := same.resolve(t, w.run(t))
	if change.Versions["a"] == "" || change.Versions["a"] != again.Versions["a"] {
		t.Errorf("versions are %v and %v", change.Versions, again.Versions)
	}
}

func encoded(t *testing.T, tree map[string]any) string {
	t.Helper()
	text, err := federation.Encode(tree)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAFormerNameOfOursHoldsNothing: the field manager may be renamed, and what is dropped later goes all the same.
func TestAFormerNameOfOursHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	object := func(data string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: ` + data + `}`
	}
	r := w.declare(t, object(`{a: "1", b: "1", c: "1"}`))
	r.must(t)
	w.manager = "renamed"
	r.empty(t)
	r.write(t, object(`{a: "2", b: "1", c: "1"}`))
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	r.must(t)
	r.empty(t)
	r.drifts(t, map[string]string{"/data/b": `"3"`}, func() { r.patch(t, "a", `{data: {b: "3"}}`) })
	r.write(t, object(`{a: "2"}`))
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan that drops fields says %s", texts(p.findings))
	}
	r.must(t)
	if data := r.value(t, "a", "/data"); !reflect.DeepEqual(data, map[string]any{"a": "2"}) {
		t.Errorf("the object holds %v", data)
	}
	r.empty(t)
	r.spec.Deletion.Orphan, r.state.Deletion.Orphan = true, true
	r.destroy(t)
	for _, entry := range r.get(t, "a").GetManagedFields() {
		if entry.Operation == "Apply" {
			t.Errorf("released, and %s still applies %s", entry.Manager, entry.FieldsV1)
		}
	}
}
