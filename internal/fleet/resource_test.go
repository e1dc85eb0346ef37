package fleet_test

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

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
	p.leaving = change.Leaving
	for _, w := range change.Writes {
		p.writes = append(p.writes, w.Member)
	}
	p.findings = f.Preflight(t.Context(), change.Target, change.Writes, r.record == nil)
	p.findings = append(p.findings, f.CheckDepartures(resolution, change)...)
	p.findings = append(p.findings, change.TellOrder()...)
	p.findings = append(p.findings, f.PreflightLeaving(t.Context(), change.Target, record, change.Leaving, change.Leaving)...)
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

// id names the object in messages.
func (r *resource) id(t testing.TB) string {
	t.Helper()
	_, id, err := federation.Identify(r.spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	id.Namespace = r.namespace(id)
	return id.String()
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

// editContainer changes the first container of the object on a member as somebody else would, whatever controllers write meanwhile.
func (r *resource) editContainer(t testing.TB, name string, change func(container map[string]any)) {
	t.Helper()
	live := r.get(t, name)
	containers, _ := federation.ValueAt(live.Object, "/spec/template/spec/containers")
	change(containers.([]any)[0].(map[string]any))
	live.SetResourceVersion("")
	r.w.clusters[name].Update(t, live)
}

// remove deletes the object on a member as somebody else would.
func (r *resource) remove(t testing.TB, name string) {
	t.Helper()
	live := r.get(t, name)
	r.w.clusters[name].Delete(t, live.GetAPIVersion(), live.GetKind(), live.GetNamespace(), live.GetName())
}

// restore deletes the object on a member and creates it again from a backup, as somebody else would.
func (r *resource) restore(t testing.TB, name string) {
	t.Helper()
	live := r.get(t, name)
	for _, field := range []string{"uid", "resourceVersion", "managedFields"} {
		unstructured.RemoveNestedField(live.Object, "metadata", field)
	}
	r.remove(t, name)
	r.w.clusters[name].Create(t, live)
}
