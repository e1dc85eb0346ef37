package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// fieldManager is the one of the provider under test.
const fieldManager = "terraform-kubefed"

// world is one configuration: its members, and a namespace that all of them have.
type world struct {
	names     []string
	clusters  map[string]*kubetest.Cluster
	proxies   map[string]*kubetest.Proxy
	static    map[string]registry.Static
	namespace string
	owner     string
	health    member.HealthCheck
	parallel  int
	manager   string
	now       func() time.Time // the clock of rollouts; nil: the system's
}

// newWorld has n members, called a, b and c.
func newWorld(t testing.TB, n int) *world {
	t.Helper()
	w := &world{
		clusters: map[string]*kubetest.Cluster{}, proxies: map[string]*kubetest.Proxy{}, static: map[string]registry.Static{},
		namespace: kubetest.UniqueName(t, "fleet"), owner: kubetest.UniqueName(t, "owner"),
		health: member.HealthCheck{Attempts: 1, Timeout: 5 * time.Second}, parallel: 16, manager: fieldManager,
	}
	for i, cluster := range kubetest.Members(t, n) {
		w.add(t, string(rune('a'+i)), cluster)
	}
	return w
}

// add makes a cluster a member.
func (w *world) add(t testing.TB, name string, cluster *kubetest.Cluster) {
	t.Helper()
	w.names = append(w.names, name)
	w.clusters[name], w.proxies[name] = cluster, kubetest.NewProxy(t, cluster)
	w.static[name] = registry.Static{Config: w.proxies[name].RESTConfig(), Labels: map[string]string{"name": name}}
	w.makeNamespace(t, name, w.namespace)
}

func (w *world) makeNamespace(t testing.TB, name, namespace string) {
	t.Helper()
	cluster := w.clusters[name]
	cluster.Create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}})
	t.Cleanup(func() { cluster.Delete(t, "v1", "Namespace", "", namespace) })
}

// run is a provider process.
func (w *world) run(t testing.TB) *fleet.Fleet {
	t.Helper()
	r, err := registry.New(registry.Config{
		Static: w.static, Owner: w.owner,
		Options: member.Options{FieldManager: w.manager, UserAgent: "fleet-test", RequestTimeout: 20 * time.Second, Health: w.health},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fleet.New(fleet.Config{Registry: r, Owner: w.owner, MaxParallel: w.parallel, Policy: fleet.DefaultPolicy(), Now: w.now})
}

// reset forgets the requests that were recorded.
func (w *world) reset() {
	for _, p := range w.proxies {
		p.Reset()
	}
}

// asked are the requests to a member without those that every process makes once of each: discovery, and which cluster it is.
func (w *world) asked(name string) []kubetest.Request {
	return slices.DeleteFunc(w.proxies[name].Requests(), func(q kubetest.Request) bool {
		return q.Verb == kubetest.Discovery || (q.Resource == "namespaces" && q.Name == "kube-system")
	})
}

// wasAnswered reports whether a member's first write was answered a moment ago, so that the answer has been read by now.
func (w *world) wasAnswered(name string) bool {
	writes := w.proxies[name].Writes()
	return len(writes) > 0 && writes[0].Duration > 0 && time.Since(writes[0].Start.Add(writes[0].Duration)) > time.Second/2
}

// texts are findings as a user would read them.
func texts(findings []fleet.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		sort := "warning"
		if f.Error {
			sort = "error"
		}
		fmt.Fprintf(&b, "\n%s at %s: %s\n%s\n", sort, strings.Join(f.Path, "."), f.Summary, f.Text())
	}
	return b.String()
}

// tells fails the test unless exactly these summaries are told, each as "member error|warning: summary".
func tells(t testing.TB, findings []fleet.Finding, want ...string) {
	t.Helper()
	var got []string
	for _, f := range findings {
		sort := "warning"
		if f.Error {
			sort = "error"
		}
		got = append(got, strings.TrimSpace(strings.Join(f.Members, ",")+" "+sort+": "+f.Summary))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("told is %q, want %q%s", got, want, texts(findings))
	}
}

// says fails the test unless the findings hold all of these texts.
func says(t testing.TB, findings []fleet.Finding, parts ...string) {
	t.Helper()
	all := texts(findings)
	for _, part := range parts {
		if !strings.Contains(all, part) {
			t.Errorf("nothing says %q:%s", part, all)
		}
	}
}

const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: "1", b: "1"}}`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: x}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1", env: [{name: B, value: "2"}, {name: A, value: "1"}], ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}]}
`
