package member_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// pond is a Service in a world. Nothing but the test writes conditions into the status of one that is no load balancer.
type pond struct {
	*world
	member.Object
	uid types.UID
}

func newPond(t testing.TB) *pond {
	t.Helper()
	w := newWorld(t)
	o := w.object(t, "v1", "Service", "pond")
	return &pond{w, o, w.cluster.Create(t, manifest(o, map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": 80}}}})).GetUID()}
}

// says puts the only condition into the status.
func (p *pond) says(t testing.TB, kind, status string) {
	t.Helper()
	p.cluster.MergePatch(t, "v1", "Service", p.namespace, p.Name, fmt.Sprintf(
		`{status: {conditions: [{type: %s, status: %q, reason: Test, message: words, lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`, kind, status), "status")
}

// full waits for the condition Full.
func full(timeout time.Duration) member.ReadyOptions {
	return member.ReadyOptions{Expectation: member.Expectation{Conditions: []member.Condition{{Type: "Full", Status: "True"}}}, Timeout: timeout}
}

// wait begins to wait, and returns when the object has been looked at.
func (p *pond) wait(ctx context.Context, t testing.TB, options member.ReadyOptions) (done chan error) {
	t.Helper()
	done = make(chan error, 1)
	p.proxy.Reset()
	go func() { done <- p.WaitReady(ctx, p.Object, p.uid, options) }()
	p.looked(t, 2)
	return done
}

// looked waits until the object has been looked at so many times more.
func (p *pond) looked(t testing.TB, times int) {
	t.Helper()
	looks := func() int {
		return p.proxy.Count(func(r kubetest.Request) bool { return r.Verb == kubetest.Get && r.Name == p.Name })
	}
	before := looks()
	kubetest.Eventually(t, func() error {
		if looks() < before+times {
			return errors.New("it is not looked at")
		}
		return nil
	})
}

// notReady fails the test unless an error is a NotReadyError with these words.
func notReady(t testing.TB, err error, words ...string) *member.NotReadyError {
	t.Helper()
	var e *member.NotReadyError
	if !errors.As(err, &e) {
		t.Fatalf("want a NotReadyError, got %v", err)
	}
	for _, word := range words {
		if !strings.Contains(e.Error(), word) {
			t.Errorf("%q lacks %q", e, word)
		}
	}
	return e
}

func TestWaitReadyEndsWhenTheStatusSaysSo(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	p.says(t, "Full", "False")
	done := p.wait(t.Context(), t, full(time.Minute))
	p.says(t, "Full", "True")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWaitReadyNamesWhatIsMissingWhenTheTimeIsUp(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	p.says(t, "Full", "False")
	e := notReady(t, p.WaitReady(t.Context(), p.Object, p.uid, full(time.Second)), "Service "+p.namespace+"/pond on member eu", "condition Full is False (words)")
	if e.After != time.Second || e.Failed || e.Err != nil {
		t.Errorf("it is %+v", e)
	}
}

func TestWaitReadyGoesOnWhileTheMemberDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	done := p.wait(t.Context(), t, full(time.Minute))
	fault := p.proxy.Status(http.StatusServiceUnavailable, kubetest.Times(1))
	p.looked(t, 1)
	fault.Heal()
	p.proxy.Refuse()
	p.says(t, "Full", "True")
	p.proxy.Heal()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWaitReadySaysThatTheMemberDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	p.proxy.Refuse()
	e := notReady(t, p.WaitReady(t.Context(), p.Object, p.uid, full(time.Second)))
	var silent *member.UnreachableError
	if !errors.As(e.Err, &silent) || silent.Class != member.ClassNetwork {
		t.Errorf("the cause is %v", e.Err)
	}
	p.proxy.Heal()
	p.proxy.Status(http.StatusForbidden, kubetest.When(func(r kubetest.Request) bool { return r.Verb == kubetest.Get }))
	var refused *member.RefusedError
	if err := p.WaitReady(t.Context(), p.Object, p.uid, full(time.Minute)); !errors.As(err, &refused) {
		t.Errorf("a member that forbids to read is waited for: %v", err)
	}
}

func TestWaitReadyEndsAtOnceWhenTheObjectIsGoneReplacedOrBeingDeleted(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	var gone *member.GoneError
	if err := p.WaitReady(t.Context(), p.Object, "some-uid", full(time.Minute)); !errors.As(err, &gone) {
		t.Errorf("another object: %v", err)
	}
	done := p.wait(t.Context(), t, full(time.Minute))
	p.cluster.MergePatch(t, "v1", "Service", p.namespace, p.Name, `{metadata: {finalizers: [demo.test/hold]}}`)
	p.cluster.Delete(t, "v1", "Service", p.namespace, p.Name)
	var held *member.TerminatingError
	if err := <-done; !errors.As(err, &held) {
		t.Errorf("an object that is being deleted: %v", err)
	}
	p.cluster.MergePatch(t, "v1", "Service", p.namespace, p.Name, `{metadata: {finalizers: null}}`)
	if err := p.WaitReady(t.Context(), p.Object, p.uid, full(time.Minute)); !errors.As(err, &gone) {
		t.Errorf("an object that is gone: %v", err)
	}
}

func TestWaitReadyTellsAFailureAtOnceUnlessItPasses(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	p.says(t, "Stalled", "True")
	e := notReady(t, p.WaitReady(t.Context(), p.Object, p.uid, full(time.Minute)), "words")
	if !e.Failed || e.After != 0 {
		t.Errorf("it is %+v", e)
	}
	done := p.wait(t.Context(), t, full(time.Minute))
	p.says(t, "Full", "True")
	if err := <-done; err != nil {
		t.Errorf("a failure that has passed: %v", err)
	}
}

func TestWaitReadyEndsWithTheContext(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	ctx, interrupt := context.WithCancel(t.Context())
	done := p.wait(ctx, t, full(time.Minute))
	interrupt()
	if e := notReady(t, <-done, "no condition Full"); !errors.Is(e.Err, context.Canceled) || e.Warning != nil {
		t.Errorf("it is %+v", e)
	}
	why := errors.New("the whole took too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, why)
	defer cancel()
	if e := notReady(t, p.WaitReady(ctx, p.Object, p.uid, full(time.Minute))); !errors.Is(e.Err, why) {
		t.Errorf("it is %+v", e)
	}
}

// TestWaitReadyHasAnObjectStayReady: from the write, or from its last change to ready if that is later.
func TestWaitReadyHasAnObjectStayReady(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	change := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // as says puts it
	for name, c := range map[string]struct {
		written, now time.Duration // after the change
		early        bool
	}{
		"written before the change": {-time.Hour, 59 * time.Minute, true},
		"and long enough ago":       {-time.Hour, 60 * time.Minute, false},
		"written after the change":  {time.Minute, 60 * time.Minute, true},
		"and long enough before":    {time.Minute, 61 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			p.says(t, "Full", "True")
			var now atomic.Int64
			now.Store(int64(c.now))
			options := full(time.Minute)
			options.Steady, options.Written = time.Hour, change.Add(c.written)
			options.Now = func() time.Time { return change.Add(time.Duration(now.Load())) }
			if !c.early {
				if err := p.WaitReady(t.Context(), p.Object, p.uid, options); err != nil {
					t.Error(err)
				}
				return
			}
			done := p.wait(t.Context(), t, options)
			select {
			case err := <-done:
				t.Fatalf("it ended early: %v", err)
			default:
			}
			now.Add(int64(time.Minute))
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWaitReadyBeginsAnewWhenAnObjectWasNotReadyInBetween: whatever its conditions say of the time before, and whatever its clock says.
func TestWaitReadyBeginsAnewWhenAnObjectWasNotReadyInBetween(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	start := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	var now atomic.Int64
	options := full(time.Minute)
	options.Steady = time.Hour
	options.Now = func() time.Time { return start.Add(time.Duration(now.Load())) }
	p.says(t, "Full", "False")
	done := p.wait(t.Context(), t, options)
	p.says(t, "Full", "True")
	p.looked(t, 2)
	now.Store(int64(59 * time.Minute))
	p.looked(t, 2)
	select {
	case err := <-done:
		t.Fatalf("it ended early: %v", err)
	default:
	}
	now.Store(int64(time.Hour))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// warns makes an event about an object, so many minutes ago.
func (p *pond) warns(t testing.TB, about map[string]any, kind, message string, ago time.Duration) {
	t.Helper()
	p.cluster.Create(t, map[string]any{
		"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": kubetest.UniqueName(t, "event"), "namespace": p.namespace},
		"involvedObject": about, "type": kind, "reason": "Test", "message": message, "lastTimestamp": time.Now().Add(-ago).UTC().Format(time.RFC3339),
	})
}

func TestWhatIsNotReadyIsToldWithItsLastWarning(t *testing.T) {
	t.Parallel()
	p := newPond(t)
	pond := map[string]any{"apiVersion": "v1", "kind": "Service", "namespace": p.namespace, "name": p.Name, "uid": string(p.uid)}
	made := func(name string, owner map[string]any) map[string]any {
		o := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": p.namespace}}
		if owner != nil {
			o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
				"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["name"], "uid": owner["uid"], "controller": true}}
		}
		live := p.cluster.Create(t, o)
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "namespace": p.namespace, "name": name, "uid": string(live.GetUID())}
	}
	late := func() *member.NotReadyError {
		t.Helper()
		return notReady(t, p.WaitReady(t.Context(), p.Object, p.uid, full(time.Second)))
	}
	if e := late(); e.Warning != nil {
		t.Errorf("without an event, the warning is %v", e.Warning)
	}
	p.warns(t, pond, "Warning", "the older one", 3*time.Minute)
	p.warns(t, pond, "Warning", "the last one.", 2*time.Minute)
	p.warns(t, pond, "Normal", "all is well", time.Minute)
	p.warns(t, made("pond-stranger", nil), "Warning", "of a stranger", time.Second)
	if e := late(); e.Warning == nil || e.Warning.String() != "Test (Service pond): the last one" {
		t.Errorf("the warning is %v", e.Warning)
	}
	child := made("pond-child", pond)
	p.warns(t, made("pond-child-child", child), "Warning", "of a grandchild", time.Second)
	if e := late(); e.Warning == nil || e.Warning.String() != "Test (ConfigMap pond-child-child): of a grandchild" {
		t.Errorf("the warning is %v", e.Warning)
	}
	p.proxy.Status(http.StatusForbidden, kubetest.When(func(r kubetest.Request) bool { return r.Resource == "events" }))
	if e := late(); e.Warning != nil {
		t.Errorf("of events that may not be listed, the warning is %v", e.Warning)
	}
}
