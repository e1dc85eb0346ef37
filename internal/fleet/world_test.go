package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
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
}

// newWorld has n members, called a, b and c.
func newWorld(t testing.TB, n int) *world {
	t.Helper()
	w := &world{
		clusters: map[string]*kubetest.Cluster{}, proxies: map[string]*kubetest.Proxy{}, static: map[string]registry.Static{},
		namespace: kubetest.UniqueName(t, "fleet"), owner: kubetest.UniqueName(t, "owner"),
		health: member.HealthCheck{Attempts: 1, Timeout: 5 * time.Second}, parallel: 16,
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
		Options: member.Options{FieldManager: fieldManager, UserAgent: "fleet-test", RequestTimeout: 20 * time.Second, Health: w.health},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fleet.New(fleet.Config{Registry: r, Owner: w.owner, MaxParallel: w.parallel, Policy: fleet.DefaultPolicy()})
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

// resource is what Terraform does with one federated resource: its configuration, and what is in its state.
type resource struct {
	w     *world
	spec  fleet.Spec // the configuration
	state fleet.Spec // what was applied
	// record and facts are nil while there is no state.
	record *fleet.Record
	facts  *fleet.Facts
}

// declare makes a resource on all members from a template in YAML; the world's namespace is its default.
func (w *world) declare(t testing.TB, template string) *resource {
	t.Helper()
	r := &resource{w: w, spec: fleet.Spec{
		DefaultNamespace: w.namespace, Placement: on(w.names...), Policy: fleet.DefaultPolicy(),
	}}
	r.write(t, template)
	return r
}

// on is a placement by name.
func on(names ...string) federation.Placement {
	return federation.Placement{Selection: federation.Selection{Clusters: append([]string{}, names...)}}
}

// only is an override by merge patch for one member.
func only(name string, patch any) fleet.Override {
	return fleet.Override{Override: federation.Override{Selection: federation.Selection{Clusters: []string{name}}, MergePatch: patch}}
}

// write changes the template.
func (r *resource) write(t testing.TB, template string) {
	t.Helper()
	tree, err := federation.DecodeOne(template)
	if err != nil {
		t.Fatal(err)
	}
	r.spec.Template = tree
}

// resolve computes what shall be where, as plan and apply both do.
func (r *resource) resolve(t testing.TB, f *fleet.Fleet) (*fleet.Resolution, *fleet.Change, *fleet.Record) {
	t.Helper()
	resolution, err := f.Resolve(t.Context(), r.spec, r.facts, r.record.Members())
	if err != nil {
		t.Fatal(err)
	}
	if fleet.HasError(resolution.Findings) {
		t.Fatalf("the specification is refused: %s", texts(resolution.Findings))
	}
	record := r.record
	if record == nil {
		if record, err = fleet.NewRecord(); err != nil {
			t.Fatal(err)
		}
	}
	change, err := resolution.Changes(f.NewTarget(resolution.GVK, resolution.ID, r.spec, record), record, r.applied(t))
	if err != nil {
		t.Fatal(err)
	}
	return resolution, change, record
}

// applied renders what is in the state; nil without one.
func (r *resource) applied(t testing.TB) *fleet.Rendering {
	t.Helper()
	if r.record == nil {
		return nil
	}
	rendering, err := fleet.NewRendering(r.state, r.facts.Scope)
	if err != nil {
		t.Fatal(err)
	}
	return rendering
}

// target is the object as the state has it.
func (r *resource) target(t testing.TB, f *fleet.Fleet) *fleet.Target {
	t.Helper()
	resolution, err := f.Resolve(t.Context(), r.state, r.facts, r.record.Members())
	if err != nil {
		t.Fatal(err)
	}
	return f.NewTarget(resolution.GVK, resolution.ID, r.state, r.record)
}

// refresh is what a plan does first.
func (r *resource) refresh(t testing.TB, f *fleet.Fleet) map[string]fleet.Observation {
	t.Helper()
	seen := map[string]fleet.Observation{}
	if r.record == nil {
		return seen
	}
	for _, o := range f.Refresh(t.Context(), r.target(t, f), r.record, r.applied(t)) {
		seen[o.Member] = o
		if o.Gone && o.Err == nil {
			delete(r.record.Copies, o.Member)
		}
	}
	return seen
}

// planned is what a plan found.
type planned struct {
	seen     map[string]fleet.Observation
	writes   []string
	leaving  []string
	findings []fleet.Finding
}

// plan runs in a process of its own: refresh, then a dry run of what is to be written.
func (r *resource) plan(t testing.TB) planned { return r.planIn(t, r.w.run(t)) }

func (r *resource) planIn(t testing.TB, f *fleet.Fleet) planned {
	t.Helper()
	p := planned{seen: r.refresh(t, f)}
	resolution, change, record := r.resolve(t, f)
	f.Announce(r.spec, resolution)
	if r.record != nil {
		f.NotePlanned(record, change.Versions)
	}
	p.leaving = change.Leaving
	for _, w := range change.Writes {
		p.writes = append(p.writes, w.Member)
	}
	p.findings = f.Preflight(t.Context(), change.Target, change.Writes, r.record == nil)
	p.findings = append(p.findings, f.PreflightLeaving(t.Context(), change.Target, record, change.Leaving)...)
	return p
}

// empty fails the test unless a plan would do nothing.
func (r *resource) empty(t testing.TB) {
	t.Helper()
	p := r.plan(t)
	for name, o := range p.seen {
		if o.Err != nil || o.Gone || len(o.Drift) > 0 {
			t.Errorf("member %s: error %v, gone %v, drift %v", name, o.Err, o.Gone, o.Drift)
		}
	}
	if len(p.writes)+len(p.leaving)+len(p.findings) > 0 {
		t.Errorf("a plan writes %v, leaves %v, and says %s", p.writes, p.leaving, texts(p.findings))
	}
}

// apply runs in a process of its own, as Terraform does it: nothing is refreshed.
func (r *resource) apply(t testing.TB) *fleet.Outcome {
	t.Helper()
	return r.applyIn(t.Context(), t, r.w.run(t))
}

func (r *resource) applyIn(ctx context.Context, t testing.TB, f *fleet.Fleet) *fleet.Outcome {
	t.Helper()
	resolution, change, record := r.resolve(t, f)
	var outcome *fleet.Outcome
	if r.record == nil {
		outcome = f.Create(ctx, change, record)
	} else {
		outcome = f.Update(ctx, change, record)
	}
	if outcome.Undone {
		return outcome
	}
	r.record, r.state = restored(t, outcome.Record), r.spec
	facts, err := f.GatherFacts(t.Context(), r.spec, resolution.GVK, resolution.ID.Namespace, resolution.Placed, nil, r.facts)
	if err != nil {
		t.Fatal(err)
	}
	r.facts = facts
	return outcome
}

// restored is a record after its way through Terraform's state.
func restored(t testing.TB, record *fleet.Record) *fleet.Record {
	t.Helper()
	data, err := record.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := fleet.ParseRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// must applies and fails the test if anything is to be told.
func (r *resource) must(t testing.TB) {
	t.Helper()
	if outcome := r.apply(t); len(outcome.Findings) > 0 || outcome.Undone || len(outcome.Pending) > 0 {
		t.Fatalf("the apply says %s; undone %v, pending %v", texts(outcome.Findings), outcome.Undone, outcome.Pending)
	}
}

// destroy deletes; what is left stays in the state.
func (r *resource) destroy(t testing.TB) *fleet.Outcome {
	t.Helper()
	return r.destroyIn(t.Context(), t)
}

func (r *resource) destroyIn(ctx context.Context, t testing.TB) *fleet.Outcome {
	t.Helper()
	f := r.w.run(t)
	outcome := f.Delete(ctx, r.target(t, f), r.record)
	r.record = restored(t, outcome.Record)
	return outcome
}

// get reads the resource's object on a member, past the proxy.
func (r *resource) get(t testing.TB, name string) *unstructured.Unstructured {
	t.Helper()
	live, there := r.find(t, name)
	if !there {
		t.Fatalf("member %s does not have the object", name)
	}
	return live
}

func (r *resource) find(t testing.TB, name string) (*unstructured.Unstructured, bool) {
	t.Helper()
	apiVersion, id, err := federation.Identify(r.spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	return r.w.clusters[name].Find(t, apiVersion, id.Kind, r.namespace(id), id.Name)
}

func (r *resource) namespace(id federation.ID) string {
	switch {
	case slices.Contains([]string{"Namespace", "ClusterRole", "PriorityClass", "CustomResourceDefinition"}, id.Kind):
		return ""
	case id.Namespace != "":
		return id.Namespace
	}
	return r.w.namespace
}

// there lists the members that have the object.
func (r *resource) there(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, name := range r.w.names {
		if _, ok := r.find(t, name); ok {
			names = append(names, name)
		}
	}
	return names
}

// value reads a field of the object on a member; nil if it is absent.
func (r *resource) value(t testing.TB, name, pointer string) any {
	t.Helper()
	value, _ := federation.ValueAt(r.get(t, name).Object, pointer)
	return value
}

// patch changes the object on a member as somebody else would.
func (r *resource) patch(t testing.TB, name, patch string, subresources ...string) *unstructured.Unstructured {
	t.Helper()
	live := r.get(t, name)
	return r.w.clusters[name].MergePatch(t, live.GetAPIVersion(), live.GetKind(), live.GetNamespace(), live.GetName(), patch, subresources...)
}

// remove deletes the object on a member as somebody else would.
func (r *resource) remove(t testing.TB, name string) {
	t.Helper()
	live := r.get(t, name)
	r.w.clusters[name].Delete(t, live.GetAPIVersion(), live.GetKind(), live.GetNamespace(), live.GetName())
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
