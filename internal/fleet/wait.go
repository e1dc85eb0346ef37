package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// DefaultWait is how long a member may take to get ready.
const DefaultWait = 10 * time.Minute

// Wait says what makes a member done with beside that it is written. The zero value asks for nothing.
type Wait struct {
	member.Expectation
	Timeout time.Duration // per member, from the write on; 0 = DefaultWait
	Steady  time.Duration // how long the object has to stay ready
}

// wait is what the configuration says about that, in whole: a rollout goes on only where the object is ready.
func (s Spec) wait() Wait {
	wait := s.Wait
	if s.Rollout != nil {
		wait.Ready, wait.Steady = true, s.Rollout.MinReady
	}
	if wait.Timeout == 0 {
		wait.Timeout = DefaultWait
	}
	return wait
}

// waits reports whether members are waited for, or may turn out to be.
func (t *Target) waits() bool { return t.Wait.Any() || t.open }

// LeavesPending reports whether an update may succeed without every member being as it shall be.
func (t *Target) LeavesPending() bool {
	return t.Policy.LeavesPending() || t.open || (t.waits() && t.order.MaxFailures > 0)
}

// await waits until the object with this uid is ready on a member.
func (f *Fleet) await(ctx context.Context, t *Target, name string, uid types.UID, written time.Time) error {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return err
	}
	object, err := t.object(ctx, m)
	if err != nil {
		return err
	}
	return m.WaitReady(ctx, object, uid, member.ReadyOptions{
		Expectation: t.Wait.Expectation, Timeout: t.Wait.Timeout, Steady: t.Wait.Steady, Written: written, Now: f.config.Now,
	})
}

const lateAdvice = "It is pending. Mend what keeps it from getting ready, or the template, and apply again: the apply goes on here."

// lateFinding explains why an object that is written is not done with.
func (t *Target) lateFinding(name string, err error) Finding {
	var (
		late *member.NotReadyError
		gone *member.GoneError
	)
	switch {
	case errors.As(err, &late):
		return t.explainLateness(name, late)
	case errors.As(err, &gone):
		return Finding{Error: true, Members: []string{name}, Summary: t.ID.String() + " is gone", Advice: lateAdvice,
			Detail: "somebody has deleted or replaced it while it was waited for."}
	}
	f := t.finding(name, err)
	f.Path = nil
	return f
}

func (t *Target) explainLateness(name string, e *member.NotReadyError) Finding {
	f := Finding{Error: true, Members: []string{name}, Advice: lateAdvice}
	var own limit
	switch {
	case errors.Is(e.Err, context.Canceled):
		f.Summary, f.Detail, f.Advice = "Interrupted", "it is written, and was not ready when the run was interrupted", "The next apply waits for it again."
	case errors.As(e.Err, &own):
		f.Summary, f.Path, f.Detail = "Time is up", []string{"timeouts"}, fmt.Sprintf("it is written, and %v before it was ready", own)
	case e.Failed:
		f.Summary, f.Detail = t.ID.String()+" has failed", "it is written, and its status says that it will not get ready"
	default:
		f.Summary, f.Detail = t.ID.String()+" is not ready in time", fmt.Sprintf("it is written, and was not ready after %s (wait.timeout)", e.After)
	}
	f.Detail += t.whatIsMissing(e) + "."
	return f
}

// whatIsMissing completes the detail of a finding by the words of the status and of the last warning. Those of controllers may quote what
// must not be shown; what is counted for a kind of Kubernetes itself does not.
func (t *Target) whatIsMissing(e *member.NotReadyError) string {
	var parts []string
	if e.Missing != "" && !(t.hidesText() && !builtinGroups[t.GVK.Group]) {
		parts = append(parts, strings.TrimSuffix(e.Missing, "."))
	}
	if w := e.Warning; w != nil && !t.hidesText() {
		parts = append(parts, "last warning "+w.String())
	} else if w != nil {
		parts = append(parts, "last warning "+w.Reason+" ("+w.About+"); "+hiddenWords)
	}
	var silent *member.UnreachableError
	if errors.As(e.Err, &silent) {
		parts = append(parts, fmt.Sprintf("it %s: %s", silent.Class, t.words(silent.Err)))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}
