package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// cleanUpFor bounds what is still done after an interrupt or a failure: recording, and undoing a failed creation.
const cleanUpFor = 60 * time.Second

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
}

// Create writes an object to its members for the first time. Nothing of it may end up tainted: a failure is undone and leaves no state,
// or (policy.on_failure = "continue", or an interrupt) leaves a state with pending members and a warning.
func (f *Fleet) Create(ctx context.Context, change *Change, record *Record) *Outcome {
	f.memory.noteApplying()
	outcome := &Outcome{Record: record, Pending: map[string]string{}}
	writes := f.reachable(ctx, change, outcome)
	if outcome.Failed() {
		outcome.Undone = true
		return outcome
	}
	results := f.write(ctx, change.Target, writes)
	failed := outcome.take(change, results)
	interrupted := ctx.Err() != nil
	if !interrupted && slices.ContainsFunc(failed, change.Target.stops) {
		f.undo(ctx, change.Target, results, failed, outcome)
		return outcome
	}
	outcome.report(change.Target, failed, func(result) bool { return false })
	if interrupted {
		outcome.Findings = append(outcome.Findings, interruptedFinding())
	}
	return outcome
}

func interruptedFinding() Finding {
	return Finding{Summary: "Interrupted", Detail: "The run was interrupted; what was written is recorded.", Advice: "The next apply goes on with the pending members."}
}

// reachable asks all members at once whether they are there, before the first write. One that is not is left for a later run, or fails
// the creation as long as nothing is written.
func (f *Fleet) reachable(ctx context.Context, change *Change, outcome *Outcome) []Write {
	names := make([]string, len(change.Writes))
	for i, w := range change.Writes {
		names[i] = w.Member
	}
	errs := each(ctx, f, names, func(ctx context.Context, name string) error {
		m, err := f.config.Registry.Open(ctx, name)
		if err == nil {
			_, err = m.Kinds(ctx)
		}
		return err
	})
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

const pendingAdvice = "It is pending: the first apply after the member is back writes it (policy.on_unreachable = \"skip\")."

func (f *Fleet) write(ctx context.Context, t *Target, writes []Write) []result {
	p := putter{fleet: f, target: t}
	byName := map[string]Write{}
	names := make([]string, len(writes))
	for i, w := range writes {
		names[i], byName[w.Member] = w.Member, w
	}
	return each(ctx, f, names, func(ctx context.Context, name string) result {
		w := byName[name]
		done, err := p.put(ctx, w)
		return result{w, done, err}
	})
}

// take records what was written, and returns what was not.
func (o *Outcome) take(change *Change, results []result) []result {
	var failed []result
	for _, r := range results {
		if r.err == nil {
			r.err = o.record(change, r)
		}
		if r.err != nil {
			failed = append(failed, r)
		} else if r.done.resumed {
			o.Findings = append(o.Findings, r.done.notes(change.Target, r.Member)...)
		}
	}
	return failed
}

func (o *Outcome) record(change *Change, r result) error {
	c := &Copy{Version: change.Versions[r.Member], Used: r.Used}
	if err := o.Record.observe(c, r.done.live, r.done.manager); err != nil {
		return fmt.Errorf("record what member %s holds: %w", r.Member, err)
	}
	o.Record.Copies[r.Member] = c
	return nil
}

// stops reports whether the policy takes a failed write for a failure of the whole, rather than leaving the member for later.
func (t *Target) stops(r result) bool {
	if isUnreachable(r.err) {
		return t.Policy.OnUnreachable == PolicyError
	}
	return t.Policy.OnFailure != PolicyContinue
}

// report tells failed writes, and marks their members pending.
func (o *Outcome) report(t *Target, failed []result, asError func(result) bool) {
	for _, r := range failed {
		finding := t.finding(r.Member, r.err)
		if finding.Error = asError(r); !finding.Error && isUnreachable(r.err) {
			finding.Advice = pendingAdvice
		}
		o.Findings = append(o.Findings, finding)
		o.Pending[r.Member] = finding.Detail
	}
}

// undo takes back what a failed creation wrote: deletes, by uid, what it made, and puts back what it took over. Where that cannot be
// finished, the state keeps what is left, with a warning: an error would make Terraform destroy and create it everywhere.
func (f *Fleet) undo(ctx context.Context, t *Target, results, failed []result, outcome *Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpFor)
	defer cancel()
	var names []string
	byName := map[string]result{}
	for _, r := range results {
		if r.done != nil {
			names, byName[r.Member] = append(names, r.Member), r
		}
	}
	errs := each(ctx, f, names, func(ctx context.Context, name string) error { return f.undoOne(ctx, t, byName[name]) })
	var left []string
	for i, err := range errs {
		if err != nil {
			left = append(left, names[i])
			continue
		}
		delete(outcome.Record.Copies, names[i])
	}
	outcome.report(t, failed, func(result) bool { return len(left) == 0 })
	if len(left) > 0 {
		outcome.Findings = append(outcome.Findings, Finding{Members: left, Summary: "Failed creation could not be undone",
			Detail: t.ID.String() + " was written and could not be taken back.", Advice: "It stays in the state; correct the cause and apply again, or destroy it."})
		return
	}
	outcome.Undone = true
	if len(names) > 0 {
		last := &outcome.Findings[len(outcome.Findings)-1]
		last.Advice = strings.TrimSpace(last.Advice + " What this apply had written to " + strings.Join(names, ", ") + " was undone (policy.on_failure = \"stop\").")
	}
}

func (f *Fleet) undoOne(ctx context.Context, t *Target, r result) error {
	m, err := f.config.Registry.Open(ctx, r.Member)
	if err != nil {
		return err
	}
	object, err := t.object(ctx, m)
	if err != nil {
		return err
	}
	if r.done.original != nil {
		return m.PutBack(ctx, object, r.done.original, r.done.live)
	}
	if !r.done.created {
		return nil
	}
	if err := m.Delete(ctx, object, r.done.live.GetUID(), member.DeleteOptions{Propagation: "Background"}); err != nil {
		return err
	}
	return m.WaitGone(ctx, object, r.done.live.GetUID())
}

// Update brings the members to what they shall hold, then removes the object from those that leave. Members that fail keep what they
// have, and the record says so.
func (f *Fleet) Update(ctx context.Context, change *Change, record *Record) *Outcome {
	f.memory.noteApplying()
	outcome := &Outcome{Record: record.Clone(), Pending: map[string]string{}}
	failed := outcome.take(change, f.write(ctx, change.Target, change.Writes))
	outcome.report(change.Target, failed, change.Target.stops)
	if err := outcome.keepFormer(failed); err != nil {
		outcome.Findings = append(outcome.Findings, Finding{Error: true, Summary: "Unable to record the former manifest", Detail: err.Error()})
	}
	if !outcome.Failed() && ctx.Err() == nil {
		f.leave(ctx, change, outcome)
	}
	return outcome
}

// keepFormer keeps the manifests of copies that were to change and did not.
func (o *Outcome) keepFormer(failed []result) error {
	lagging := map[string]map[string]any{}
	for _, r := range failed {
		if r.Copy != nil && r.Former != nil && o.Record.Copies[r.Member] != nil {
			lagging[r.Member] = r.Former
		}
	}
	return o.Record.keep(lagging)
}
