package fleet_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// TestAMemberUnderANewNameKeepsItsObject: the uid of what is there tells that it is the same cluster.
func TestAMemberUnderANewNameKeepsItsObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.must(t)
	before := r.get(t, "a")
	w.static["a2"], w.clusters["a2"], w.proxies["a2"] = w.static["a"], w.clusters["a"], w.proxies["a"]
	delete(w.static, "a")
	w.names = []string{"a2", "b"}
	r.spec.Placement = on("a2", "b")

	p := r.plan(t)
	var renamed *fleet.RenamedError
	if o := p.seen["a"]; !errors.As(o.Err, &renamed) || renamed.Now != "a2" || len(p.findings) > 0 {
		t.Errorf("the refresh says %v, the plan %s", o.Err, texts(p.findings))
	}
	if !slices.Equal(p.writes, []string{"a2"}) || !slices.Equal(p.leaving, []string{"a"}) {
		t.Errorf("the plan writes %v and leaves %v", p.writes, p.leaving)
	}
	w.reset()
	if outcome := r.apply(t); outcome.Failed() || len(outcome.Pending) > 0 {
		t.Fatalf("the apply says %s; pending %v", texts(outcome.Findings), outcome.Pending)
	}
	if deleted := w.proxies["a2"].Count(func(q kubetest.Request) bool { return q.Verb == kubetest.Delete }); deleted > 0 {
		t.Errorf("%d deletions", deleted)
	}
	if after := r.get(t, "a2"); after.GetUID() != before.GetUID() || !slices.Equal(r.record.Members(), w.names) {
		t.Errorf("the uid was %s and is %s; the record has %v", before.GetUID(), after.GetUID(), r.record.Members())
	}
	r.empty(t)
	if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
		t.Errorf("destroy says %s, and leaves %v", texts(outcome.Findings), r.there(t))
	}
}
