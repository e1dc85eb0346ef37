package fleet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

func TestTwoCreationsOfOneObjectInAPlanAreAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clusters["a"].MergePatch(t, "v1", "Namespace", "", w.namespace, `{metadata: {labels: {pod-security.kubernetes.io/warn: restricted}}}`)
	f := w.run(t)
	first, second := w.declare(t, deployment), w.declare(t, deployment)
	second.spec.Placement = on("b")
	first.planIn(t, f) // with a warning, which does not hide it
	p := second.planIn(t, f)
	tells(t, p.findings, "b error: Object is declared twice")
}

func TestACreationOfWhatAStateHoldsIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	first := w.declare(t, configMap)
	first.must(t)
	second := w.declare(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	for _, policy := range []string{fleet.PolicyAdopt, fleet.PolicyError} {
		second.spec.Policy.OnExisting = policy
		f := w.run(t)
		first.planIn(t, f)
		tells(t, second.planIn(t, f).findings, "a error: Object is declared twice")
	}

	f := w.run(t) // an apply: both are carried out in one process
	first.write(t, strings.ReplaceAll(configMap, `"1"`, `"3"`))
	first.applyIn(t.Context(), t, f)
	outcome := second.applyIn(t.Context(), t, f)
	tells(t, outcome.Findings, "a error: Object is declared twice")
	if !outcome.Undone || first.value(t, "a", "/data/a") != "3" {
		t.Errorf("undone %v, the object has %v", outcome.Undone, first.value(t, "a", "/data/a"))
	}
}

func TestAReplacementIsSilentAtThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	old := w.declare(t, configMap)
	old.must(t)
	f := w.run(t)
	old.planIn(t, f)
	f.NoteReplaced(old.record)
	again := w.declare(t, configMap)
	if p := again.planIn(t, f); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	if outcome := old.destroy(t); len(outcome.Findings) > 0 {
		t.Fatalf("destroy says %s", texts(outcome.Findings))
	}
	again.must(t)
	again.empty(t)
}

func TestAReplacementDoesNotTakeOverWhatIsToBeDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	old := w.declare(t, configMap)
	old.must(t)
	f := w.run(t) // an apply with create_before_destroy
	f.NoteReplaced(old.record)
	again := w.declare(t, configMap)
	outcome := again.applyIn(t.Context(), t, f)
	tells(t, outcome.Findings, "a error: Object to be replaced is still there")
	if !outcome.Undone {
		t.Error("there is a state for what was not created")
	}
	old.empty(t)
}

func TestAResourceThatWasGivenAnotherNameIsToldToSaySo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	old := w.declare(t, configMap)
	old.must(t)
	f := w.run(t)
	old.refresh(t, f) // it is to be destroyed, and another resource has the same template
	findings := w.declare(t, configMap).planIn(t, f).findings
	tells(t, findings, "a error: Object is declared twice")
	says(t, findings, "moved {")
}

func TestOneClusterUnderTwoNamesIsNeitherWrittenNorDeletedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	w.clusters["z"], w.proxies["z"] = w.clusters["a"], kubetest.NewProxy(t, w.clusters["a"])
	w.static["z"] = registry.Static{Config: w.proxies["z"].RESTConfig()}
	r.spec.Placement = on("a", "b", "z")
	r.spec.Overrides = []fleet.Override{only("z", map[string]any{"data": map[string]any{"a": "of z"}})}
	before := r.get(t, "a").GetResourceVersion()
	outcome := r.apply(t) // it writes z alone, and does not dial a
	if says(t, outcome.Findings, "two names"); !outcome.Failed() || r.get(t, "a").GetResourceVersion() != before {
		t.Errorf("the object was written: %s", texts(outcome.Findings))
	}

	r.record.Copies["z"] = &fleet.Copy{UID: r.record.Copies["a"].UID, Version: r.record.Copies["a"].Version}
	r.spec.Placement, r.spec.Overrides = on("a", "b"), nil
	outcome = r.apply(t)
	tells(t, outcome.Findings, "z warning: Object is left where it is")
	if there := r.there(t); len(there) != 2 || len(r.record.Members()) != 2 {
		t.Errorf("the object is on %v, the record has %v", there, r.record.Members())
	}
}

func TestWhatAnInterruptedRunLeftIsTakenOverWithOneWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	lost := w.declare(t, configMap)
	lost.must(t) // and its state never reached the disk
	r := w.declare(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	merged := fleet.Merge(r.plan(t).findings)
	if len(merged) != 1 || merged[0].Error || len(merged[0].Members) != 2 {
		t.Errorf("the plan says %s", texts(merged))
	}
	if outcome := r.apply(t); outcome.Failed() || outcome.Undone {
		t.Fatalf("the apply says %s", texts(outcome.Findings))
	}
	if got := r.value(t, "a", "/data/a"); got != "2" {
		t.Errorf("a is %v", got)
	}
	r.empty(t)
}

// TestAClaimThatASecondStateContradictsIsTold: Terraform may plan the creation before it reads the state of the other resource.
func TestAClaimThatAStateContradictsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	first := w.declare(t, configMap)
	first.must(t)
	f := w.run(t)
	w.declare(t, configMap).planIn(t, f)
	if !f.ClaimedTwice(first.record) {
		t.Error("the fleet does not know that it has claimed the object")
	}
	other := w.run(t)
	w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1)).planIn(t, other)
	if other.ClaimedTwice(first.record) {
		t.Error("another process knows of it")
	}
}

func TestACreationPlannedBeforeTheStateOfItsObjectIsReadIsAnErrorAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	first := w.declare(t, configMap)
	first.must(t)
	f := w.run(t)
	second := w.declare(t, configMap)
	asked := make(chan []fleet.Finding)
	go func() { asked <- second.planIn(t, f).findings }()
	kubetest.Eventually(t, func() error {
		if w.proxies["a"].Count(func(r kubetest.Request) bool { return r.DryRun && r.Status != 0 }) == 0 {
			return errors.New("the API server has not been asked yet")
		}
		return nil
	})
	first.refresh(t, f)
	tells(t, <-asked, "a error: Object is declared twice")
	if f.ClaimedTwice(first.record) {
		t.Error("the object was taken for that of an interrupted run")
	}
}
