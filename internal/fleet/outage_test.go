package fleet_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// outages are the ways in which a member does not say whether it has an object; some meet only the requests that are named.
func outages(p *kubetest.Proxy, some func(kubetest.Request) bool) map[string]func() *kubetest.Fault {
	isAPIs := func(q kubetest.Request) bool { return q.Path == "/apis" }
	return map[string]func() *kubetest.Fault{
		"refused":     func() *kubetest.Fault { return p.Refuse() },
		"black hole":  func() *kubetest.Fault { return p.BlackHole() },
		"TLS":         func() *kubetest.Fault { return p.BreakTLS(kubetest.UnknownAuthority) },
		"401":         func() *kubetest.Fault { return p.Status(http.StatusUnauthorized) },
		"403":         func() *kubetest.Fault { return p.Status(http.StatusForbidden) },
		"403 on some": func() *kubetest.Fault { return p.Status(http.StatusForbidden, kubetest.When(some)) },
		"429 for ever on some": func() *kubetest.Fault {
			return p.Status(http.StatusTooManyRequests, kubetest.RetryAfter(time.Hour), kubetest.When(some))
		},
		"503 on /apis":     func() *kubetest.Fault { return p.Status(http.StatusServiceUnavailable, kubetest.When(isAPIs)) },
		"bare 404":         func() *kubetest.Fault { return p.BareNotFound() },
		"bare 404 on some": func() *kubetest.Fault { return p.BareNotFound(kubetest.When(some)) },
	}
}

func TestADestroyForgetsNoMemberThatFailsWhateverTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	isObject := func(q kubetest.Request) bool { return q.Resource == "configmaps" }
	for name, fault := range outages(w.proxies["b"], isObject) {
		r := w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
		r.must(t)
		f := fault()
		outcome := r.destroy(t)
		f.Heal()
		if !outcome.Failed() || !slices.Equal(r.record.Members(), []string{"b"}) || !slices.Equal(r.there(t), []string{"b"}) {
			t.Errorf("%s: the record has %v, the object is on %v: %s", name, r.record.Members(), r.there(t), texts(outcome.Findings))
		}
		if outcome = r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
			t.Errorf("%s, once it is back: on %v, %s", name, r.there(t), texts(outcome.Findings))
		}
	}
}

// TestADeadMemberCostsItsTimeoutAndHoldsNobodyBack: the others are planned and written; nothing leaves it, and it alone is written once it is back.
func TestADeadMemberCostsItsTimeoutAndHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.health = member.HealthCheck{Attempts: 2, Timeout: time.Second, Interval: 100 * time.Millisecond}
	for name, die := range map[string]func() *kubetest.Fault{
		"an address where nobody listens": func() *kubetest.Fault { return w.proxies["b"].Refuse() },
		"an address that never answers":   func() *kubetest.Fault { return w.proxies["b"].BlackHole() },
	} {
		for _, policy := range []string{fleet.PolicyError, fleet.PolicySkip} {
			rename := strings.NewReplacer("name: web, labels: {team: x}", "name: "+kubetest.UniqueName(t, "web")+", labels: {team: x}").Replace
			r := w.declare(t, rename(deployment))
			r.spec.Policy.OnUnreachable = policy
			r.must(t)
			dead := die()
			r.write(t, strings.Replace(rename(deployment), "team: x", "team: z", 1))
			w.reset()
			start := time.Now()
			p := r.plan(t)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s: the plan takes %s, with 2 attempts of 1 s", name, took)
			}
			if p.seen["b"].Err == nil || !slices.Equal(p.writes, w.names) || len(p.leaving) > 0 {
				t.Errorf("%s: seen of b %+v, the plan writes %v and leaves %v", name, p.seen["b"], p.writes, p.leaving)
			}
			tells(t, p.findings, "b warning: Member cannot be reached")
			for _, other := range []string{"a", "c"} {
				if n := w.proxies[other].Count(func(q kubetest.Request) bool { return q.DryRun }); n != 1 {
					t.Errorf("%s: %d dry runs on %s", name, n, other)
				}
			}
			outcome := r.apply(t)
			if outcome.Failed() != (policy == fleet.PolicyError) || outcome.Pending["b"] == "" || len(outcome.Pending) != 1 {
				t.Errorf("%s, %s: pending %v: %s", name, policy, outcome.Pending, texts(outcome.Findings))
			}
			copies := r.record.Copies
			if copies["a"].Version != copies["c"].Version || copies["b"].Version == copies["a"].Version {
				t.Errorf("%s: versions are %s, %s and %s", name, copies["a"].Version, copies["b"].Version, copies["c"].Version)
			}
			if p := r.plan(t); !slices.Equal(p.writes, []string{"b"}) || len(p.leaving) > 0 {
				t.Errorf("%s: the next plan writes %v and leaves %v", name, p.writes, p.leaving)
			}
			dead.Heal()
			if p := r.plan(t); !slices.Equal(p.writes, []string{"b"}) || len(p.leaving)+len(p.findings) > 0 {
				t.Errorf("%s: once it is back, the plan writes %v, leaves %v and says %s", name, p.writes, p.leaving, texts(p.findings))
			}
			w.reset()
			r.must(t)
			if a, b, c := len(w.proxies["a"].Writes()), len(w.proxies["b"].Writes()), len(w.proxies["c"].Writes()); a+c != 0 || b != 1 {
				t.Errorf("%s: once it is back, the apply writes %d, %d and %d times", name, a, b, c)
			}
			r.empty(t)
		}
	}
}
