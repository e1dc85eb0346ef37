package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Outcome is what an apply did.
type Outcome struct {
	Record   *Record
	Pending  map[string]string // members where what shall be is not yet → why
	Findings []Finding
	Undone   bool // a failed creation of which nothing is left: there is no state
}

// Failed reports whether an error is to be told.
func (o *Outcome) Failed() bool { return HasError(o.Findings) }

// result is the outcome of one write.
type result struct {
	Write
	done *written
	err  error
	at   time.Time // when it was written; zero if it was only waited for
	late error     // why it is not ready, although it is written
}

func (r result) failed() bool { return r.err != nil || r.late != nil }

func (r result) wasHeldBack() bool {
	var held *heldBack
	return errors.As(r.err, &held)
}

// failures counts the results that are failures in the sense of the policy.
func failures(results []result, counts func(result) bool) (n int64) {
	for _, r := range results {
		if r.failed() && counts(r) {
			n++
		}
	}
	return n
}

// Create writes an object to its members for the first time. Nothing of it may end up tainted: a refused write is undone and leaves no state,
// or (policy.on_failure = "continue", an interrupt after the first write, or members that are not ready in time) the creation leaves a state with
// pending members and a warning.
func (f *Fleet) Create(ctx context.Context, change *Change, record *Record) *Outcome {
	f.memory.noteApplying()
	outcome := &Outcome{Record: record, Pending: map[string]string{}}
	writes := f.reachable(ctx, change, outcome)
	if outcome.Failed() {
		outcome.Undone = true
		return outcome
	}
	results := f.roll(ctx, change.Target, change.stages, writes, change.Target.stops)
	failed := outcome.take(change, results)
	interrupted := ctx.Err() != nil && slices.ContainsFunc(results, result.failed)
	if interrupted && len(record.Copies) == 0 {
		outcome.report(change.Target, failed, func(result) bool { return true })
		outcome.Undone = true
		return outcome
	}
	if !interrupted && change.Target.stoppedBy(failed) {
		f.undo(ctx, change.Target, results, failed, outcome)
		return outcome
	}
	outcome.report(change.Target, failed, func(result) bool { return false })
	outcome.reportLate(change.Target, results, false)
	if interrupted {
		outcome.Findings = append(outcome.Findings, interruptedFinding(ctx))
	}
	return outcome
}

func interruptedFinding(ctx context.Context) Finding {
	finding := Finding{Summary: "Interrupted", Detail: "The run was interrupted; what was written is recorded.", Advice: "The next apply goes on with the pending members."}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		finding.Summary, finding.Detail = "Time is up", context.Cause(ctx).Error()+"; what was written is recorded."
	}
	return finding
}

// reachable asks all members at once whether they are there, before the first write. One that is not is left for a later run, or fails
// the creation as long as nothing is written.
func (f *Fleet) reachable(ctx context.Context, change *Change, outcome *Outcome) []Write {
	names := make([]string, len(change.Writes))
	for i, w := range change.Writes {
		names[i] = w.Member
	}
	errs := f.ask(ctx, names)
	var writes []Write
	for i, w := range change.Writes {
		if errs[i] == nil {
			writes = append(writes, w)
			continue
		}
		finding := change.Target.finding(w.Member, errs[i])
		finding.Error = change.Target.Policy.OnUnreachable == PolicyError || !isUnreachable(errs[i])
		if !finding.Error {
			finding.Advice = pendingAdvice
		}
		outcome.Findings = append(outcome.Findings, finding)
		outcome.Pending[w.Member] = finding.Detail
	}
	return writes
}

const pendingAdvice = "It is pending: the first apply after the member is back writes it."

// take records what was written, and returns what was not.
func (o *Outcome) take(change *Change, results []result) []result {
	var failed []result
	for _, r := range results {
		if r.err == nil {
			r.err = o.record(change, r)
		}
		if r.err == nil {
			continue
		}
		if r.Copy == nil && r.mayBeThere() {
			o.Record.Copies[r.Member] = &Copy{Used: r.Used} // a refresh finds out, and a destroy does not forget it
		}
		failed = append(failed, r)
	}
	return failed
}

// mayBeThere reports whether a failed write may have been carried out, in whole or in part.
func (r result) mayBeThere() bool {
	var (
		u       *member.UnreachableError
		refused *member.RefusedError
	)
	switch {
	case errors.As(r.err, &u):
		return r.done != nil || u.MayHaveArrived()
	case errors.As(r.err, &refused):
		return r.done != nil || refused.MayHaveArrived()
	}
	return r.done != nil
}

func (o *Outcome) record(change *Change, r result) error {
	if r.waitsOnly() {
		o.Record.Copies[r.Member].Unready = r.late != nil
		return nil
	}
	c := &Copy{Version: change.Versions[r.Member], Used: r.Used, Unready: r.late != nil}
	if err := o.Record.observe(c, r.done.live, r.done.manager); err != nil {
		return fmt.Errorf("record what member %s holds: %w", r.Member, err)
	}
	o.Record.Copies[r.Member] = c
	o.Findings = append(o.Findings, r.done.takenOver(change.Target, r.Member)...)
	return nil
}

// stoppedBy reports whether refused writes stop a creation, and have it undone. What is written and not ready is kept.
func (t *Target) stoppedBy(failed []result) bool {
	return failures(failed, func(r result) bool { return !r.wasHeldBack() && t.stops(r) }) > t.order.MaxFailures
}

// stops reports whether the policy takes a failed write for a failure of the whole, rather than leaving the member for later. A write that was
// answered with a server error is a failed write as well as one to a member that is not well: either policy may leave it.
func (t *Target) stops(r result) bool {
	switch goesOn := t.Policy.OnFailure == PolicyContinue; {
	case isUnreachable(r.err):
		return t.Policy.OnUnreachable == PolicyError && !(goesOn && answered(r.err))
	default:
		return !goesOn
	}
}

// answered reports whether the API server has answered a request, with an error of its own.
func answered(err error) bool {
	var u *member.UnreachableError
	return errors.As(err, &u) && u.Class == member.ClassServer
}

// stopsUpdate reports whether no further member is to be written: one that does not answer never holds the others back.
func (t *Target) stopsUpdate(r result) bool { return !isUnreachable(r.err) && t.stops(r) }

// report tells failed writes, and marks their members pending.
func (o *Outcome) report(t *Target, failed []result, asError func(result) bool) {
	for _, r := range failed {
		finding := t.writeFinding(r.Write, r.err)
		if finding.Error = asError(r) && !r.wasHeldBack(); !finding.Error && isUnreachable(r.err) {
			finding.Advice = pendingAdvice
		}
		o.Findings = append(o.Findings, finding)
		o.Pending[r.Member] = finding.Detail
	}
}

// reportLate tells of members that are written and not ready, and marks them pending.
func (o *Outcome) reportLate(t *Target, results []result, asError bool) {
	for _, r := range results {
		if r.late != nil {
			finding := t.lateFinding(r.Member, r.late)
			finding.Error = asError
			o.Findings = append(o.Findings, finding)
			o.Pending[r.Member] = finding.Detail
		}
	}
}

// Update brings the members to what they shall hold, then removes the object from those that leave. Members that fail keep what they
// have, and the record says so.
func (f *Fleet) Update(ctx context.Context, change *Change, record *Record) *Outcome {
	f.memory.noteApplying()
	outcome := &Outcome{Record: record.Clone(), Pending: map[string]string{}}
	t := change.Target
	results := f.roll(ctx, t, change.stages, slices.Concat(change.Writes, change.Waits), t.stopsUpdate)
	outcome.report(t, outcome.take(change, results), t.fails)
	outcome.reportLate(t, results, failures(results, t.stopsUpdate) > t.order.MaxFailures)
	if failures(results, t.stops) <= t.order.MaxFailures && ctx.Err() == nil {
		f.leave(ctx, change, outcome)
	} else if len(change.Leaving) > 0 {
		outcome.Findings = append(outcome.Findings, t.staysFinding(change.Leaving))
	}
	if !t.waits() {
		outcome.Record.forgetUnready()
	}
	if err := outcome.keepFormer(change); err != nil {
		outcome.Findings = append(outcome.Findings, Finding{Error: true, Summary: "Unable to record the former manifest", Detail: err.Error()})
	}
	return outcome
}

// staysFinding tells of members that are to lose the object once all others are done.
func (t *Target) staysFinding(names []string) Finding {
	return Finding{Members: names, Summary: t.ID.String() + " stays for now", Detail: "it goes from there when all other members are done.", Advice: "The next apply removes it."}
}

// fails reports whether a failed write of an update is told as an error: it is unless the policy leaves the member for later.
func (t *Target) fails(r result) bool {
	return !isUnreachable(r.err) || t.Policy.OnUnreachable == PolicyError
}

// keepFormer keeps the manifests of copies that are not what the state will say, and says of the others from which overrides they follow.
func (o *Outcome) keepFormer(change *Change) error {
	lagging := map[string]map[string]any{}
	for name, c := range o.Record.Copies {
		if version, placed := change.Versions[name]; placed && c.Version == version {
			c.Used = change.used[name]
			continue
		}
		if c.Version == "" {
			continue // nothing is known to have been written
		}
		manifest, err := change.former(name)
		if err != nil {
			return err
		}
		lagging[name] = manifest
	}
	return o.Record.keep(lagging)
}
