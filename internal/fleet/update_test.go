package fleet_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestUpdateWritesOnceWhereSomethingChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, deployment)
	r.must(t)
	r.spec.Overrides = []fleet.Override{only("b", map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "y"}}})}
	if p := r.plan(t); !slices.Equal(p.writes, []string{"b"}) || len(p.findings) > 0 {
		t.Fatalf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	w.reset()
	r.must(t)
	if n := len(w.proxies["a"].Requests()); n != 0 {
		t.Errorf("member a, where nothing changes, gets %d requests", n)
	}
	if asked := w.asked("b"); len(asked) != 2 || asked[0].Verb != kubetest.List || !asked[1].Write() {
		t.Errorf("member b gets %v; want the LIST that has the mark, and the write", asked)
	}
	r.empty(t)
}

func TestAValueSomebodyChangedIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, deployment)
	r.must(t)
	r.patch(t, "a", `{spec: {replicas: 5}}`, "scale")
	p := r.plan(t)
	if p.seen["a"].Drift["/spec/replicas"] != "5" || !strings.Contains(p.seen["a"].Changed, "kubetest") {
		t.Errorf("drift is %v, changed by %q", p.seen["a"].Drift, p.seen["a"].Changed)
	}
	if !slices.Equal(p.writes, []string{"a"}) || len(p.findings) > 0 {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	if n := r.value(t, "a", "/spec/replicas"); n != int64(2) {
		t.Errorf("%v replicas", n)
	}
	r.empty(t)
}

func TestAFieldWeNeverOwnedIsAConflictOfThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	r.patch(t, "b", `{data: {c: theirs}}`)
	r.write(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: "1", b: "1", c: ours}}`)
	p := r.plan(t)
	tells(t, p.findings, "b error: Field conflict")
	says(t, p.findings, ".data.c (kubetest)", "on_conflict")
	outcome := r.apply(t)
	if !outcome.Failed() || r.value(t, "b", "/data/c") != "theirs" || r.value(t, "a", "/data/c") != "ours" {
		t.Errorf("the apply says %s", texts(outcome.Findings))
	}
	r.spec.Policy.OnConflict = fleet.PolicyForce
	if p := r.plan(t); len(p.findings) > 0 || !slices.Equal(p.writes, []string{"b"}) {
		t.Errorf("with force, the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	if c := r.value(t, "b", "/data/c"); c != "ours" {
		t.Errorf("c is %v", c)
	}
	r.empty(t)
}

// TestAConflictBesideDriftForcesNothing: a field of ours that somebody changed does not carry along one that was never ours.
func TestAConflictBesideDriftForcesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	r.patch(t, "a", `{data: {a: theirs, c: theirs}}`)
	r.write(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: "1", b: "1", c: ours}}`)
	p := r.plan(t)
	tells(t, p.findings, "a error: Field conflict")
	if text := texts(p.findings); !strings.Contains(text, ".data.c") || strings.Contains(text, ".data.a ") {
		t.Errorf("told is %s", text)
	}
}

func TestMembersThatFailAnUpdateLagBehindAndAreRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.must(t)
	r.write(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: "2", c: "2"}}`)
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if !outcome.Failed() || outcome.Pending["b"] == "" || len(outcome.Pending) != 1 {
		t.Fatalf("pending %v: %s", outcome.Pending, texts(outcome.Findings))
	}
	w.proxies["b"].Heal()
	r.patch(t, "b", `{data: {b: theirs}}`) // of the former manifest alone
	p := r.plan(t)
	if drift := p.seen["b"].Drift; len(drift) != 1 || drift["/data/b"] != "theirs" {
		t.Errorf("drift against the former manifest is %v", drift)
	}
	if !slices.Equal(p.writes, []string{"b"}) || len(p.findings) > 0 {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	if b := r.value(t, "b", "/data/b"); b != nil {
		t.Errorf("the dropped field, edited meanwhile, is still %v", b)
	}
	r.empty(t)
}

func TestOverrideEntriesMayMoveWithoutChangingAnything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	label := func(value string) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{"l": value}}}
	}
	r.spec.Overrides = []fleet.Override{only("a", label("1")), only("b", label("2"))}
	r.must(t)
	r.spec.Overrides = r.spec.Overrides[1:]
	if p := r.plan(t); !slices.Equal(p.writes, []string{"a"}) {
		t.Fatalf("the plan writes %v", p.writes)
	}
	r.must(t)
	r.patch(t, "b", `{metadata: {labels: {l: theirs}}}`)
	p := r.plan(t)
	if o := p.seen["b"]; o.Err != nil || o.Drift["/metadata/labels/l"] != "theirs" {
		t.Errorf("error %v, drift %v", o.Err, o.Drift)
	}
	r.must(t)
	r.empty(t)
}

func TestStopBeginsNoFurtherMemberAndContinueTriesAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.parallel = 1
	for policy, want := range map[string][]any{fleet.PolicyStop: {"1", "1", "1"}, fleet.PolicyContinue: {"1", "2", "2"}} {
		r := w.declare(t, strings.Replace(configMap, "name: cm", "name: cm-"+policy, 1))
		r.spec.Policy.OnFailure = policy
		r.must(t)
		r.write(t, strings.NewReplacer("name: cm", "name: cm-"+policy, `"1"`, `"2"`).Replace(configMap))
		w.proxies["a"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
		outcome := r.apply(t)
		if !outcome.Failed() {
			t.Errorf("%s: no error", policy)
		}
		for i, name := range w.names {
			if got := r.value(t, name, "/data/a"); got != want[i] {
				t.Errorf("%s: member %s has %v, want %v", policy, name, got, want[i])
			}
		}
		if policy == fleet.PolicyStop && len(outcome.Pending) != 3 {
			t.Errorf("pending is %v", outcome.Pending)
		}
		w.proxies["a"].Heal()
		r.must(t)
		r.empty(t)
	}
}

func TestAMemberThatIsDownHoldsNoUpdateOfTheOthersBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.parallel = 1
	for policy, failed := range map[string]bool{fleet.PolicyError: true, fleet.PolicySkip: false} {
		r := w.declare(t, strings.Replace(configMap, "name: cm", "name: cm-"+policy, 1))
		r.spec.Policy.OnUnreachable = policy
		r.must(t)
		r.write(t, strings.NewReplacer("name: cm", "name: cm-"+policy, `"1"`, `"2"`).Replace(configMap))
		w.proxies["a"].Refuse()
		tells(t, r.plan(t).findings, "a warning: Member cannot be reached")
		outcome := r.apply(t)
		if outcome.Failed() != failed || outcome.Pending["a"] == "" {
			t.Errorf("%s: failed %v, pending %v", policy, outcome.Failed(), outcome.Pending)
		}
		for _, name := range []string{"b", "c"} {
			if got := r.value(t, name, "/data/a"); got != "2" {
				t.Errorf("%s: member %s has %v", policy, name, got)
			}
		}
		w.proxies["a"].Heal()
		r.must(t)
		r.empty(t)
	}
}

func TestAnObjectDeletedBehindOurBackIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	r.remove(t, "b")
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	r.must(t) // without a refresh: the record still has the former uid
	r.empty(t)
}

func TestAnObjectTakenOverByAnotherConfigurationIsNotWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	other := *w
	other.owner = kubetest.UniqueName(t, "other")
	thief := other.declare(t, configMap)
	r.patch(t, "a", `{metadata: {labels: {terraform.kubefed.io/owner: null}}}`)
	thief.spec.Policy.OnExisting = fleet.PolicyAdopt
	thief.must(t)
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	p := r.plan(t)
	if p.seen["a"].Err == nil {
		t.Error("the refresh says nothing")
	}
	tells(t, p.findings, "a error: Object exists already")
	says(t, p.findings, other.owner)
	if outcome := r.apply(t); !outcome.Failed() {
		t.Error("the apply says nothing")
	}
	thief.empty(t)
}

func TestAMarkSomebodyRemovedIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	r.patch(t, "a", `{metadata: {labels: {terraform.kubefed.io/owner: null}, annotations: {terraform.kubefed.io/resource: null}}}`)
	p := r.plan(t)
	if len(p.seen["a"].Drift) == 0 || !slices.Equal(p.writes, []string{"a"}) {
		t.Errorf("drift %v, writes %v", p.seen["a"].Drift, p.writes)
	}
	r.must(t)
	r.empty(t)
}
