package fleet_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// unaggregated asks for discovery as clients before Kubernetes 1.26 did: then each group version is a request of its own, and can fail alone.
type unaggregated struct{ http.RoundTripper }

func (u unaggregated) RoundTrip(r *http.Request) (*http.Response, error) {
	if path := strings.Trim(r.URL.Path, "/"); path == "api" || path == "apis" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept", "application/json")
	}
	return u.RoundTripper.RoundTrip(r)
}

// TestAMemberOfWhichOneGroupDoesNotAnswerIsUnknownForThatGroupAlone: its objects are neither gone nor made again, and the others go on.
func TestAMemberOfWhichOneGroupDoesNotAnswerIsUnknownForThatGroupAlone(t *testing.T) {
	w := newWorld(t, 2)
	s := w.static["b"]
	s.Config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return unaggregated{rt} })
	isApps := kubetest.When(func(q kubetest.Request) bool { return strings.TrimRight(q.Path, "/") == "/apis/apps/v1" })
	for name, fault := range map[string]func() *kubetest.Fault{
		"503":      func() *kubetest.Fault { return w.proxies["b"].Status(http.StatusServiceUnavailable, isApps) },
		"404":      func() *kubetest.Fault { return w.proxies["b"].Status(http.StatusNotFound, isApps) },
		"bare 404": func() *kubetest.Fault { return w.proxies["b"].BareNotFound(isApps) },
		"no answer": func() *kubetest.Fault {
			w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
			return w.proxies["b"].BlackHole(isApps)
		},
	} {
		t.Run(name, func(t *testing.T) {
			web, other := w.declare(t, strings.Replace(deployment, "name: web,", "name: "+kubetest.UniqueName(t, "web")+",", 1)), w.declare(t, configMap)
			other.rename(t, kubetest.UniqueName(t, "cm"))
			web.spec.Policy.OnUnreachable = fleet.PolicySkip
			web.must(t)
			other.must(t)
			uid := web.get(t, "b").GetUID()
			broken := fault()
			defer broken.Heal()

			p := web.plan(t)
			var unknown *member.UnreachableError
			if o := p.seen["b"]; !errors.As(o.Err, &unknown) || unknown.Down() || o.Gone || len(o.Drift) > 0 {
				t.Errorf("member b: error %v, gone %v, drift %v", o.Err, o.Gone, o.Drift)
			}
			if o := p.seen["a"]; o.Err != nil || o.Gone || len(p.writes)+len(p.leaving)+len(p.findings) > 0 {
				t.Errorf("member a: %v; a plan writes %v, leaves %v and says %s", o.Err, p.writes, p.leaving, texts(p.findings))
			}
			other.empty(t)

			web.spec.Template["spec"].(map[string]any)["replicas"] = int64(3)
			tells(t, web.plan(t).findings, "b warning: Member cannot be reached")
			w.reset()
			tells(t, web.apply(t).Findings, "b warning: Member cannot be reached")
			if web.value(t, "a", "/spec/replicas") != int64(3) || len(w.proxies["b"].Writes()) > 0 || !slices.Equal(web.record.Members(), w.names) {
				t.Errorf("a has %v replicas, b got %v, the record has %v", web.value(t, "a", "/spec/replicas"), w.proxies["b"].Writes(), web.record.Members())
			}
			broken.Heal()
			web.must(t)
			web.empty(t)
			if web.get(t, "b").GetUID() != uid {
				t.Error("the object on b was made again")
			}
		})
	}
}

// TestAMemberThatLacksAKindIsToldAloneAndTheOthersAreHandled: it keeps nobody else from being asked.
func TestAMemberThatLacksAKindIsToldAloneAndTheOthersAreHandled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	apiVersion := w.widget(t, "a", true)
	r := w.declare(t, `{apiVersion: `+apiVersion+`, kind: Widget, metadata: {name: w}, spec: {size: 1}}`)
	w.reset()
	p := r.plan(t)
	tells(t, p.findings, "b error: Kind is not served")
	says(t, p.findings, apiVersion+" Widget is not served")
	if asked := w.proxies["a"].Count(func(q kubetest.Request) bool { return q.DryRun }); asked != 1 {
		t.Errorf("a was asked %d times whether it would accept the object", asked)
	}
	r.spec.Policy.OnMissingAPI = fleet.PolicySkip
	r.spec.Placement = on("a")
	r.must(t)
	r.empty(t)
}
