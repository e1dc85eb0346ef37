package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestCreateWritesEveryMemberOnceAndTheNextPlanIsEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for _, template := range []string{configMap, deployment} {
		r := w.declare(t, template)
		p := r.plan(t)
		if len(p.findings) > 0 || !slices.Equal(p.writes, w.names) {
			t.Fatalf("the plan writes %v and says %s", p.writes, texts(p.findings))
		}
		w.reset()
		r.must(t)
		for _, name := range w.names {
			if asked := w.asked(name); len(asked) != 1 || !asked[0].Write() {
				t.Errorf("member %s: sent %v, want the write alone", name, asked)
			}
			mark, ok := member.MarkOf(r.get(t, name))
			if !ok || mark.Owner != w.owner || mark.Resource != r.record.Resource {
				t.Errorf("member %s: mark %+v", name, mark)
			}
		}
		r.empty(t)
	}
}

func TestOverridesAreWrittenToTheirMembersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.spec.Overrides = []fleet.Override{only("b", map[string]any{"data": map[string]any{"a": "2", "b": nil}})}
	r.must(t)
	if a, b := r.value(t, "a", "/data/a"), r.value(t, "b", "/data/a"); a != "1" || b != "2" {
		t.Errorf("a has %v, b has %v", a, b)
	}
	if b := r.value(t, "b", "/data/b"); b != nil {
		t.Errorf("b still has %v", b)
	}
	r.empty(t)
}

func TestARefusedDryRunNamesTheMembersConcernedAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, deployment)
	r.spec.Overrides = []fleet.Override{only("b", map[string]any{"spec": map[string]any{"replicas": int64(-3)}})}
	w.reset()
	p := r.plan(t)
	tells(t, p.findings, "b error: API server refuses apps/Deployment/"+w.namespace+"/web")
	says(t, p.findings, "spec.replicas")
	for _, name := range w.names {
		if writes := w.proxies[name].Writes(); len(writes) > 0 {
			t.Errorf("member %s: %v", name, writes)
		}
	}
}

func TestAMemberThatIsDownBeforeTheFirstWriteFailsTheCreationOrIsLeftForLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	w.proxies["b"].Refuse()
	w.reset()
	tells(t, r.plan(t).findings, "b error: Member cannot be reached")
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b error: Member cannot be reached")
	if !outcome.Undone || len(w.proxies["a"].Writes())+len(w.proxies["c"].Writes()) > 0 {
		t.Errorf("undone %v, and written", outcome.Undone)
	}
	r.spec.Policy.OnUnreachable = fleet.PolicySkip
	tells(t, r.plan(t).findings, "b warning: Member cannot be reached")
	outcome = r.apply(t)
	tells(t, outcome.Findings, "b warning: Member cannot be reached")
	if outcome.Pending["b"] == "" || !slices.Equal(r.there(t), []string{"a", "c"}) {
		t.Errorf("pending %v, written %v", outcome.Pending, r.there(t))
	}
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

func TestAMissingNamespaceIsAnErrorOrIsMadeAndStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.spec.DefaultNamespace = kubetest.UniqueName(t, "only-a")
	w.makeNamespace(t, "a", r.spec.DefaultNamespace)
	tells(t, r.plan(t).findings, "b error: Namespace is missing")
	if outcome := r.apply(t); !outcome.Undone {
		t.Fatalf("not undone: %s", texts(outcome.Findings))
	}
	r.spec.Policy.OnMissingNamespace = fleet.PolicyCreate
	t.Cleanup(func() { w.clusters["b"].Delete(t, "v1", "Namespace", "", r.spec.DefaultNamespace) })
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("with create, the plan says %s", texts(p.findings))
	}
	r.must(t)
	r.empty(t)
	if outcome := r.destroy(t); len(outcome.Findings) > 0 {
		t.Errorf("destroy says %s", texts(outcome.Findings))
	}
	if ns := w.clusters["b"].Get(t, "v1", "Namespace", "", r.spec.DefaultNamespace); ns.GetDeletionTimestamp() != nil {
		t.Error("destroy deleted the namespace")
	}
}

// TestServerWarningsAreToldOnceAtThePlan: of all members together, and never when nothing is to be written, although a deprecated kind is warned of
// with every answer.
func TestServerWarningsAreToldOnceAtThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	w.undefine(t, "gadgets."+group)
	w.declare(t, strings.Replace(definition(group), "{name: v1, ", "{name: v1, deprecated: true, ", 1)).must(t)
	gadget := w.declare(t, `{apiVersion: `+group+`/v1, kind: Gadget, metadata: {name: g1}, spec: {size: 3}}`)
	for _, name := range w.names {
		w.clusters[name].AwaitServed(t, group+"/v1")
	}
	for _, name := range w.names {
		w.clusters[name].MergePatch(t, "v1", "Namespace", "", w.namespace, `{metadata: {labels: {pod-security.kubernetes.io/warn: restricted}}}`)
	}
	for words, r := range map[string]*resource{"PodSecurity": w.declare(t, deployment), "deprecated": gadget} {
		merged := fleet.Merge(r.plan(t).findings)
		if len(merged) != 1 || merged[0].Error || !slices.Equal(merged[0].Members, w.names) || !strings.Contains(merged[0].Detail, words) {
			t.Errorf("told is %s", texts(merged))
		}
		r.must(t)
		r.empty(t)
	}
}
