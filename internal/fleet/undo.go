package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// cleanUpFor bounds how long a failed creation is undone.
const cleanUpFor = 60 * time.Second

// undo takes back what a failed creation wrote: deletes, by uid, what it made, and puts back what it took over. Where that cannot be
// finished, the state keeps what is left, with a warning: an error would make Terraform destroy and create it everywhere.
func (f *Fleet) undo(ctx context.Context, t *Target, results, failed []result, outcome *Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpFor)
	defer cancel()
	var names, done []string
	byName := map[string]result{}
	for _, r := range results {
		if r.err == nil || r.mayBeThere() {
			names, byName[r.Member] = append(names, r.Member), r
		}
		if r.err == nil {
			done = append(done, r.Member)
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
	failed = slices.DeleteFunc(failed, func(r result) bool { return len(left) == 0 && r.wasHeldBack() })
	outcome.report(t, failed, func(result) bool { return len(left) == 0 })
	if len(left) > 0 {
		for _, name := range done {
			if !slices.Contains(left, name) {
				outcome.Pending[name] = "what was written was taken back, because another member failed"
			}
		}
		outcome.Findings = append(outcome.Findings, Finding{Members: left, Summary: "Failed creation could not be undone",
			Detail: t.ID.String() + " was written, or may have been, and could not be taken back.", Advice: "It stays in the state; correct the cause and apply again, or destroy it."})
		return
	}
	outcome.Undone = true
	if len(done) > 0 {
		last := &outcome.Findings[len(outcome.Findings)-1]
		last.Advice = strings.TrimSpace(last.Advice + " What this apply had written to " + strings.Join(done, ", ") + " was undone (policy.on_failure = \"stop\").")
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
	done := r.done
	if done == nil || done.live == nil {
		if done, err = t.traces(ctx, m, object, done); done == nil {
			return err
		}
	}
	if done.original != nil {
		return m.PutBack(ctx, object, done.original, done.live)
	}
	if !done.created {
		return nil
	}
	if err := m.Delete(ctx, object, done.live.GetUID(), member.DeleteOptions{Propagation: "Background"}); err != nil {
		return err
	}
	return m.WaitGone(ctx, object, done.live.GetUID())
}

// traces looks for what a write without an answer has done; nil if it has done nothing. An object with this creation's own mark that
// was not there before has been made by it.
func (t *Target) traces(ctx context.Context, m *member.Member, object member.Object, begun *written) (*written, error) {
	live, err := m.Get(ctx, object)
	if err != nil || live == nil {
		return nil, err
	}
	if mark, ok := member.MarkOf(live); !ok || mark != t.Mark {
		return nil, nil
	}
	done := &written{live: live, created: begun == nil}
	if begun != nil {
		done.original = begun.original
	}
	return done, nil
}
