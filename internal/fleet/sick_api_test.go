package fleet_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// sickAPI adds to a cluster an aggregated API whose server takes a minute for every answer.
func sickAPI(t *testing.T, cluster *kubetest.Cluster, namespace string) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		select {
		case <-time.After(time.Minute):
		case <-q.Context().Done():
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	_, text, _ := net.SplitHostPort(server.Listener.Addr().String())
	port, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Create(t, map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "sick", "namespace": namespace},
		"spec": map[string]any{"type": "ExternalName", "externalName": "localhost", "ports": []any{map[string]any{"port": port}}},
	})
	cluster.Create(t, map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.sick.example.com"},
		"spec": map[string]any{
			"group": "sick.example.com", "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(10), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": namespace, "name": "sick", "port": port},
		},
	})
	kubetest.Eventually(t, func() error {
		if asked.Load() == 0 {
			return errors.New("the API server does not ask it yet")
		}
		return nil
	})
}

// TestASickAggregatedAPIDelaysNothingElse: 40 objects are planned and written with one discovery a run, and none of it waits for the sick group.
func TestASickAggregatedAPIDelaysNothingElse(t *testing.T) {
	w := newWorld(t, 0)
	w.health = member.HealthCheck{Attempts: 3, Timeout: 3 * time.Second, Interval: time.Second}
	w.add(t, "a", kubetest.Fresh(t, kubetest.Options{Name: "sick", Lean: true}))
	sickAPI(t, w.clusters["a"], w.namespace)
	var all []*resource
	for i := range 40 {
		all = append(all, w.declare(t, strings.Replace(configMap, "name: cm", "name: cm-"+strconv.Itoa(i), 1)))
	}
	isDiscovery := func(q kubetest.Request) bool { return q.Verb == kubetest.Discovery }
	for _, step := range []struct {
		name string
		run  func()
	}{
		{"a plan that creates", func() {
			f := w.run(t)
			for _, r := range all {
				if p := r.planIn(t, f); len(p.findings) > 0 {
					t.Fatalf("the plan says %s", texts(p.findings))
				}
			}
		}},
		{"an apply", func() {
			f := w.run(t)
			for _, r := range all {
				if outcome := r.applyIn(t.Context(), t, f); len(outcome.Findings) > 0 {
					t.Fatalf("the apply says %s", texts(outcome.Findings))
				}
			}
		}},
	} {
		w.reset()
		start := time.Now()
		step.run()
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s takes %s", step.name, took)
		}
		if n := w.proxies["a"].Count(isDiscovery); n > 2 {
			t.Errorf("%s asks %d times what is served", step.name, n)
		}
		if last := w.proxies["a"].Requests(); slowest(last) > 5*time.Second {
			t.Errorf("%s: a request takes %s", step.name, slowest(last))
		}
	}
	w.reset()
	f := w.run(t)
	for _, r := range all {
		if p := r.planIn(t, f); len(p.writes)+len(p.findings) > 0 {
			t.Fatalf("the plan writes %v and says %s", p.writes, texts(p.findings))
		}
	}
	if asked := w.asked("a"); len(asked) != 1 {
		t.Errorf("a plan with nothing to do asks %v", asked)
	}
}

func slowest(requests []kubetest.Request) time.Duration {
	var slowest time.Duration
	for _, q := range requests {
		slowest = max(slowest, q.Duration)
	}
	return slowest
}

func TestAtMostMaxParallelMembersAreWorkedOnAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.parallel = 2
	for _, p := range w.proxies {
		p.Delay(500*time.Millisecond, kubetest.When(kubetest.Request.Write))
	}
	r := w.declare(t, configMap)
	w.reset()
	r.must(t)
	var writes []kubetest.Request
	for _, p := range w.proxies {
		writes = append(writes, p.Writes()...)
	}
	most := 0
	for _, q := range writes {
		at := 0
		for _, other := range writes {
			if !other.Start.After(q.Start) && other.Start.Add(other.Duration).After(q.Start) {
				at++
			}
		}
		most = max(most, at)
	}
	if len(writes) != 3 || most != 2 {
		t.Errorf("%d writes, %d at once", len(writes), most)
	}
}
