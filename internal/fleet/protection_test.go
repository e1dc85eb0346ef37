package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestAProtectedNamespaceWithThingsOfOthersInsideIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	name := kubetest.UniqueName(t, "fed")
	r := w.declare(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	for _, member := range w.names {
		t.Cleanup(func() { w.clusters[member].Delete(t, "v1", "Namespace", "", name) })
	}
	r.must(t)
	ours := w.declare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: ours, namespace: `+name+`}}`)
	ours.must(t)
	f := w.run(t)
	if findings := f.Guard(t.Context(), r.target(t, f), r.record); len(findings) > 0 {
		t.Errorf("what is ours keeps it: %s", texts(findings))
	}
	w.clusters["b"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: `+name+`}}`)
	w.clusters["b"].Create(t, `{apiVersion: v1, kind: Secret, metadata: {name: theirs, namespace: `+name+`}}`)
	findings := f.Guard(t.Context(), r.target(t, f), r.record)
	tells(t, findings, "b error: Object is protected")
	says(t, findings, "ConfigMap "+name+"/theirs", "Secret "+name+"/theirs")
	if strings.Contains(texts(findings), "kube-root-ca.crt") || strings.Contains(texts(findings), "default") || strings.Contains(texts(findings), "ours") {
		t.Errorf("told is %s", texts(findings))
	}
	outcome := r.destroy(t)
	tells(t, outcome.Findings, "b error: Object is protected")
	if ns := w.clusters["b"].Get(t, "v1", "Namespace", "", name); ns.GetDeletionTimestamp() != nil || !slices.Equal(r.record.Members(), []string{"b"}) {
		t.Errorf("deleted %v, the record has %v", ns.GetDeletionTimestamp(), r.record.Members())
	}
}

func TestAProtectedNamespaceThatLeavesIsReleasedWhereOthersAreInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	name := kubetest.UniqueName(t, "fed")
	r := w.declare(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	for _, member := range w.names {
		t.Cleanup(func() { w.clusters[member].Delete(t, "v1", "Namespace", "", name) })
	}
	r.must(t)
	w.clusters["b"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: `+name+`}}`)
	r.spec.Placement = on("a")
	tells(t, r.plan(t).findings, "b warning: Object will be left behind")
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b warning: "+r.id(t)+" is left behind")
	live := r.get(t, "b")
	if _, marked := member.MarkOf(live); marked || live.GetDeletionTimestamp() != nil {
		t.Errorf("member b has %v", live.Object)
	}
	if there := r.there(t); !slices.Equal(there, []string{"a", "b"}) || !slices.Equal(r.record.Members(), []string{"a"}) {
		t.Errorf("the namespace is on %v, the record has %v", there, r.record.Members())
	}
}

func TestAProtectedDefinitionWithResourcesOfOthersIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	r := w.declare(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%s}
spec:
  group: %s
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, group))
	t.Cleanup(func() {
		w.clusters["a"].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	})
	r.must(t)
	r.empty(t)
	f := w.run(t)
	kubetest.Eventually(t, func() error {
		m, err := f.Registry().Open(t.Context(), "a")
		if err != nil {
			return err
		}
		m.Forget()
		kinds, err := m.Kinds(t.Context())
		if err != nil {
			return err
		}
		for _, kind := range kinds.Listable() {
			if kind.GVK.Group == group {
				return nil
			}
		}
		return errors.New("not served yet")
	})
	if findings := f.Guard(t.Context(), r.target(t, f), r.record); len(findings) > 0 {
		t.Errorf("an empty one is kept: %s", texts(findings))
	}
	w.clusters["a"].Create(t, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: theirs, namespace: `+w.namespace+`}}`)
	says(t, f.Guard(t.Context(), r.target(t, f), r.record), "Widget "+w.namespace+"/theirs")
	no := false
	r.state.Deletion.Protection = &no
	if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
		t.Errorf("unprotected, it is on %v: %s", r.there(t), texts(outcome.Findings))
	}
}
