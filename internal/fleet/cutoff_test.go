package fleet_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func (r *resource) rename(t *testing.T, name string) {
	t.Helper()
	metadata := r.spec.Template["metadata"].(map[string]any)
	metadata["name"] = name
}

// TestAnAdoptionCutOffAnywhereConverges: taking an object over takes two writes. Whichever is the last, the next run finishes it, and what
// the other manager had is dropped with the template later.
func TestAnAdoptionCutOffAnywhereConverges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for k := 1; k <= 2; k++ {
		name := kubetest.UniqueName(t, "cm")
		w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: `+w.namespace+`}, data: {a: "9", b: "9", theirs: "9"}}`)
		r := w.declare(t, configMap)
		r.rename(t, name)
		r.spec.Policy.OnExisting = fleet.PolicyAdopt
		fault := w.proxies["a"].CutAfterWrites(k)
		outcome := r.apply(t)
		if outcome.Failed() != outcome.Undone {
			t.Errorf("cut after %d: an error with a state taints it: %s", k, texts(outcome.Findings))
		}
		fault.Heal()
		if p := r.plan(t); fleet.HasError(p.findings) {
			t.Errorf("cut after %d: the next plan says %s", k, texts(p.findings))
		}
		if outcome = r.apply(t); outcome.Failed() || len(outcome.Pending) > 0 {
			t.Errorf("cut after %d: the next apply says %s", k, texts(outcome.Findings))
		}
		r.empty(t)
		r.write(t, strings.Replace(configMap, `, b: "1"`, "", 1))
		r.rename(t, name)
		r.must(t)
		if a, b, theirs := r.value(t, "a", "/data/a"), r.value(t, "a", "/data/b"), r.value(t, "a", "/data/theirs"); a != "1" || b != nil || theirs != "9" {
			t.Errorf("cut after %d: a %v, b %v, theirs %v", k, a, b, theirs)
		}
	}
}

// TestALostAnswerToAnAdoptionIsUndoneToo: the object is put back although nobody ever saw the answer.
func TestALostAnswerToAnAdoptionIsUndoneToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	before := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}, data: {a: "9"}}`)
	r := w.declare(t, configMap)
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	// The create-only PATCH is refused by the API server; the second is the one that takes the object over.
	forced := func(q kubetest.Request) bool { return q.Query.Get("force") == "true" }
	w.proxies["a"].LoseAnswer(kubetest.Times(1), kubetest.When(forced))
	if outcome := r.apply(t); !outcome.Undone {
		t.Fatalf("not undone: %s", texts(outcome.Findings))
	}
	if got, want := timeless(t, r.get(t, "a")), timeless(t, before); got != want {
		t.Errorf("put back is\n%s\nwas\n%s", got, want)
	}
	if there := r.there(t); !slices.Equal(there, []string{"a"}) {
		t.Errorf("the object is on %v", there)
	}
}

func TestAnUpdateCutOffAtAnyMemberConverges(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"a", "b"} {
		w := newWorld(t, 2)
		w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
		r := w.declare(t, deployment)
		r.must(t)
		r.write(t, strings.Replace(deployment, "nginx:1", "nginx:2", 1))
		fault := w.proxies[at].CutAfterWrites(1)
		if outcome := r.apply(t); !outcome.Failed() || outcome.Pending[at] == "" || len(outcome.Pending) != 1 {
			t.Errorf("cut at %s: pending %v: %s", at, outcome.Pending, texts(outcome.Findings))
		}
		if p := r.plan(t); p.seen[at].Err == nil || !slices.Equal(p.writes, []string{at}) {
			t.Errorf("cut at %s, and still down: error %v, writes %v", at, p.seen[at].Err, p.writes)
		}
		fault.Heal()
		r.must(t)
		r.empty(t)
	}
}

func TestAnInterruptedUpdateRecordsWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.must(t)
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	r.spec.Placement = on("a", "b")
	held := w.proxies["b"].Delay(time.Minute, kubetest.When(kubetest.Request.Write))
	w.reset()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		kubetest.Eventually(t, func() error {
			if held.Hits() == 0 || !w.wasAnswered("a") {
				return errors.New("not both writes are under way")
			}
			return nil
		})
		interrupt()
	}()
	outcome := r.applyIn(ctx, t, w.run(t))
	if told := texts(outcome.Findings); !outcome.Failed() || outcome.Pending["b"] == "" || !strings.Contains(told, "Interrupted") || strings.Contains(told, "reached") {
		t.Errorf("pending %v: %s", outcome.Pending, told)
	}
	if there := r.there(t); !slices.Equal(there, w.names) || !slices.Equal(r.record.Members(), there) {
		t.Errorf("after the interrupt, the object is on %v and the record has %v", there, r.record.Members())
	}
	held.Heal()
	if p := r.plan(t); !slices.Equal(p.writes, []string{"b"}) || !slices.Equal(p.leaving, []string{"c"}) {
		t.Errorf("the plan writes %v and leaves %v", p.writes, p.leaving)
	}
	r.must(t)
	r.empty(t)
	if there := r.there(t); !slices.Equal(there, []string{"a", "b"}) {
		t.Errorf("the object is on %v", there)
	}
}

func TestACreationThatRunsOutOfTimeSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	w.proxies["b"].BlackHole(kubetest.When(kubetest.Request.Write))
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	outcome := r.applyIn(ctx, t, w.run(t))
	if outcome.Failed() || outcome.Undone || !slices.Equal(r.there(t), []string{"a"}) {
		t.Errorf("undone %v, on %v: %s", outcome.Undone, r.there(t), texts(outcome.Findings))
	}
	says(t, outcome.Findings, "Time is up")
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}
