package fleet_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestARefusedWriteUndoesTheCreation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if !outcome.Undone || !outcome.Failed() {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	says(t, outcome.Findings, "Member b", "was undone")
	if there := r.there(t); len(there) > 0 {
		t.Errorf("left on %v", there)
	}
	w.proxies["b"].Heal()
	r.must(t)
}

// timeless is an object as JSON, without what every write moves.
func timeless(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	o = o.DeepCopy()
	o.SetResourceVersion("")
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	o.SetManagedFields(entries)
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUndoPutsBackWhatWasTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	before := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, labels: {l: "1"}}, data: {a: theirs, z: theirs}}`)
	w.proxies["c"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	if outcome := r.apply(t); !outcome.Undone {
		t.Fatalf("not undone: %s", texts(outcome.Findings))
	}
	if there := r.there(t); !slices.Equal(there, []string{"a"}) {
		t.Errorf("the object is on %v", there)
	}
	if got, want := timeless(t, r.get(t, "a")), timeless(t, before); got != want {
		t.Errorf("put back is\n%s\nwas\n%s", got, want)
	}
}

func TestUndoThatCannotBeFinishedKeepsTheStateAndTaintsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	w.proxies["a"].Status(http.StatusForbidden, kubetest.When(func(q kubetest.Request) bool { return q.Verb == kubetest.Delete }))
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if outcome.Undone || outcome.Failed() {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	says(t, outcome.Findings, "could not be taken back")
	if !slices.Equal(r.record.Members(), []string{"a"}) || outcome.Pending["b"] == "" || outcome.Pending["c"] == "" {
		t.Errorf("the record has %v, pending is %v", r.record.Members(), outcome.Pending)
	}
	w.proxies["a"].Heal()
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

func TestContinueKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.spec.Policy.OnFailure = fleet.PolicyContinue
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if outcome.Undone || outcome.Failed() || outcome.Pending["b"] == "" || !slices.Equal(r.there(t), []string{"a", "c"}) {
		t.Fatalf("undone %v, pending %v: %s", outcome.Undone, outcome.Pending, texts(outcome.Findings))
	}
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

// TestAWriteAnsweredByAServerErrorIsAFailureLikeAnyOther: undone, or kept for the other members, and an error without a taint when it is an update.
func TestAWriteAnsweredByAServerErrorIsAFailureLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for _, reason := range []string{"InternalError", ""} {
		fail := func() *kubetest.Fault {
			return w.proxies["b"].Status(http.StatusInternalServerError, kubetest.Reason(reason), kubetest.When(kubetest.Request.Write))
		}
		stopped := w.declare(t, configMap)
		stopped.rename(t, kubetest.UniqueName(t, "cm"))
		fault := fail()
		if outcome := stopped.apply(t); !outcome.Undone || !outcome.Failed() || len(stopped.there(t)) > 0 {
			t.Errorf("stop: undone %v, left on %v: %s", outcome.Undone, stopped.there(t), texts(outcome.Findings))
		}

		r, name := w.declare(t, configMap), kubetest.UniqueName(t, "cm")
		r.rename(t, name)
		r.spec.Policy.OnFailure = fleet.PolicyContinue
		outcome := r.apply(t)
		if outcome.Undone || outcome.Failed() || outcome.Pending["b"] == "" || len(outcome.Pending) != 1 || !slices.Equal(r.there(t), []string{"a", "c"}) {
			t.Fatalf("continue: undone %v, pending %v, on %v: %s", outcome.Undone, outcome.Pending, r.there(t), texts(outcome.Findings))
		}
		fault.Heal()
		w.reset()
		if p := r.plan(t); !slices.Equal(p.writes, []string{"b"}) || len(p.findings) > 0 {
			t.Errorf("the next plan writes %v and says %s", p.writes, texts(p.findings))
		}
		r.must(t)
		if len(w.proxies["a"].Writes())+len(w.proxies["c"].Writes()) > 0 || !slices.Equal(r.there(t), w.names) {
			t.Errorf("the next apply writes %v, %v, and it is on %v", w.proxies["a"].Writes(), w.proxies["c"].Writes(), r.there(t))
		}

		r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
		r.rename(t, name)
		fault = fail()
		if outcome = r.apply(t); !outcome.Failed() || len(outcome.Pending) != 1 || outcome.Pending["b"] == "" || r.value(t, "c", "/data/a") != "2" {
			t.Errorf("update: pending %v: %s", outcome.Pending, texts(outcome.Findings))
		}
		fault.Heal()
		r.must(t)
		r.empty(t)
	}
}

// TestAMemberCutOffWhileItIsWritten: whatever reached the member before the line broke, the next run brings all to one state.
func TestAMemberCutOffWhileItIsWrittenConverges(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{fleet.PolicyStop, fleet.PolicyContinue} {
		for _, lost := range []bool{false, true} {
			w := newWorld(t, 2)
			r := w.declare(t, configMap)
			r.spec.Policy.OnFailure = policy
			fault := w.proxies["b"].CutAfterWrites(1)
			if !lost {
				fault.Heal()
				fault = w.proxies["b"].Refuse(kubetest.When(kubetest.Request.Write))
			}
			outcome := r.apply(t)
			if outcome.Failed() != outcome.Undone {
				t.Errorf("%s, lost %v: an error with a state taints it: %s", policy, lost, texts(outcome.Findings))
			}
			fault.Heal()
			p := r.plan(t)
			if fleet.HasError(p.findings) {
				t.Errorf("%s, lost %v: the next plan says %s", policy, lost, texts(p.findings))
			}
			if outcome = r.apply(t); outcome.Failed() || len(outcome.Pending) > 0 {
				t.Errorf("%s, lost %v: the next apply says %s", policy, lost, texts(outcome.Findings))
			}
			r.empty(t)
			if there := r.there(t); !slices.Equal(there, w.names) {
				t.Errorf("%s, lost %v: the object is on %v", policy, lost, there)
			}
		}
	}
}

func TestALostAnswerIsNoStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	w.proxies["a"].LoseAnswer(kubetest.Times(1))
	outcome := r.apply(t)
	if !outcome.Undone {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	if there := r.there(t); len(there) > 0 {
		t.Errorf("what was written without an answer is left on %v", there)
	}
	r.must(t)
	r.empty(t)
}

func TestAWriteThatWasDoneAndAnsweredWithAnErrorIsUndoneToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	w.proxies["b"].Status(http.StatusInternalServerError, kubetest.CarriedOut(), kubetest.Reason(""), kubetest.Message("etcdserver: request timed out"), kubetest.When(kubetest.Request.Write), kubetest.Times(1))
	outcome := r.apply(t)
	if there := r.there(t); !outcome.Undone || len(there) > 0 {
		t.Errorf("undone %v, the object is on %v: %s", outcome.Undone, there, texts(outcome.Findings))
	}
	r.must(t)
	r.empty(t)
}

func TestAWriteAnsweredByAServerErrorAfterItWasDoneIsOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	r.record, r.facts = nil, nil // as if nothing of the first answer had arrived
	tells(t, r.plan(t).findings, "a warning: Object of an interrupted run is taken over")
	tells(t, r.apply(t).Findings, "a warning: Object of an interrupted run is taken over")
	r.empty(t)
}

func TestAnInterruptedCreationIsRecordedAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	held := w.proxies["b"].Delay(time.Minute, kubetest.When(kubetest.Request.Write))
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		kubetest.Eventually(t, func() error {
			if held.Hits() == 0 || !w.wasAnswered("a") || !w.wasAnswered("c") {
				return errors.New("not all writes are under way")
			}
			return nil
		})
		interrupt()
	}()
	outcome := r.applyIn(ctx, t, w.run(t))
	if outcome.Undone || outcome.Failed() || !slices.Equal(r.there(t), []string{"a", "c"}) || outcome.Pending["b"] == "" {
		t.Fatalf("undone %v, record %v, pending %v: %s", outcome.Undone, r.record.Members(), outcome.Pending, texts(outcome.Findings))
	}
	says(t, outcome.Findings, "Interrupted")
	held.Heal()
	r.must(t)
	r.empty(t)
}
