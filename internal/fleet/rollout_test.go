package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// versioned is a Service in several versions, with a controller of its own: a condition in its status says that a version runs. Kubernetes writes
// no conditions there.
type versioned struct {
	*resource

	mu     sync.Mutex
	broken map[string]string // member and version, as "a v1", where it will not run → the condition that there is instead; "" = none
}

// versions declares a Service that rolls out over groups of one member each, then over the rest.
func (w *world) versions(t *testing.T, groups ...string) *versioned {
	t.Helper()
	v := &versioned{resource: w.declare(t, `{apiVersion: v1, kind: Service, metadata: {name: svc}, spec: {ports: [{port: 80}]}}`), broken: map[string]string{}}
	v.spec.Rollout = &federation.Rollout{}
	for _, name := range groups {
		v.spec.Rollout.Groups = append(v.spec.Rollout.Groups, federation.Group{Selection: federation.Selection{Clusters: []string{name}}, Name: "only " + name})
	}
	v.version("v1")
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, name := range w.names {
		running.Go(func() { v.control(t, name, stop) })
	}
	t.Cleanup(func() {
		close(stop)
		running.Wait()
	})
	return v
}

// version writes another version into the template.
func (v *versioned) version(version string) {
	tree := map[string]any{}
	for key, value := range v.spec.Template {
		tree[key] = value
	}
	tree["metadata"] = map[string]any{"name": "svc", "labels": map[string]any{"version": version}}
	v.spec.Template = tree
	v.spec.Wait = fleet.Wait{Expectation: member.Expectation{Conditions: []member.Condition{{Type: version, Status: "True"}}}, Timeout: time.Minute}
}

// breaks lets a version not run on a member; instead there is this condition, or none.
func (v *versioned) breaks(where, condition string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.broken[where] = condition
}

func (v *versioned) mend(where string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.broken, where)
}

// late applies, and does not wait long.
func (v *versioned) late(t *testing.T) *fleet.Outcome {
	t.Helper()
	v.spec.Wait.Timeout = 3 * time.Second
	defer func() { v.spec.Wait.Timeout = time.Minute }()
	return v.apply(t)
}

// control runs what is on a member.
func (v *versioned) control(t *testing.T, name string, stop chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		live, there := v.w.clusters[name].Find(t, "v1", "Service", v.w.namespace, "svc")
		if !there {
			continue
		}
		version := live.GetLabels()["version"]
		v.mu.Lock()
		condition, broken := v.broken[name+" "+version]
		v.mu.Unlock()
		if !broken {
			condition = version
		}
		if now := string(live.GetUID()) + condition; condition != "" && now != said {
			v.w.clusters[name].MergePatch(t, "v1", "Service", v.w.namespace, "svc", fmt.Sprintf(
				`{status: {conditions: [{type: %s, status: "True", reason: Test, message: words, lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`, condition), "status")
			said = now
		}
	}
}

// runs fails the test unless the members hold these versions; "" is none.
func (v *versioned) runs(t *testing.T, versions ...string) {
	t.Helper()
	var got []string
	for _, name := range v.w.names {
		version := ""
		if live, there := v.find(t, name); there {
			version = live.GetLabels()["version"]
		}
		got = append(got, version)
	}
	if !slices.Equal(got, versions) {
		t.Errorf("the members hold %q, want %q", got, versions)
	}
}

// settled waits until the version on a member runs, and that has been seen.
func (v *versioned) settled(t *testing.T, name string) {
	t.Helper()
	kubetest.Eventually(t, func() error {
		if live, there := v.find(t, name); there && strings.Contains(fmt.Sprint(live.Object["status"]), "type:"+live.GetLabels()["version"]) {
			return nil
		}
		return fmt.Errorf("member %s does not run it", name)
	})
	v.w.looked(t, name, 2)
}

// looked waits until a member has been looked at so many times more.
func (w *world) looked(t *testing.T, name string, times int) {
	t.Helper()
	looks := func() int {
		return w.proxies[name].Count(func(r kubetest.Request) bool { return r.Verb == kubetest.Get && r.Resource == "services" })
	}
	before := looks()
	kubetest.Eventually(t, func() error {
		if looks() < before+times {
			return fmt.Errorf("member %s is not looked at", name)
		}
		return nil
	})
}

// begin applies, for the test to look meanwhile.
func (r *resource) begin(ctx context.Context, t *testing.T) (done chan *fleet.Outcome) {
	t.Helper()
	done = make(chan *fleet.Outcome, 1)
	f := r.w.run(t)
	go func() { done <- r.applyIn(ctx, t, f) }()
	return done
}

// pends fails the test unless exactly these members are pending.
func pends(t *testing.T, o *fleet.Outcome, names ...string) {
	t.Helper()
	var got []string
	for _, name := range []string{"a", "b", "c"} {
		if o.Pending[name] != "" {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, names) || len(o.Pending) != len(names) {
		t.Errorf("pending is %v, want %v", o.Pending, names)
	}
}

func TestARolloutGoesGroupByGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "b", "c")
	for _, version := range []string{"v1", "v2"} {
		v.version(version)
		w.reset()
		p := v.plan(t)
		tells(t, p.findings, "warning: Rollout in 3 steps")
		says(t, p.findings, `group "only b": b, then group "only c": c, then a.`)
		v.must(t)
		v.runs(t, version, version, version)
		var starts []time.Time
		for _, name := range []string{"b", "c", "a"} {
			writes := w.proxies[name].Writes()
			if len(writes) != 1 {
				t.Fatalf("member %s gets %v", name, writes)
			}
			starts = append(starts, writes[0].Start)
		}
		if !slices.IsSortedFunc(starts, time.Time.Compare) {
			t.Errorf("%s: the writes of b, c and a begin at %v", version, starts)
		}
		v.empty(t)
	}
}

func TestWithinAGroupMaxConcurrencyAreUnderWayAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t)
	v.spec.Rollout.MaxConcurrency = federation.Amount{Number: 2}
	v.breaks("a v1", "")
	v.breaks("b v1", "")
	if p := v.plan(t); len(p.findings) > 0 {
		t.Errorf("a rollout in one step is told: %s", texts(p.findings))
	}
	done := v.begin(t.Context(), t)
	w.looked(t, "a", 3)
	w.looked(t, "b", 3)
	v.runs(t, "v1", "v1", "")
	v.mend("b v1")
	w.looked(t, "c", 1)
	v.runs(t, "v1", "v1", "v1")
	v.mend("a v1")
	if outcome := <-done; len(outcome.Findings) > 0 {
		t.Errorf("the apply says %s", texts(outcome.Findings))
	}
	v.empty(t)
}

func TestACreationThatIsNotReadyIsKeptAndGoesOnLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	v.breaks("b v1", "")
	outcome := v.late(t)
	tells(t, outcome.Findings, "b warning: "+v.id(t)+" is not ready in time", "c warning: Member is not written")
	says(t, outcome.Findings, "no condition v1", "wait.timeout", "the rollout stopped before it: b failed")
	if outcome.Undone {
		t.Fatal("it was undone")
	}
	pends(t, outcome, "b", "c")
	v.runs(t, "v1", "v1", "")
	v.mend("b v1")
	w.reset()
	if p := v.plan(t); !slices.Equal(p.writes, []string{"c"}) {
		t.Errorf("the next plan writes %v", p.writes)
	}
	v.must(t)
	v.runs(t, "v1", "v1", "v1")
	if n := len(w.proxies["b"].Writes()); n != 0 {
		t.Errorf("the next apply writes b %d times, which only was not ready", n)
	}
	v.empty(t)
}

func TestAnUpdateThatIsNotReadyStopsAndTheNextApplyResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	v.must(t)
	v.version("v2")
	v.breaks("b v2", "Stalled")
	outcome := v.apply(t)
	tells(t, outcome.Findings, "b error: "+v.id(t)+" has failed", "c warning: Member is not written")
	says(t, outcome.Findings, "words", "it keeps the former version, because the rollout stopped before it: b failed")
	pends(t, outcome, "b", "c")
	v.runs(t, "v2", "v2", "v1")
	if copies := v.record.Copies; copies["b"].Version != copies["a"].Version || copies["b"].Version == copies["c"].Version {
		t.Error("the record does not say that b is written, and c is not")
	}

	w.reset()
	tells(t, v.apply(t).Findings, "b error: "+v.id(t)+" has failed", "c warning: Member is not written")
	if n := len(w.proxies["a"].Writes()) + len(w.proxies["b"].Writes()) + len(w.proxies["c"].Writes()); n != 0 {
		t.Errorf("an apply that waits only sends %d writes", n)
	}
	v.version("v3")
	v.must(t)
	v.runs(t, "v3", "v3", "v3")
	v.empty(t)
}

func TestAMemberThatOnlyWasNotReadyIsWaitedForUntilItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	v := w.versions(t)
	v.spec.Rollout = nil
	v.must(t)
	v.version("v2")
	v.breaks("b v2", "")
	outcome := v.late(t)
	tells(t, outcome.Findings, "b error: "+v.id(t)+" is not ready in time")
	pends(t, outcome, "b")
	v.runs(t, "v2", "v2")
	if _, change, _ := v.resolve(t, w.run(t)); len(change.Writes) != 0 || len(change.Waits) != 1 || change.Waits[0].Member != "b" {
		t.Errorf("the next apply writes %v and waits for %v", change.Writes, change.Waits)
	}
	w.reset()
	done := v.begin(t.Context(), t)
	w.looked(t, "b", 2)
	v.mend("b v2")
	if outcome := <-done; len(outcome.Findings) > 0 {
		t.Errorf("the apply says %s", texts(outcome.Findings))
	}
	if n := len(w.proxies["a"].Requests()) + len(w.proxies["b"].Writes()); n != 0 {
		t.Errorf("%d requests too many", n)
	}
	if _, change, _ := v.resolve(t, w.run(t)); len(change.Waits) != 0 {
		t.Errorf("it is still waited for %v", change.Waits)
	}
	v.empty(t)
}

func TestWhoWaitsNoMoreForgetsThatAMemberWasNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	v := w.versions(t)
	v.breaks("a v1", "")
	pends(t, v.late(t), "a")
	wait := v.spec.Wait
	v.spec.Wait, v.spec.Rollout = fleet.Wait{}, nil
	v.must(t)
	v.spec.Wait = wait
	v.must(t)
}

func TestSoManyMembersMayFailAsARolloutAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	v.must(t)
	v.spec.Rollout.MaxFailures = 1
	v.version("v2")
	v.breaks("a v2", "")
	outcome := v.late(t)
	tells(t, outcome.Findings, "a warning: "+v.id(t)+" is not ready in time")
	pends(t, outcome, "a")
	v.runs(t, "v2", "v2", "v2")

	v.version("v3")
	v.breaks("a v3", "")
	v.breaks("b v3", "")
	outcome = v.late(t)
	tells(t, outcome.Findings, "a error: "+v.id(t)+" is not ready in time", "b error: "+v.id(t)+" is not ready in time", "c warning: Member is not written")
	says(t, outcome.Findings, "a, b failed")
	v.runs(t, "v3", "v3", "v2")
}

func TestContinueGoesOnPastMembersThatAreNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	v.must(t)
	v.spec.Policy.OnFailure = fleet.PolicyContinue
	v.version("v2")
	v.breaks("a v2", "")
	v.breaks("b v2", "")
	outcome := v.late(t)
	tells(t, outcome.Findings, "a warning: "+v.id(t)+" is not ready in time", "b warning: "+v.id(t)+" is not ready in time")
	pends(t, outcome, "a", "b")
	v.runs(t, "v2", "v2", "v2")
}

func TestAWriteRefusedInALaterGroupUndoesTheWholeCreation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := v.apply(t)
	tells(t, outcome.Findings, "b error: API server refuses "+v.id(t))
	if !outcome.Undone {
		t.Error("it was not undone")
	}
	v.runs(t, "", "", "")
}

func TestAWriteRefusedInALaterGroupLeavesTheFormerVersionAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	v.must(t)
	v.version("v2")
	fault := w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := v.apply(t)
	tells(t, outcome.Findings, "b error: API server refuses "+v.id(t), "c warning: Member is not written")
	pends(t, outcome, "b", "c")
	v.runs(t, "v2", "v1", "v1")
	fault.Heal()
	if p := v.plan(t); !slices.Equal(p.writes, []string{"b", "c"}) {
		t.Errorf("the next plan writes %v", p.writes)
	}
	v.must(t)
	v.empty(t)
}

func TestMembersThatLeaveDoSoLastInTheOrderOfTheGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "b", "c")
	v.must(t)
	v.version("v2")
	v.spec.Placement = on("c")
	v.breaks("c v2", "")
	outcome := v.late(t)
	tells(t, outcome.Findings, "c error: "+v.id(t)+" is not ready in time", "a,b warning: "+v.id(t)+" stays for now")
	pends(t, outcome, "c")
	v.runs(t, "v1", "v1", "v2")
	v.mend("c v2")
	w.reset()
	says(t, v.plan(t).findings, `group "only c": c, then gone from b, then gone from a.`)
	v.must(t)
	v.runs(t, "", "", "v2")
	var deleted []time.Time
	for _, name := range []string{"b", "a"} {
		writes := w.proxies[name].Writes()
		if len(writes) != 1 || writes[0].Verb != kubetest.Delete {
			t.Fatalf("member %s, which leaves, gets %v", name, writes)
		}
		deleted = append(deleted, writes[0].Start)
	}
	if !deleted[0].Before(deleted[1]) {
		t.Errorf("deleted from b and a at %v", deleted)
	}
	v.empty(t)
}

func TestARemovalThatFailsStopsThoseAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "b")
	v.must(t)
	fault := w.proxies["b"].Status(http.StatusForbidden, kubetest.When(func(q kubetest.Request) bool { return q.Verb == kubetest.Delete }))
	v.spec.Placement = on("c")
	outcome := v.apply(t)
	tells(t, outcome.Findings, "b error: Unable to delete "+v.id(t))
	pends(t, outcome, "a", "b")
	v.runs(t, "v1", "v1", "v1")
	fault.Heal()
	v.must(t)
	v.runs(t, "", "", "v1")
}

func TestAMemberIsDoneAfterMinReadyTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	v := w.versions(t, "a")
	v.spec.Rollout.MinReady = time.Hour
	start := time.Now()
	var passed atomic.Int64
	w.now = func() time.Time { return start.Add(time.Duration(passed.Load())) }
	done := v.begin(t.Context(), t)
	for _, name := range w.names {
		v.settled(t, name)
		passed.Add(int64(59 * time.Minute))
		w.looked(t, name, 3)
		if name == "a" {
			v.runs(t, "v1", "")
		}
		select {
		case <-done:
			t.Fatal("it ended early")
		default:
		}
		passed.Add(int64(time.Minute))
	}
	if outcome := <-done; len(outcome.Findings) > 0 {
		t.Errorf("the apply says %s", texts(outcome.Findings))
	}
	v.runs(t, "v1", "v1")
}

func TestAnInterruptWhileItIsWaitedRecordsWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	v := w.versions(t, "a")
	for _, version := range []string{"v1", "v2"} {
		v.version(version)
		v.breaks("a "+version, "")
		ctx, interrupt := context.WithCancel(t.Context())
		done := v.begin(ctx, t)
		w.looked(t, "a", 2)
		interrupt()
		outcome := <-done
		says(t, outcome.Findings, "was not ready when the run was interrupted: it has no condition "+version)
		if outcome.Undone || outcome.Failed() != (version == "v2") || v.record.Copies["a"] == nil {
			t.Fatalf("undone %v, record %v: %s", outcome.Undone, v.record.Members(), texts(outcome.Findings))
		}
		pends(t, outcome, "a", "b")
		v.mend("a " + version)
		w.reset()
		v.must(t)
		v.runs(t, version, version)
		if n := len(w.proxies["a"].Writes()); n != 0 {
			t.Errorf("the next apply writes a %d times", n)
		}
		v.empty(t)
	}
}

func TestTheTimeOfTheWholeMayEndWhileItIsWaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	v := w.versions(t, "a")
	v.breaks("a v1", "")
	ctx, cancel := fleet.WithLimit(t.Context(), "timeouts.create", 2*time.Second)
	defer cancel()
	outcome := v.applyIn(ctx, t, w.run(t))
	says(t, outcome.Findings, "timeouts.create (2s) ended before it was ready")
	if outcome.Undone || outcome.Failed() {
		t.Errorf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	pends(t, outcome, "a", "b")
	v.runs(t, "v1", "")
}

func TestWhatIsDeletedWhileItIsWaitedForIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	v := w.versions(t)
	v.breaks("a v1", "")
	done := v.begin(t.Context(), t)
	w.looked(t, "a", 2)
	w.clusters["a"].Delete(t, "v1", "Service", w.namespace, "svc")
	outcome := <-done
	tells(t, outcome.Findings, "a warning: "+v.id(t)+" is gone")
	pends(t, outcome, "a")
	v.mend("a v1")
	if p := v.plan(t); !p.seen["a"].Gone || !slices.Equal(p.writes, []string{"a"}) {
		t.Errorf("the next plan writes %v", p.writes)
	}
	v.must(t)
	v.empty(t)
}

// TestAMemberThatIsDownHoldsNoRolloutBack: that is no failure, whatever else is told of it.
func TestAMemberThatIsDownHoldsNoRolloutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	v := w.versions(t, "a", "b")
	v.must(t)
	v.version("v2")
	fault := w.proxies["a"].Refuse()
	outcome := v.apply(t)
	tells(t, outcome.Findings, "a error: Member cannot be reached")
	v.runs(t, "v1", "v2", "v2")
	fault.Heal()
	v.must(t)
	v.empty(t)
}

func TestGroupsHaveMembersThatThereAreAndEachInOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.spec.Rollout = &federation.Rollout{Groups: []federation.Group{
		{Selection: federation.Selection{Clusters: []string{"a", "mars"}}, Name: "canary"},
		{Selection: federation.Selection{Selector: &federation.Selector{MatchLabels: map[string]string{"name": "a"}}}, Name: "labelled"},
	}}
	f := w.run(t)
	findings := f.CheckNames(t.Context(), r.spec, nil)
	tells(t, findings, "error: Unknown cluster")
	says(t, findings, "at rollout.groups.0.clusters", `In group "canary": "mars" is not a member`)
	resolution, err := f.Resolve(t.Context(), r.spec, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tells(t, resolution.Findings, "error: Member in two groups")
	says(t, resolution.Findings, "at rollout.groups.1", `"a": in group "labelled", and in group "canary" before it`)
}

// TestTheWaitForWhatIsSecretQuotesNothing: what a controller says about an object may quote what must not be shown.
func TestTheWaitForWhatIsSecretQuotesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	v := w.versions(t)
	v.spec.Sensitive = []string{"/spec/externalName"}
	v.breaks("a v1", "")
	v.spec.Wait.Timeout = 5 * time.Second
	done := v.begin(t.Context(), t)
	w.looked(t, "a", 1)
	live := v.get(t, "a")
	w.clusters["a"].Create(t, map[string]any{"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": "e", "namespace": w.namespace}, "type": "Warning", "reason": "Odd", "message": "hush-hush",
		"involvedObject": map[string]any{"apiVersion": "v1", "kind": "Service", "namespace": w.namespace, "name": "svc", "uid": string(live.GetUID())}})
	outcome := <-done
	says(t, outcome.Findings, "Odd (Service svc)", "not shown")
	if strings.Contains(texts(outcome.Findings), "hush") {
		t.Error(errors.New(texts(outcome.Findings)))
	}
}
