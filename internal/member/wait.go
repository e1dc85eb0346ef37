package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// ReadyOptions say how long an object is waited for.
type ReadyOptions struct {
	Expectation
	Timeout time.Duration    // until it is ready
	Steady  time.Duration    // how long it has to stay ready then
	Written time.Time        // when it was written; zero if not by this run
	Now     func() time.Time // the clock by which Steady is measured; nil: the system's
}

// NotReadyError says that an object is there, and not ready: it failed, or the time was up, or the context ended.
type NotReadyError struct {
	Member  string
	Object  Object
	Failed  bool          // its status says that it will not get ready by itself
	Missing string        // what the status says is not as it shall be; "" if it was never read
	Warning *Warning      // the last one about it or what it has made; nil if there is none, or events may not be listed
	After   time.Duration // how long it was waited for; 0 if the context ended
	Err     error         // the end of the context, or what the member answered last instead of the object
}

func (e *NotReadyError) Error() string {
	text := fmt.Sprintf("%s on member %s is not ready", e.Object, e.Member)
	if e.Missing != "" {
		text += ": " + e.Missing
	}
	if e.Warning != nil {
		text += "; last warning: " + e.Warning.String()
	}
	if e.Err != nil {
		text += "; " + e.Err.Error()
	}
	return text
}

// failedFor is how long a status has to say that an object has failed. That of a Deployment which goes back to a former version says so for a
// moment, of the version before.
const failedFor = time.Second

// WaitReady polls until the object with this uid is ready, and has been so long enough. It goes on while the member does not answer. The error
// is a NotReadyError; a GoneError if another object or none is there; a TerminatingError; or one by which the member refuses to be asked.
func (m *Member) WaitReady(ctx context.Context, o Object, uid types.UID, options ReadyOptions) error {
	if options.Now == nil {
		options.Now = time.Now
	}
	own, cancel := context.WithTimeout(ctx, options.Timeout+options.Steady)
	defer cancel()
	w := waiting{member: m, object: o, uid: uid, options: options}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if done, err := w.look(own); done || err != nil {
			return w.explained(ctx, err)
		}
		select {
		case <-time.After(pause):
		case <-own.Done():
			return w.explained(ctx, w.late(ctx))
		}
	}
}

// waiting is one run of WaitReady.
type waiting struct {
	member  *Member
	object  Object
	uid     types.UID
	options ReadyOptions

	last    Readiness // as last seen
	silence error     // why the last look saw nothing
	since   time.Time // ready since, in one piece; zero while it is not
	unready bool      // it was seen not to be
	failed  time.Time // seen to have failed since; zero while it has not
}

// look reads the object once. An error ends the waiting.
func (w *waiting) look(ctx context.Context) (done bool, err error) {
	live, err := w.member.Get(ctx, w.object)
	var silent *UnreachableError
	switch {
	case errors.As(err, &silent):
		if ctx.Err() == nil { // else it says nothing about the member
			w.silence = err
		}
		return false, nil
	case err != nil:
		return false, err
	case live == nil || live.GetUID() != w.uid:
		return false, &GoneError{Member: w.member.name, Object: w.object}
	case live.GetDeletionTimestamp() != nil:
		return false, terminating(w.member.name, w.object, live)
	}
	w.silence = nil
	return w.judge(live)
}

func (w *waiting) judge(live *unstructured.Unstructured) (done bool, err error) {
	w.last = ReadinessOf(live, w.options.Expectation)
	switch {
	case !w.last.Failed:
		w.failed = time.Time{}
	case w.failed.IsZero():
		w.failed = time.Now()
	case time.Since(w.failed) >= failedFor:
		return false, &NotReadyError{Member: w.member.name, Object: w.object, Failed: true, Missing: w.last.Missing}
	}
	if !w.last.Ready {
		w.since, w.unready = time.Time{}, true
		return false, nil
	}
	now := w.options.Now()
	if w.since.IsZero() {
		w.since = w.readySince(now)
	}
	return now.Sub(w.since) >= w.options.Steady, nil
}

// readySince is the later of the write and the last change to ready. That is the moment it is first seen ready, unless it has been from the
// start: then a condition may tell, by the member's clock, which is not believed to be ahead of ours.
func (w *waiting) readySince(now time.Time) time.Time {
	since := w.last.Since
	switch {
	case w.unready || since.After(now):
		return now
	case since.Before(w.options.Written):
		since = w.options.Written
	}
	if since.IsZero() {
		return now
	}
	return since
}

// late is the error of a waiting whose time is up, or whose context ended.
func (w *waiting) late(ctx context.Context) *NotReadyError {
	e := &NotReadyError{Member: w.member.name, Object: w.object, Failed: w.last.Failed, Missing: w.last.Missing}
	if w.last.Ready {
		e.Missing = fmt.Sprintf("it has been ready since %s, which is not %s yet", w.since.UTC().Format(time.RFC3339), w.options.Steady)
	}
	if e.Err = context.Cause(ctx); e.Err == nil {
		e.After, e.Err = w.options.Timeout+w.options.Steady, w.silence
	}
	return e
}

// warningFor bounds how long the last warning about an object that is not ready is looked for.
const warningFor = 5 * time.Second

// explained adds to an error what may be the cause, except after an interrupt, when nobody waits for it.
func (w *waiting) explained(ctx context.Context, err error) error {
	var unready *NotReadyError
	if !errors.As(err, &unready) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), warningFor)
	defer cancel()
	unready.Warning = w.member.lastWarning(ctx, w.object, w.uid)
	return unready
}
