package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// limit is the time that a whole operation has, as the cause of a context's end.
type limit struct {
	attribute string
	after     time.Duration
}

func (l limit) Error() string { return fmt.Sprintf("%s (%s) ended", l.attribute, l.after) }

// WithLimit bounds a whole operation; attribute is the one that sets the bound, as a user writes it ("timeouts.create").
func WithLimit(ctx context.Context, attribute string, after time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, after, limit{attribute, after})
}

// OutOfTimeError says that the time of the whole operation ended before a member was done with. It says nothing about the member.
type OutOfTimeError struct {
	Limit error // which time, in words
	Err   error // what was going on
}

func (e *OutOfTimeError) Error() string { return fmt.Sprintf("%v: %v", e.Limit, e.Err) }

func (e *OutOfTimeError) Unwrap() error { return e.Err }

// inTime tells an error that comes of the end of the whole operation's own time from one that a member is to blame for.
func inTime(ctx context.Context, err error) error {
	var (
		silent *member.UnreachableError
		held   *member.TerminatingError
	)
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	if errors.As(err, &silent) && silent.Class == member.ClassNetwork || errors.As(err, &held) || errors.Is(err, context.DeadlineExceeded) {
		return &OutOfTimeError{Limit: context.Cause(ctx), Err: err}
	}
	return err
}

// Late says that an operation's own time ended while something was asked that belongs to no member; false if that is not what happened.
func Late(ctx context.Context, err error) (Finding, bool) {
	var late *OutOfTimeError
	if !errors.As(inTime(ctx, err), &late) {
		return Finding{}, false
	}
	return late.finding("while the members were looked up."), true
}

// explainLate says what went on when the time was up.
func (t *Target) explainLate(name string, e *OutOfTimeError) Finding {
	f := e.finding("before the member had answered.")
	f.Members = []string{name}
	var held *member.TerminatingError
	if errors.As(e.Err, &held) {
		inner := t.finding(name, held)
		f.Detail, f.Advice = e.Limit.Error()+" while "+inner.Detail, inner.Advice+" Is the time too short, raise it."
	}
	return f
}

func (e *OutOfTimeError) finding(when string) Finding {
	return Finding{Error: true, Path: []string{"timeouts"}, Summary: "Time is up", Detail: e.Limit.Error() + " " + when,
		Advice: "Raise it, if that is not enough time, and run again: a refresh finds out what arrived."}
}
