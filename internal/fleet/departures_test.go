package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// housed declares a Namespace on all members, and a ConfigMap in it.
func (w *world) housed(t *testing.T) (house, content *resource) {
	t.Helper()
	name := kubetest.UniqueName(t, "house")
	house = w.declare(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	content = w.declare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+name+`}, data: {a: "1"}}`)
	for _, member := range w.names {
		t.Cleanup(func() { w.clusters[member].Delete(t, "v1", "Namespace", "", name) })
	}
	house.must(t)
	content.must(t)
	return house, content
}

func TestWhatStaysWhereItsNamespaceGoesIsAnErrorOfThePlanThatComesSecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	house, content := w.housed(t)
	house.spec.Placement = on("a")
	f := w.run(t)
	tells(t, house.planIn(t, f).findings)
	findings := content.planIn(t, f).findings
	tells(t, findings, "b error: Object would go along")
	says(t, findings, "core/ConfigMap/"+content.state.Template["metadata"].(map[string]any)["namespace"].(string)+"/cm is placed there", "core/Namespace/")

	f = w.run(t)
	tells(t, content.planIn(t, f).findings)
	findings = house.planIn(t, f).findings
	tells(t, findings, "b error: Objects would go along")
	says(t, findings, "/cm")
}

func TestWhatLeavesWithItsNamespaceGoesUnlessItIsToBeKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	house, content := w.housed(t)
	house.spec.Placement, content.spec.Placement = on("a"), on("a")
	content.spec.Deletion.Orphan = true
	f := w.run(t)
	tells(t, house.planIn(t, f).findings)
	tells(t, content.planIn(t, f).findings, "b error: Object would go along")

	content.spec.Deletion.Orphan = false
	f = w.run(t)
	tells(t, house.planIn(t, f).findings)
	tells(t, content.planIn(t, f).findings)
	f = w.run(t)
	for _, r := range []*resource{house, content} { // as Terraform goes: what others depend on is updated first
		if outcome := r.applyIn(t.Context(), t, f); len(outcome.Findings) > 0 {
			t.Errorf("the apply says %s", texts(outcome.Findings))
		}
		if there := r.there(t); !slices.Equal(there, []string{"a"}) {
			t.Errorf("it is on %v", there)
		}
	}
}

func TestAnObjectWhoseKindWentBeforeItInTheSameRunIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	apiVersion := w.widget(t, "a", false)
	r := w.declare(t, fmt.Sprintf(`{apiVersion: %s, kind: Widget, metadata: {name: w}}`, apiVersion))
	r.must(t)
	f := w.run(t)
	r.refresh(t, f)
	definition := "widgets." + strings.TrimSuffix(apiVersion, "/v1")
	w.clusters["a"].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", definition)
	kubetest.Eventually(t, func() error {
		if _, there := w.clusters["a"].Find(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", definition); there {
			return errors.New("the definition is still there")
		}
		return nil
	})
	if outcome := f.Delete(t.Context(), r.target(t, f), r.record); len(outcome.Findings) > 0 {
		t.Errorf("the deletion says %s", texts(outcome.Findings))
	}
}
