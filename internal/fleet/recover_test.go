package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// recover is what a refresh does first where the provider was killed in an update: the private state is lost, and the state names these
// members as placed and as pending.
func (r *resource) recover(t *testing.T, placed, pending []string) []fleet.Finding {
	t.Helper()
	f := r.w.run(t)
	target := r.target(t, f)
	target.Mark.Resource = ""
	record, findings, err := f.Recover(t.Context(), fleet.Lost{Target: target, State: r.state, Placed: placed, Pending: pending})
	if err != nil {
		t.Fatal(err)
	}
	r.record = restored(t, record)
	return findings
}

func TestRecoveryFindsTheCopyThatWaitsForItsDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	r.must(t)
	r.spec.Placement = on("a")
	w.proxies["b"].Refuse()
	tells(t, r.apply(t).Findings, "b error: Unable to delete from a member that cannot be reached")
	tells(t, r.recover(t, []string{"a"}, []string{"b"}))
	if !slices.Equal(r.record.Members(), w.names) {
		t.Errorf("while it is down, the record has %v", r.record.Members())
	}
	w.proxies["b"].Heal()
	tells(t, r.recover(t, []string{"a"}, []string{"b"}))
	if p := r.plan(t); !slices.Equal(p.leaving, []string{"b"}) {
		t.Errorf("the plan leaves %v", p.leaving)
	}
	r.must(t)
	if there := r.there(t); !slices.Equal(there, []string{"a"}) {
		t.Errorf("the object is on %v", there)
	}
	r.empty(t)
}

func TestRecoveryFindsWhatTheUpdateThatWasCutOffHadWrittenElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.spec.Overrides = []fleet.Override{only("c", map[string]any{"data": map[string]any{"b": "2"}})}
	r.spec.Placement = on("a")
	r.must(t)
	state := r.state
	r.spec.Placement = on("a", "c")
	r.must(t)
	other := w.declare(t, configMap) // the same object, on a member of its own
	other.spec.Placement = on("b")
	other.must(t)
	r.state, r.spec.Placement = state, on("a")
	tells(t, r.recover(t, []string{"a"}, nil))
	if !slices.Equal(r.record.Members(), []string{"a", "c"}) {
		t.Fatalf("the record has %v", r.record.Members())
	}
	for name, o := range r.plan(t).seen {
		if o.Err != nil || o.Gone || len(o.Drift) > 0 {
			t.Errorf("member %s: error %v, gone %v, drift %v", name, o.Err, o.Gone, o.Drift)
		}
	}
	r.must(t)
	if there := r.there(t); !slices.Equal(there, []string{"a", "b"}) {
		t.Errorf("the object is on %v", there)
	}
	r.empty(t)
	other.empty(t)
}

func TestRecoveryTakesOneClusterUnderTwoNamesForOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	w.static["z"] = registry.Static{Config: kubetest.NewProxy(t, w.clusters["a"]).RESTConfig()}
	r.recover(t, []string{"a"}, nil)
	r.refresh(t, w.run(t))
	if !slices.Equal(r.record.Members(), []string{"a"}) {
		t.Errorf("the record has %v", r.record.Members())
	}
}

func TestRecoveryFindsAnObjectWhoseVersionIsServedNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	apiVersion := w.widget(t, "a", true)
	r := w.declare(t, `{apiVersion: `+apiVersion+`, kind: Widget, metadata: {name: w}, spec: {size: 1}}`)
	r.must(t)
	group, _, _ := strings.Cut(apiVersion, "/")
	crd := w.clusters["a"].Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	second := map[string]any{"name": "v2", "served": true, "storage": false, "schema": versions[0].(map[string]any)["schema"]}
	versions[0].(map[string]any)["served"] = false
	w.clusters["a"].MergePatch(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", crd.GetName(), map[string]any{"spec": map[string]any{"versions": append(versions, second)}})
	kubetest.Eventually(t, func() error {
		var notServed *member.NotServedError
		if o := r.refresh(t, w.run(t))["a"]; !errors.As(o.Err, &notServed) || len(notServed.Served) != 1 {
			return fmt.Errorf("served as v2 alone: %w", o.Err)
		}
		return nil
	})
	tells(t, r.recover(t, []string{"a"}, nil))
	if c := r.record.Copies["a"]; c == nil || c.UID == "" {
		t.Errorf("the record has %+v", c)
	}
}

func TestAMemberThatCouldNotBeAskedInARecoveryIsAskedLaterAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	r.spec.Placement = on("a")
	r.must(t)
	state := r.state
	r.spec.Placement = on("a", "b")
	r.must(t)
	w.proxies["b"].Refuse()
	r.state, r.spec.Placement = state, on("a")
	tells(t, r.recover(t, []string{"a"}, nil))
	if !slices.Equal(r.record.Members(), []string{"a"}) || !slices.Equal(r.record.Unasked, []string{"b"}) {
		t.Fatalf("the record has %v, and not asked are %v", r.record.Members(), r.record.Unasked)
	}
	r.must(t)
	r.empty(t)
	w.proxies["b"].Heal()
	if p := r.plan(t); !slices.Equal(p.leaving, []string{"b"}) || len(r.record.Unasked) > 0 {
		t.Errorf("once it is back, the plan leaves %v, and not asked are %v", p.leaving, r.record.Unasked)
	}
	r.must(t)
	if there := r.there(t); !slices.Equal(there, []string{"a"}) {
		t.Errorf("the object is on %v", there)
	}
}

func TestRecoveryKeepsWhatPolicyKeepsAlthoughItIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	for _, template := range []string{configMap, `{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}}`} {
		r := w.declare(t, template)
		r.spec.Policy.OnMissing = fleet.PolicyKeep
		r.must(t)
		for _, name := range w.names {
			r.remove(t, name)
		}
		tells(t, r.recover(t, []string{"a"}, []string{"b"}))
		if !slices.Equal(r.record.Members(), []string{"a"}) {
			t.Errorf("kept are %v; b was never written", r.record.Members())
		}
		r.spec.Placement = on("a")
		f := w.run(t)
		if o := f.Refresh(t.Context(), r.target(t, f), r.record, r.applied(t)); !o[0].Gone {
			t.Errorf("the refresh finds %+v", o)
		}
		if _, change, _ := r.resolve(t, f); len(change.Writes)+len(change.Leaving) > 0 {
			t.Errorf("the plan writes %v and leaves %v", change.Writes, change.Leaving)
		}
		if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.record.Members()) > 0 {
			t.Errorf("the destroy says %s", texts(outcome.Findings))
		}
	}
}

func TestRecoveryKeepsImportedCopiesThatHoldWhatTheStateSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.existing(t, "cm")
	r, _ := w.imported(t, configMapKind, "cm")
	tells(t, r.recover(t, w.names, nil),
		"a warning: Object without a mark is kept as imported", "b warning: Object without a mark is kept as imported")
	r.unchanged(t)
	untouched := *r
	untouched.record = restored(t, r.record)
	tells(t, untouched.destroy(t).Findings, "a warning: "+untouched.id(t)+" is left behind", "b warning: "+untouched.id(t)+" is left behind")
	if there := r.there(t); !slices.Equal(there, w.names) {
		t.Errorf("objects of which no import is known any more were deleted; left are %v", there)
	}
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	if p := r.plan(t); !slices.Equal(p.writes, w.names) || len(p.findings) > 0 {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	r.empty(t)
	if outcome := r.destroy(t); len(outcome.Findings) > 0 || len(r.there(t)) > 0 {
		t.Errorf("left on %v: %s", r.there(t), texts(outcome.Findings))
	}
}

func TestRecoveryAfterTheFirstUpdateOfAnImportWasCutOffHalfWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.existing(t, "cm")
	r, _ := w.imported(t, configMapKind, "cm")
	state, uid := r.state, r.get(t, "a").GetUID()
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	fault := w.proxies["b"].Status(403)
	if outcome := r.apply(t); !outcome.Failed() {
		t.Fatalf("the apply says %s", texts(outcome.Findings))
	}
	fault.Heal()
	r.state = state
	tells(t, r.recover(t, w.names, nil), "b warning: Object without a mark is kept as imported")
	if p := r.plan(t); !slices.Equal(p.writes, w.names) || len(p.findings) > 0 {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	if r.get(t, "a").GetUID() != uid || r.value(t, "b", "/data/a") != "2" {
		t.Errorf("the members hold %v, %v", r.get(t, "a").Object, r.get(t, "b").Object)
	}
	r.empty(t)
}

func TestRecoveryDoesNotTakeForOursWhatOthersHaveMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.existing(t, "cm")
	r, _ := w.imported(t, configMapKind, "cm")
	other := r.another(t, w.owner+"-other")
	other.spec.Placement = on("b")
	other.must(t)
	r.patch(t, "a", `{data: {a: theirs}}`)
	r.patch(t, "c", `{metadata: {annotations: {terraform.kubefed.io/resource: half-a-mark}}}`)
	tells(t, r.recover(t, w.names, nil), "a warning: Object without a mark is not taken for ours", "c warning: Object without a mark is not taken for ours")
	if len(r.record.Members()) > 0 {
		t.Errorf("the record has %v", r.record.Members())
	}
}
