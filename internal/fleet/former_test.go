package fleet_test

import (
	"slices"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

func TestAMemberRegisteredNoLongerLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	kept := w.static["b"]
	delete(w.static, "b")
	f := w.run(t)
	facts, err := f.GatherFacts(t.Context(), r.spec, configMapKind, w.namespace, w.names, nil, r.facts)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(facts.Former, []string{"b"}) {
		t.Errorf("former members are %v", facts.Former)
	}
	r.facts = facts
	if p := r.plan(t); !slices.Equal(p.leaving, []string{"b"}) {
		t.Errorf("the plan leaves %v", p.leaving)
	}
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b error: Unable to delete from a member that is registered no longer")
	says(t, outcome.Findings, "put the member's connection back", `policy.on_unreachable_delete = "forget"`)
	r.spec.Policy.OnUnreachableDelete = fleet.PolicyForget
	outcome = r.apply(t)
	tells(t, outcome.Findings, "b warning: "+r.id(t)+" is left behind")
	says(t, outcome.Findings, "the member is registered no longer")
	w.static["b"] = kept
}

func TestAPlanTellsOnceOfAMemberRegisteredNoLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	delete(w.static, "b")
	f := w.run(t)

	told := []fleet.Finding{r.target(t, f).Unread("b", r.refresh(t, f)["b"].Err)}
	tells(t, told, "b warning: Member is registered no longer")
	says(t, told, "core/ConfigMap/"+w.namespace+"/cm", "put the member's connection back", "an apply ends in an error")
	if findings := f.CheckNames(t.Context(), r.spec, r.record); len(findings) > 0 {
		t.Errorf("told again: %s", texts(findings))
	}
	r.spec.Placement = on("a")
	if p := r.planIn(t, f); len(p.findings) > 0 || !slices.Equal(p.leaving, []string{"b"}) {
		t.Errorf("leaving are %v; told again: %s", p.leaving, texts(p.findings))
	}
	r.spec.Policy.OnUnreachableDelete = fleet.PolicyForget
	tells(t, r.planIn(t, f).findings, "b warning: Object of a former member is forgotten")
}

func TestAPlanWithoutRefreshTellsOfAMemberRegisteredNoLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	delete(w.static, "b")
	f := w.run(t)
	tells(t, f.CheckNames(t.Context(), r.spec, r.record), "b warning: Member is registered no longer")
	r.spec.Placement = on("a")
	_, change, record := r.resolve(t, f)
	tells(t, f.PreflightLeaving(t.Context(), change.Target, record, change.Leaving, change.Leaving), "b warning: Member is registered no longer")

	findings := f.PreflightReplacement(t.Context(), change.Target, record)
	tells(t, findings, "b error: Member is registered no longer")
	says(t, findings, "is deleted first", "put the member's connection back")
}
