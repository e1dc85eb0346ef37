package fleet_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// offline is a world of members that nobody has to dial: any request to one fails.
func offline(names ...string) *world {
	w := &world{names: names, owner: "offline", namespace: "default", parallel: 16, manager: fieldManager, static: map[string]registry.Static{}}
	for _, name := range names {
		w.static[name] = registry.Static{Config: &rest.Config{Host: "https://127.0.0.1:1"}, Availability: registry.Offline}
	}
	return w
}

func selecting(labels map[string]string) federation.Placement {
	return federation.Placement{Selection: federation.Selection{Selector: &federation.Selector{MatchLabels: labels}}}
}

func TestPlacementByNameDialsNobody(t *testing.T) {
	t.Parallel()
	w := offline("a", "b")
	r := w.declare(t, configMap)
	resolution, change, _ := r.resolve(t, w.run(t))
	if !slices.Equal(resolution.Placed, w.names) || !resolution.PlacedKnown || !resolution.IDKnown || len(change.Writes) != 2 {
		t.Errorf("%+v", resolution)
	}
}

func TestStoredFactsOutrankTheRegistryAsItIs(t *testing.T) {
	t.Parallel()
	w := offline("a", "b")
	r := w.declare(t, configMap)
	r.spec.Placement = selecting(map[string]string{"tier": "gold"})
	stored := &fleet.Facts{Members: []fleet.Candidate{{Name: "a", Labels: map[string]string{"tier": "gold"}}, {Name: "z", Labels: map[string]string{"tier": "gold"}}}}
	resolution, err := w.run(t).Resolve(t.Context(), r.spec, stored, nil)
	if err != nil || !slices.Equal(resolution.Placed, []string{"a", "z"}) {
		t.Errorf("placed on %v (%v)", resolution.Placed, err)
	}
	resolution, err = w.run(t).Resolve(t.Context(), r.spec, nil, nil)
	if err != nil || len(resolution.Placed) != 0 || !resolution.PlacedKnown {
		t.Errorf("without facts, placed on %v (%v)", resolution.Placed, err)
	}
}

func TestAnAnnouncementOutranksStoredFacts(t *testing.T) {
	t.Parallel()
	w := offline("a", "b")
	r := w.declare(t, configMap)
	r.spec.Placement = selecting(map[string]string{"tier": "gold"})
	stored := &fleet.Facts{Members: []fleet.Candidate{{Name: "a", Labels: map[string]string{"tier": "gold"}}}}
	f := w.run(t)
	if err := f.Registry().Announce(registry.Announcement{Name: "new", Labels: map[string]string{"tier": "gold"}}); err != nil {
		t.Fatal(err)
	}
	resolution, err := f.Resolve(t.Context(), r.spec, stored, nil)
	if err != nil || !slices.Equal(resolution.Placed, []string{"a", "new"}) {
		t.Errorf("placed on %v (%v)", resolution.Placed, err)
	}
}

func TestUnknownPartsLeaveUnknownWhatDependsOnThemAndNothingElse(t *testing.T) {
	t.Parallel()
	w := offline("a", "b")
	base := func() *resource { return w.declare(t, configMap) }
	for name, c := range map[string]struct {
		change     func(*fleet.Spec)
		placed, id bool
		known      []string // members whose content is known
	}{
		"nothing":         {func(*fleet.Spec) {}, true, true, []string{"a", "b"}},
		"the placement":   {func(s *fleet.Spec) { s.PlacementUnknown = true }, false, true, nil},
		"a value":         {func(s *fleet.Spec) { s.TemplateUnknown = []string{"/data/a"} }, true, true, nil},
		"the template":    {func(s *fleet.Spec) { s.TemplateUnknown = []string{""}; s.Template = nil }, true, false, nil},
		"the name":        {func(s *fleet.Spec) { s.TemplateUnknown = []string{"/metadata/name"} }, true, false, nil},
		"the namespace":   {func(s *fleet.Spec) { s.TemplateUnknown = []string{"/metadata/namespace"} }, true, false, nil},
		"which overrides": {func(s *fleet.Spec) { s.OverridesUnknown = true }, true, true, nil},
		"one override": {func(s *fleet.Spec) {
			o := only("b", map[string]any{})
			o.Unknown = true
			s.Overrides = []fleet.Override{o}
		}, true, true, []string{"a"}},
		"replicas": {func(s *fleet.Spec) { s.ReplicasUnknown = true }, true, true, nil},
	} {
		r := base()
		c.change(&r.spec)
		resolution, err := w.run(t).Resolve(t.Context(), r.spec, nil, nil)
		if err != nil || len(resolution.Findings) > 0 {
			t.Errorf("%s: %v %s", name, err, texts(resolution.Findings))
			continue
		}
		var known []string
		for _, member := range w.names {
			if resolution.Desired[member].Known {
				known = append(known, member)
			}
		}
		if resolution.PlacedKnown != c.placed || resolution.IDKnown != c.id || !slices.Equal(known, c.known) {
			t.Errorf("%s: placement known %v, id known %v, content known of %v", name, resolution.PlacedKnown, resolution.IDKnown, known)
		}
	}
}

func TestReplicasOfAMemberOutrankThoseOfTheRest(t *testing.T) {
	t.Parallel()
	w := offline("a", "b")
	r := w.declare(t, deployment)
	r.spec.Replicas = map[string]int64{"*": 3, "b": 5}
	resolution, _, _ := r.resolve(t, w.run(t))
	for name, want := range map[string]int64{"a": 3, "b": 5} {
		if got, _ := federation.ValueAt(resolution.Desired[name].Tree, "/spec/replicas"); got != want {
			t.Errorf("member %s gets %v", name, got)
		}
	}
}

func TestNamesThatAreNoMembersAreErrorsUnlessTheyWerePlacedBefore(t *testing.T) {
	t.Parallel()
	w := offline("a", "b")
	r := w.declare(t, configMap)
	r.spec.Placement = on("a", "c", "d")
	findings := w.run(t).CheckNames(t.Context(), r.spec, &fleet.Record{Copies: map[string]*fleet.Copy{"d": {}}})
	tells(t, findings, "error: Unknown cluster", "d warning: Member is registered no longer")
	says(t, findings, `"c" is not a member`, `"a", "b"`, "put the member's connection back")
}

func TestSkipLeavesOutMembersWithoutTheKindOrTheNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	apiVersion := w.widget(t, "a", true)
	widgets := w.declare(t, `{apiVersion: `+apiVersion+`, kind: Widget, metadata: {name: w}}`)
	tells(t, widgets.plan(t).findings, "b error: Kind is not served")
	widgets.spec.Policy.OnMissingAPI = fleet.PolicySkip
	lonely := w.declare(t, configMap)
	lonely.spec.DefaultNamespace = kubetest.UniqueName(t, "only-b")
	w.makeNamespace(t, "b", lonely.spec.DefaultNamespace)
	lonely.spec.Policy.OnMissingNamespace = fleet.PolicySkip
	for r, want := range map[*resource]string{widgets: "a", lonely: "b"} {
		resolution, err := w.run(t).Resolve(t.Context(), r.spec, nil, nil)
		if err != nil || resolution.PlacedKnown {
			t.Errorf("a plan that creates knows its placement, which may be otherwise at apply: %v (%v)", resolution.Placed, err)
		}
		f := w.run(t)
		f.NoteApplying()
		r.applyIn(t.Context(), t, f)
		if r.record == nil || !slices.Equal(r.record.Members(), []string{want}) {
			t.Fatalf("written are %v, want %s", r.record.Members(), want)
		}
		if r.facts.Lacking[want] != "" || len(r.facts.Lacking) != 1 {
			t.Errorf("lacking are %v", r.facts.Lacking)
		}
		r.empty(t)
	}
}

func TestFactsHoldOnlyWhatTheConfigurationUses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	f := w.run(t)
	w.reset()
	facts, err := f.GatherFacts(t.Context(), r.spec, configMapKind, w.namespace, w.names, nil, nil)
	if err != nil || facts.Members != nil || facts.Lacking != nil || facts.Ready != nil {
		t.Errorf("%+v (%v)", facts, err)
	}
	for _, name := range w.names {
		if n := len(w.proxies[name].Requests()); n != 0 {
			t.Errorf("a placement by name costs member %s %d requests", name, n)
		}
	}
	r.spec.Placement = selecting(nil)
	if facts, err = f.GatherFacts(t.Context(), r.spec, configMapKind, w.namespace, w.names, w.names, facts); err != nil || len(facts.Members) != 2 || len(facts.Ready) != 2 {
		t.Errorf("%+v (%v)", facts, err)
	}
	again, err := w.run(t).GatherFacts(t.Context(), r.spec, configMapKind, w.namespace, w.names, w.names, facts)
	if err != nil || !reflect.DeepEqual(facts, again) {
		t.Errorf("gathered again: %+v (%v), were %+v", again, err, facts)
	}
}

func TestPendingMembersAreReadyOnceTheyAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	w.proxies["b"].Refuse()
	facts, err := w.run(t).GatherFacts(t.Context(), r.spec, configMapKind, w.namespace, w.names, w.names, nil)
	if err != nil || !slices.Equal(facts.Ready, []string{"a"}) {
		t.Errorf("ready are %v (%v)", facts.Ready, err)
	}
}

func TestWhatTheRunMakesIsCheckedWhenItIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	name := kubetest.UniqueName(t, "fed")
	t.Cleanup(func() { w.clusters["a"].Delete(t, "v1", "Namespace", "", name) })
	namespace := w.declare(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	inside := w.declare(t, configMap)
	inside.spec.DefaultNamespace = name
	f := w.run(t)
	tells(t, inside.planIn(t, f).findings, "a error: Namespace is missing")
	f = w.run(t)
	if p := namespace.planIn(t, f); len(p.findings) > 0 {
		t.Errorf("the namespace's plan says %s", texts(p.findings))
	}
	if p := inside.planIn(t, f); len(p.findings) > 0 {
		t.Errorf("the plan of what is in it says %s", texts(p.findings))
	}
	f = w.run(t)
	for _, r := range []*resource{namespace, inside} {
		if outcome := r.applyIn(t.Context(), t, f); len(outcome.Findings) > 0 {
			t.Errorf("the apply says %s", texts(outcome.Findings))
		}
	}
}

func TestADefinitionAndItsResourceInOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	t.Cleanup(func() {
		w.clusters["a"].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	})
	definition := w.declare(t, strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, "GROUP", group))
	widget := w.declare(t, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}}`)
	for _, step := range []func(*resource, *fleet.Fleet) []fleet.Finding{
		func(r *resource, f *fleet.Fleet) []fleet.Finding { return r.planIn(t, f).findings },
		func(r *resource, f *fleet.Fleet) []fleet.Finding {
			resolution, _, _ := r.resolve(t, f)
			f.Announce(r.spec, resolution) // Terraform plans once more in the process that applies
			return r.applyIn(t.Context(), t, f).Findings
		},
	} {
		f := w.run(t)
		for _, r := range []*resource{definition, widget} {
			if findings := step(r, f); len(findings) > 0 {
				t.Errorf("told is %s", texts(findings))
			}
		}
	}
	kubetest.Eventually(t, func() error {
		if _, there := w.clusters["a"].Find(t, group+"/v1", "Widget", w.namespace, "w"); !there {
			return errors.New("the resource is not there")
		}
		return nil
	})
	widget.empty(t)
}

// TestAMemberThatIsDownKeepsTheTopologyItHad: a selector by region must not take an object away from a member because nobody can ask its nodes.
func TestAMemberThatIsDownKeepsTheTopologyItHad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 5 * time.Second}
	w.add(t, "a", kubetest.Fresh(t, kubetest.Options{Lean: true}))
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {topology.kubernetes.io/region: eu, topology.kubernetes.io/zone: eu-1}}}`)
	r := w.declare(t, configMap)
	r.spec.Placement = selecting(map[string]string{federation.RegionLabel: "eu"})
	r.must(t)
	if len(r.facts.Members) != 1 || r.facts.Members[0].Region != "eu" {
		t.Fatalf("stored are %+v", r.facts.Members)
	}
	before := r.facts
	w.proxies["a"].Refuse()
	facts, err := w.run(t).GatherFacts(t.Context(), r.spec, configMapKind, w.namespace, w.names, nil, r.facts)
	if err != nil || !reflect.DeepEqual(facts.Members, before.Members) {
		t.Errorf("stored are %+v (%v), were %+v", facts.Members, err, before.Members)
	}
	r.facts = facts
	if p := r.plan(t); len(p.writes)+len(p.leaving) > 0 {
		t.Errorf("the plan writes %v and leaves %v", p.writes, p.leaving)
	}
}
