package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// definition is a CustomResourceDefinition of a namespaced kind, Gadget unless names are replaced in it.
func definition(group string) string {
	return strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]
`, "GROUP", group)
}

// undefine deletes definitions when the test ends.
func (w *world) undefine(t *testing.T, names ...string) {
	t.Cleanup(func() {
		for _, cluster := range w.clusters {
			for _, name := range names {
				cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
			}
		}
	})
}

// TestAResourceIsDryRunWhereItsKindIsServedAndCheckedAtApplyWhereThisRunDefinesIt: one member has the definition, the other gets it now.
func TestAResourceIsDryRunWhereItsKindIsServedAndCheckedAtApplyWhereThisRunDefinesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	w.undefine(t, "gadgets."+group)
	crd := w.declare(t, definition(group))
	crd.spec.Placement = on("a")
	crd.must(t)
	crd.spec.Placement = on("a", "b")
	gadget := w.declare(t, `{apiVersion: `+group+`/v1, kind: Gadget, metadata: {name: g1}, spec: {size: 3}}`)
	w.clusters["a"].AwaitServed(t, group+"/v1")
	tells(t, gadget.plan(t).findings, "b error: Kind is not served")

	f := w.run(t)
	w.reset()
	if p := crd.planIn(t, f); !slices.Equal(p.writes, []string{"b"}) || len(p.findings) > 0 {
		t.Errorf("the definition's plan writes %v and says %s", p.writes, texts(p.findings))
	}
	if p := gadget.planIn(t, f); !slices.Equal(p.writes, w.names) || len(p.findings) > 0 {
		t.Errorf("the resource's plan writes %v and says %s", p.writes, texts(p.findings))
	}
	isDryRun := func(q kubetest.Request) bool { return q.DryRun && q.Resource == "gadgets" }
	if a, b := w.proxies["a"].Count(isDryRun), w.proxies["b"].Count(isDryRun); a != 1 || b != 0 {
		t.Errorf("%d dry runs of the resource on a, where its kind is served, and %d on b, where it is not yet", a, b)
	}

	f = w.run(t)
	for _, r := range []*resource{crd, gadget} {
		resolution, _, _ := r.resolve(t, f)
		f.Announce(r.spec, resolution) // Terraform plans once more in the process that applies
		if outcome := r.applyIn(t.Context(), t, f); len(outcome.Findings) > 0 {
			t.Errorf("the apply says %s", texts(outcome.Findings))
		}
	}
	if there := gadget.there(t); !slices.Equal(there, w.names) {
		t.Errorf("the resource is on %v", there)
	}
	crd.empty(t)
	gadget.empty(t)
}

// TestAKindThatIsDefinedAndNeverServedFailsTheApplyByName: the API server does not accept the names of the definition.
func TestAKindThatIsDefinedAndNeverServedFailsTheApplyByName(t *testing.T) {
	t.Parallel() // the apply waits
	w := newWorld(t, 1)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	w.undefine(t, "gadgets."+group, "widgets."+group)
	w.declare(t, definition(group)).must(t)
	widgets := w.declare(t, strings.NewReplacer("gadgets", "widgets", "Gadget", "Widget").Replace(definition(group))) // singular: gadget, which is taken
	widget := w.declare(t, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: w1}, spec: {size: 3}}`)
	f := w.run(t)
	for _, r := range []*resource{widgets, widget} {
		if p := r.planIn(t, f); len(p.findings) > 0 {
			t.Errorf("the plan says %s", texts(p.findings))
		}
	}
	f = w.run(t)
	resolution, _, _ := widgets.resolve(t, f)
	f.Announce(widgets.spec, resolution)
	if outcome := widgets.applyIn(t.Context(), t, f); len(outcome.Findings) > 0 {
		t.Fatalf("the definition's apply says %s", texts(outcome.Findings))
	}
	outcome := widget.applyIn(t.Context(), t, f)
	tells(t, outcome.Findings, "a error: Kind is not served")
	says(t, outcome.Findings, group+"/v1 Widget")
	if !outcome.Undone {
		t.Error("a state is left")
	}
}
