package fleet_test

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

const (
	image = "/spec/template/spec/containers/0/image"
	limit = "/spec/template/spec/containers/0/resources/limits/cpu"
)

// pinning is a webhook that puts the digest in the place of the tag of an image called web, and caps the CPU at 250m.
func pinning(digest *atomic.Value) func(admission) verdict {
	return func(a admission) verdict {
		var v verdict
		if name, _ := federation.ValueAt(a.Object.Object, image); name != nil && strings.HasPrefix(name.(string), "web:") {
			v.patch = append(v.patch, map[string]any{"op": "replace", "path": image, "value": "web@sha256:" + digest.Load().(string)})
		}
		if cpu, _ := federation.ValueAt(a.Object.Object, limit); cpu == "1" {
			v.patch = append(v.patch, map[string]any{"op": "replace", "path": limit, "value": "250m"})
		}
		return v
	}
}

// TestWhatAWebhookMakesOfOurFieldsIsNoDriftAndWhatOthersMakeOfThemIs: what we compare with is the API server's answer to our write, not the write.
func TestWhatAWebhookMakesOfOurFieldsIsNoDriftAndWhatOthersMakeOfThemIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	var digest atomic.Value
	digest.Store("00")
	w.webhook(t, "a", "Mutating", "apps", "deployments", pinning(&digest))
	template := strings.Replace(deployment, `image: "nginx:1"`, `image: "web:1", resources: {limits: {cpu: "1"}}`, 1)
	r := w.declare(t, template)
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	r.must(t)
	if got, cpu := r.value(t, "a", image), r.value(t, "a", limit); got != "web@sha256:00" || cpu != "250m" {
		t.Fatalf("the webhook has not made of it what it should: %v, %v", got, cpu)
	}
	r.empty(t)
	r.patch(t, "a", `{metadata: {annotations: {somebody: touched it}}}`) // so that the object is looked at
	r.empty(t)

	r.drifts(t, map[string]string{image: "other:1"}, func() {
		r.editContainer(t, "a", func(container map[string]any) { container["image"] = "other:1" })
	})
	if got := r.value(t, "a", image); got != "web@sha256:00" {
		t.Errorf("mended to %v", got)
	}

	digest.Store("11") // by itself no change of the object; shown beside one that is
	r.patch(t, "a", `{metadata: {annotations: {somebody: touched it again}}}`)
	r.empty(t)
	r.patch(t, "a", `{spec: {replicas: 5}}`, "scale")
	if drift := r.refresh(t, w.run(t))["a"].Drift; !maps.Equal(drift, map[string]string{"/spec/replicas": "5", image: "web@sha256:00"}) {
		t.Errorf("drift is %v", drift)
	}
	r.must(t)
	r.write(t, strings.Replace(template, "web:1", "web:2", 1))
	r.must(t)
	if got := r.value(t, "a", image); got != "web@sha256:11" {
		t.Errorf("updated to %v", got)
	}
	r.empty(t)
}

// TestAnUpdateThatAWebhookDeniesKeepsTheOldVersionAndIsPlannedAgain: also where it accepts the dry run and denies the write.
func TestAnUpdateThatAWebhookDeniesKeepsTheOldVersionAndIsPlannedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	var denies atomic.Value
	denies.Store("nothing")
	w.webhook(t, "b", "Validating", "", "configmaps", func(a admission) verdict {
		if mode := denies.Load(); mode == "everything" || (mode == "writes" && !a.DryRun) {
			return verdict{refusal: "not on a Friday"}
		}
		return verdict{}
	})
	r := w.declare(t, configMap)
	r.must(t)
	old := r.record.Copies["b"].Version
	r.write(t, strings.Replace(configMap, `a: "1"`, `a: "2"`, 1))

	denies.Store("everything")
	w.reset()
	p := r.plan(t)
	tells(t, p.findings, "b error: API server refuses core/ConfigMap/"+w.namespace+"/cm")
	says(t, p.findings, "not on a Friday")
	if n := len(w.proxies["a"].Writes()); n > 0 {
		t.Errorf("a was written %d times", n)
	}

	denies.Store("writes")
	if p = r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b error: API server refuses core/ConfigMap/"+w.namespace+"/cm")
	says(t, outcome.Findings, "not on a Friday")
	if a, b := r.record.Copies["a"].Version, r.record.Copies["b"].Version; a == old || b != old || r.value(t, "b", "/data/a") != "1" {
		t.Errorf("recorded are %s and %s, and were %s", a, b, old)
	}
	if p = r.plan(t); !slices.Equal(p.writes, []string{"b"}) || len(p.leaving)+len(p.findings) > 0 {
		t.Errorf("the next plan writes %v, leaves %v and says %s", p.writes, p.leaving, texts(p.findings))
	}
	denies.Store("nothing")
	w.reset()
	r.must(t)
	if a, b := len(w.proxies["a"].Writes()), len(w.proxies["b"].Writes()); a != 0 || b != 1 {
		t.Errorf("the next apply writes %d and %d times", a, b)
	}
	r.empty(t)
}

// TestACreationThatAWebhookDeniesIsUndoneAndTheNextOneMeetsNothing: never "exists already".
func TestACreationThatAWebhookDeniesIsUndoneAndTheNextOneMeetsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	var open atomic.Bool
	w.webhook(t, "b", "Validating", "", "configmaps", func(a admission) verdict {
		if a.DryRun || open.Load() {
			return verdict{}
		}
		return verdict{refusal: "not on a Friday"}
	})
	r := w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
	if outcome := r.apply(t); !outcome.Undone || !outcome.Failed() || len(r.there(t)) > 0 {
		t.Errorf("undone %v, on %v: %s", outcome.Undone, r.there(t), texts(outcome.Findings))
	}
	if p := r.plan(t); !slices.Equal(p.writes, w.names) || len(p.findings) > 0 {
		t.Errorf("the next plan writes %v and says %s", p.writes, texts(p.findings))
	}
	open.Store(true)
	r.must(t)
	r.empty(t)
}
