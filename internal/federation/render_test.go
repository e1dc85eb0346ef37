package federation

import (
	"testing"

	"pgregory.net/rapid"
)

// entry is an override of the members of these names.
func entry(o Override, clusters ...string) Override {
	o.Clusters = clusters
	return o
}

// entryWhere is an override of the members with a label.
func entryWhere(o Override, key, value string) Override {
	o.Selector = &Selector{MatchLabels: map[string]string{key: value}}
	return o
}

func TestRenderUsesTheEntriesThatMatchInListOrder(t *testing.T) {
	template := object(t, deployment)
	overrides := []Override{
		entryWhere(Override{Labels: map[string]string{"step": "1", "one": "1"}}, "tier", "x"),
		entry(Override{Labels: map[string]string{"step": "2"}}, "b"),
		entry(Override{Labels: map[string]string{"step": "3"}}, "a", "b"),
		entryWhere(Override{Labels: map[string]string{"named": "b"}}, NameLabel, "b"),
	}
	for _, c := range []struct {
		member Member
		used   []int
		labels string
	}{
		{Member{Name: "a", Labels: map[string]string{"tier": "x"}}, []int{0, 2}, `{app: web, step: "3", one: "1"}`},
		{Member{Name: "b"}, []int{1, 2, 3}, `{app: web, step: "3", named: b}`},
		{Member{Name: "c"}, []int{}, `{app: web}`},
	} {
		out, used, warnings, err := Render(template, overrides, c.member)
		noError(t, err)
		same(t, used, c.used)
		same(t, warnings, []string(nil))
		labels, _ := ValueAt(out, "/metadata/labels")
		same(t, labels, value(t, c.labels))
		again, err := RenderUsed(template, overrides, used)
		noError(t, err)
		same(t, again, out)
	}
	same(t, template, object(t, deployment))
}

func TestRenderWithoutOverridesIsTheTemplate(t *testing.T) {
	out, used, _, err := Render(object(t, deployment), nil, Member{Name: "a"})
	noError(t, err)
	same(t, out, object(t, deployment))
	same(t, used, []int{})
}

func TestRenderGivesATreeOfItsOwn(t *testing.T) {
	template := object(t, deployment)
	for _, overrides := range [][]Override{nil, {entry(Override{Labels: map[string]string{"a": "b"}}, "a")}} {
		out, _, _, err := Render(template, overrides, Member{Name: "a"})
		noError(t, err)
		noError(t, SetReplicas(out, 99))
		same(t, template, object(t, deployment))
	}
}

func TestRenderDropsNullsThatOverridesMade(t *testing.T) {
	out, _, _, err := Render(object(t, deployment), []Override{entry(Override{
		JSONPatch: operations(t, `[{path: /spec/replicas, value: ~}, {op: add, path: /spec/x, value: {a: ~, b: 1}}]`)}, "a")}, Member{Name: "a"})
	noError(t, err)
	if _, there := ValueAt(out, "/spec/replicas"); there {
		t.Error("the null is still there")
	}
	found, _ := ValueAt(out, "/spec/x")
	same(t, found, value(t, `{b: 1}`))
}

func TestRenderRefusesNullsInListsThatOverridesMade(t *testing.T) {
	_, _, _, err := Render(object(t, deployment), []Override{{}, entry(Override{JSONPatch: operations(t, `[{op: add, path: /spec/list, value: [~]}]`)}, "a")}[1:],
		Member{Name: "a"})
	refused(t, err, "overrides.0", "Member a", "After the overrides", "/spec/list/0")
}

func TestRenderTurnsStringDataOfAnOverrideIntoData(t *testing.T) {
	out, _, _, err := Render(object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {pw: b2xk, user: bWU=}}`),
		[]Override{entry(Override{MergePatch: value(t, `{stringData: {pw: new}}`)}, "a")}, Member{Name: "a"})
	noError(t, err)
	same(t, out, object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {pw: bmV3, user: bWU=}}`))
}

func TestRenderHintsAtDataForAPatchOfStringData(t *testing.T) {
	_, _, _, err := Render(object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {pw: b2xk}}`),
		[]Override{entry(Override{JSONPatch: operations(t, `[{path: /stringData/pw, value: new}]`)}, "a")}, Member{Name: "a"})
	refused(t, err, "overrides.0.json_patch", "turned into data")
}

func TestRenderRefusesWhatATemplateMustNotHold(t *testing.T) {
	for name, c := range map[string]struct{ manifest, merge, word string }{
		"a token Secret": {`{apiVersion: v1, kind: Secret, metadata: {name: x}}`, `{type: kubernetes.io/service-account-token}`, "Token Secret"},
		"duplicate env": {`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: []}}`,
			`{spec: {containers: [{name: a, env: [{name: A}, {name: A}]}]}}`, "indexes 0 and 1"},
		"a label that is no text": {`{apiVersion: v1, kind: Pod, metadata: {name: x}}`, `{metadata: {labels: {a: 1}}}`, "/metadata/labels/a must be text"},
	} {
		t.Run(name, func(t *testing.T) {
			overrides := []Override{entry(Override{MergePatch: value(t, c.merge)}, "a"), entry(Override{Labels: map[string]string{"b": "c"}}, "b")}
			_, _, _, err := Render(object(t, c.manifest), overrides, Member{Name: "a"})
			refused(t, err, "overrides.0", c.word, "Member a: overrides[0]: After the overrides")
		})
	}
}

func TestRenderWarningsNameNoMember(t *testing.T) {
	overrides := []Override{{Selection: Selection{Selector: &Selector{}}, JSONPatch: operations(t, `[{op: add, path: /metadata/labels, value: {a: b}}]`)}}
	_, _, one, err := Render(object(t, deployment), overrides, Member{Name: "a"})
	noError(t, err)
	_, _, other, err := Render(object(t, deployment), overrides, Member{Name: "b"})
	noError(t, err)
	same(t, one, other)
	same(t, len(one), 1)
}

func TestRenderRefusesASelectionThatIsNone(t *testing.T) {
	_, _, _, err := Render(object(t, deployment), []Override{{Labels: map[string]string{"a": "b"}}}, Member{Name: "a"})
	refused(t, err, "overrides.0", "Missing selection")
}

func TestRenderUsedRefusesEntriesThatAreGone(t *testing.T) {
	for _, used := range [][]int{{1}, {-1}, {0, 7}} {
		_, err := RenderUsed(object(t, deployment), []Override{entry(Override{Labels: map[string]string{"a": "b"}}, "a")}, used)
		fails(t, err, "is not there")
	}
}

func TestRenderIsTheSameEveryTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		template := map[string]any{"apiVersion": "v1", "kind": "A", "metadata": map[string]any{"name": "x"}, "spec": treeGen(3).Draw(t, "spec")}
		overrides := []Override{
			entry(Override{MergePatch: map[string]any{"spec": asAny(patchGen(2).Draw(t, "patch"))}}, "a"),
			entry(Override{Labels: map[string]string{"a": "b"}, JSONPatch: []Operation{{Op: "add", Path: "/new", HasValue: true, Value: treeGen(2).Draw(t, "value")}}}, "a"),
		}
		one, _, _, err := Render(template, overrides, Member{Name: "a"})
		noError(t, err)
		other, _, _, err := Render(template, overrides, Member{Name: "a"})
		noError(t, err)
		same(t, text(t, one), text(t, other))
		same(t, Version(one, nil, nil), Version(other, nil, nil))
	})
}
