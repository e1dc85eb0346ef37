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

func TestDestroyDeletesEverywhereByUID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, deployment)
	r.must(t)
	w.reset()
	if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.record.Members()) > 0 {
		t.Fatalf("left are %v: %s", r.record.Members(), texts(outcome.Findings))
	}
	if there := r.there(t); len(there) > 0 {
		t.Errorf("the object is still on %v", there)
	}
	for _, name := range w.names {
		writes := w.proxies[name].Writes()
		if len(writes) != 1 || !strings.Contains(string(writes[0].Body), `"preconditions":{"uid":"`) || !strings.Contains(string(writes[0].Body), `"Foreground"`) {
			t.Errorf("member %s: sent %v", name, writes)
		}
	}
}

func TestAMemberThatLeavesThePlacementLosesTheObjectAndNothingElseIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.must(t)
	r.spec.Placement = on("a", "c")
	if p := r.plan(t); !slices.Equal(p.leaving, []string{"b"}) || len(p.writes)+len(p.findings) > 0 {
		t.Fatalf("the plan leaves %v, writes %v and says %s", p.leaving, p.writes, texts(p.findings))
	}
	w.reset()
	r.must(t)
	if there := r.there(t); !slices.Equal(there, []string{"a", "c"}) || !slices.Equal(r.record.Members(), there) {
		t.Errorf("the object is on %v, the record has %v", there, r.record.Members())
	}
	if n := len(w.proxies["a"].Requests()) + len(w.proxies["c"].Requests()); n != 0 {
		t.Errorf("the members that stay get %d requests", n)
	}
	if writes := w.proxies["b"].Writes(); len(writes) != 1 || writes[0].Verb != kubetest.Delete {
		t.Errorf("the one that leaves gets %v", writes)
	}
	r.empty(t)
}

func TestNothingIsDeletedWhileAnotherMemberCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	r.spec.Placement = on("b")
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	w.proxies["b"].Status(403, kubetest.When(kubetest.Request.Write))
	if outcome := r.apply(t); !outcome.Failed() || !slices.Equal(r.record.Members(), w.names) {
		t.Errorf("the record has %v: %s", r.record.Members(), texts(outcome.Findings))
	}
	w.proxies["b"].Heal()
	p := r.plan(t)
	if o := p.seen["a"]; o.Err != nil || len(o.Drift) > 0 {
		t.Errorf("the copy that is to leave: error %v, drift %v", o.Err, o.Drift)
	}
	r.must(t)
	if there := r.there(t); !slices.Equal(there, []string{"b"}) {
		t.Errorf("the object is on %v", there)
	}
	r.empty(t)
}

func TestAMemberThatIsDownKeepsItsCopyInTheStateAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	r.must(t)
	w.proxies["b"].Refuse()
	outcome := r.destroy(t)
	tells(t, outcome.Findings, "b error: Unable to delete from a member that cannot be reached")
	says(t, outcome.Findings, "on_unreachable_delete")
	if !slices.Equal(r.record.Members(), []string{"b"}) || !slices.Equal(r.there(t), []string{"b"}) {
		t.Errorf("the record has %v, the object is on %v", r.record.Members(), r.there(t))
	}
	w.proxies["b"].Heal()
	if outcome = r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
		t.Errorf("once it is back: on %v, %s", r.there(t), texts(outcome.Findings))
	}
}

func TestADestroyAsksNobodyWhoDoesNotHaveTheObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.health = member.HealthCheck{Attempts: 1, Timeout: time.Minute}
	r := w.declare(t, configMap)
	r.spec.Placement = on("a")
	r.must(t)
	w.proxies["c"].BlackHole()
	dialled := w.proxies["c"].Connections()
	w.reset()
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
		t.Errorf("on %v: %s", r.there(t), texts(outcome.Findings))
	}
	if w.proxies["c"].Connections() != dialled || len(w.proxies["b"].Requests()) > 0 {
		t.Errorf("c was dialled %d times, b was asked %v", w.proxies["c"].Connections()-dialled, w.proxies["b"].Requests())
	}
}

func TestForgetForgetsAMemberThatIsDownButNotOneThatWasInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	r.spec.Policy.OnUnreachableDelete = fleet.PolicyForget
	r.must(t)
	held := w.proxies["a"].Delay(time.Minute, kubetest.When(kubetest.Request.Write))
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		kubetest.Eventually(t, func() error {
			if held.Hits() == 0 {
				return errors.New("the deletion has not begun")
			}
			return nil
		})
		interrupt()
	}()
	if outcome := r.destroyIn(ctx, t); !outcome.Failed() || !slices.Equal(r.record.Members(), w.names) {
		t.Errorf("interrupted: the record has %v: %s", r.record.Members(), texts(outcome.Findings))
	}
	held.Heal()
	w.proxies["a"].Refuse()
	outcome := r.destroy(t)
	tells(t, outcome.Findings, "a warning: "+r.id(t)+" is left behind")
	if len(r.record.Members()) > 0 {
		t.Errorf("the record has %v", r.record.Members())
	}
}

func TestALeavingMemberThatIsDownIsToldAtThePlanAndStaysInTheState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	r.must(t)
	r.spec.Placement = on("a")
	w.proxies["b"].Refuse()
	tells(t, r.plan(t).findings, "b warning: Member to delete from cannot be reached")
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b error: Unable to delete from a member that cannot be reached")
	if !slices.Equal(r.record.Members(), w.names) {
		t.Errorf("the record has %v", r.record.Members())
	}
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

func TestAFinalizerThatHoldsIsNamedAndTheOthersAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	r.patch(t, "b", `{metadata: {finalizers: [demo.test/hold]}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	outcome := r.destroyIn(ctx, t)
	tells(t, outcome.Findings, "b error: Object is not gone in time")
	says(t, outcome.Findings, "demo.test/hold", "since 2")
	if live := r.get(t, "b"); !slices.Equal(r.record.Members(), []string{"b"}) || !slices.Equal(r.there(t), []string{"b"}) || len(live.GetFinalizers()) != 1 {
		t.Errorf("the record has %v, the object is on %v with the finalizers %v", r.record.Members(), r.there(t), live.GetFinalizers())
	}
	r.patch(t, "b", `{metadata: {finalizers: null}}`)
	if outcome = r.destroy(t); len(outcome.Findings) > 0 || len(r.record.Members()) > 0 {
		t.Errorf("the second destroy leaves %v: %s", r.record.Members(), texts(outcome.Findings))
	}
}

func TestAnObjectWithoutOurMarkOrOfAnotherUIDIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	r.patch(t, "a", `{metadata: {annotations: {terraform.kubefed.io/resource: null}}}`)
	r.remove(t, "b")
	w.clusters["b"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}}`)
	outcome := r.destroy(t)
	tells(t, outcome.Findings, "a warning: "+r.id(t)+" is left behind")
	if there := r.there(t); !slices.Equal(there, w.names) || len(r.record.Members()) > 0 {
		t.Errorf("the object is on %v, the record has %v", there, r.record.Members())
	}
}

func TestWhatIsGoneAlreadyCountsAsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	for _, orphan := range []bool{false, true} {
		r := w.declare(t, configMap)
		r.spec.Deletion.Orphan = orphan
		r.must(t)
		r.remove(t, "a")
		if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.record.Members()) > 0 {
			t.Errorf("orphan %v: left are %v: %s", orphan, r.record.Members(), texts(outcome.Findings))
		}
		w.clusters["b"].Delete(t, "v1", "ConfigMap", w.namespace, "cm")
	}
}

func TestOrphanedObjectsStayAndAreStrangersAfterwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.spec.Deletion.Orphan = true
	r.must(t)
	if outcome := r.destroy(t); len(outcome.Findings) > 0 {
		t.Fatalf("destroy says %s", texts(outcome.Findings))
	}
	for _, name := range w.names {
		live := r.get(t, name)
		if _, marked := member.MarkOf(live); marked || len(live.GetLabels())+len(live.GetAnnotations()) > 0 || r.value(t, name, "/data/a") != "1" {
			t.Errorf("member %s has %v", name, live.Object)
		}
	}
	again := w.declare(t, configMap)
	tells(t, again.plan(t).findings, "a error: Object exists already", "b error: Object exists already")
}

func TestADeletionCutOffAnywhereConverges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, orphan := range []bool{false, true} {
		for k := 1; k <= 2; k++ {
			r := w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
			r.spec.Deletion.Orphan = orphan
			r.must(t)
			fault := w.proxies["a"].CutAfterWrites(k)
			first := r.destroy(t)
			fault.Heal()
			if first.Failed() {
				if again := r.destroy(t); len(again.Findings) > 0 {
					t.Errorf("orphan %v, cut after %d: the second destroy says %s", orphan, k, texts(again.Findings))
				}
			}
			if live, there := r.find(t, "a"); there != orphan {
				t.Errorf("orphan %v, cut after %d: there %v", orphan, k, there)
			} else if there && len(live.GetLabels())+len(live.GetAnnotations()) > 0 {
				t.Errorf("orphan %v, cut after %d: still marked %v", orphan, k, live.Object)
			}
		}
	}
}

func TestACopyThatMayBeThereIsNotForgottenByADestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	fault := w.proxies["b"].CutAfterWrites(1)
	if outcome := r.apply(t); outcome.Undone || outcome.Failed() {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	fault.Heal()
	if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
		t.Errorf("after the destroy it is on %v: %s", r.there(t), texts(outcome.Findings))
	}
}

func TestAnObjectOfAnotherVersionOfItsKindIsDeletedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, `{apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}}}`)
	r.must(t)
	r.spec.Template["apiVersion"], r.state.Template["apiVersion"] = "batch/v1beta1", "batch/v1beta1" // as if it had been served when it was written
	if outcome := r.destroy(t); len(outcome.Findings) > 0 {
		t.Errorf("destroy says %s", texts(outcome.Findings))
	}
	r.spec.Template["apiVersion"] = "batch/v1"
	if there := r.there(t); len(there) > 0 {
		t.Errorf("the object is still on %v", there)
	}
}

// TestAMemberThatNeverComesBackIsForgottenOnlyWhenAsked: whether everything is destroyed or the member leaves, and what is left behind is listed.
func TestAMemberThatNeverComesBackIsForgottenOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	for name, take := range map[string]func(*resource) *fleet.Outcome{
		"destroyed": func(r *resource) *fleet.Outcome { return r.destroy(t) },
		"left":      func(r *resource) *fleet.Outcome { r.spec.Placement = on("a"); return r.apply(t) },
	} {
		template := strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1)
		r := w.declare(t, template)
		r.must(t)
		dead := w.proxies["b"].Refuse()
		outcome := take(r)
		tells(t, outcome.Findings, "b error: Unable to delete from a member that cannot be reached")
		says(t, outcome.Findings, `policy.on_unreachable_delete = "forget"`)
		if !slices.Contains(r.record.Members(), "b") || (name == "destroyed") == slices.Contains(r.record.Members(), "a") {
			t.Errorf("%s: the record has %v", name, r.record.Members())
		}
		r.spec.Policy.OnUnreachableDelete, r.state.Policy.OnUnreachableDelete = fleet.PolicyForget, fleet.PolicyForget
		outcome = take(r)
		tells(t, outcome.Findings, "b warning: "+r.id(t)+" is left behind")
		says(t, outcome.Findings, "core/ConfigMap/"+w.namespace+"/"+r.name())
		if slices.Contains(r.record.Members(), "b") {
			t.Errorf("%s: the record still has %v", name, r.record.Members())
		}
		dead.Heal()
		if there := r.there(t); !slices.Contains(there, "b") {
			t.Errorf("%s: the object is on %v", name, there)
		}
	}
}
