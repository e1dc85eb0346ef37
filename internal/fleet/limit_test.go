package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestACreationThatWritesNothingInItsTimeIsAnErrorWithoutAState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	a := w.clusters["a"]
	a.Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, finalizers: [example.com/stuck]}}`)
	a.Delete(t, "v1", "ConfigMap", w.namespace, "cm")
	t.Cleanup(func() { a.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", `{metadata: {finalizers: null}}`) })
	r := w.declare(t, configMap)
	ctx, cancel := fleet.WithLimit(t.Context(), "timeouts.create", time.Second)
	defer cancel()
	outcome := r.applyIn(ctx, t, w.run(t))
	tells(t, outcome.Findings, "a error: Time is up")
	says(t, outcome.Findings, "timeouts.create (1s) ended", "example.com/stuck")
	if !outcome.Undone {
		t.Error("there is a state, and nothing was written")
	}
}

func TestTheEndOfAnOperationsOwnTimeIsNotBlamedOnAMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 3, Timeout: time.Minute}
	r := w.declare(t, configMap)
	hole := w.proxies["b"].BlackHole()
	ctx, cancel := fleet.WithLimit(t.Context(), "timeouts.create", time.Second)
	defer cancel()
	outcome := r.applyIn(ctx, t, w.run(t))
	tells(t, outcome.Findings, "b error: Time is up")
	if said := texts(outcome.Findings); !strings.Contains(said, "timeouts.create (1s)") || strings.Contains(said, "Bring the member back") || !outcome.Undone {
		t.Errorf("undone %v, and said is %s", outcome.Undone, said)
	}
	hole.Heal()
	r.must(t)

	r.spec.Policy.OnUnreachableDelete = fleet.PolicyForget
	r.must(t)
	w.proxies["b"].BlackHole(kubetest.When(kubetest.Request.Write))
	ctx, cancel = fleet.WithLimit(t.Context(), "timeouts.delete", time.Second)
	defer cancel()
	outcome = r.destroyIn(ctx, t)
	says(t, outcome.Findings, "timeouts.delete (1s)")
	if !outcome.Failed() || len(r.record.Members()) != 1 {
		t.Errorf("the record has %v: %s", r.record.Members(), texts(outcome.Findings))
	}
}
