package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// arrange keeps what the order of members follows from, and checks that there is one.
func (r *Resolution) arrange(spec Spec, candidates []Candidate, known bool, placed []string) {
	r.members = map[string]federation.Member{}
	for _, c := range candidates {
		r.members[c.Name] = c.member()
	}
	if spec.Rollout == nil || (!known && spec.ordersByLabel()) {
		return
	}
	r.order = *spec.Rollout
	_, err := r.stages(union(r.Placed, placed))
	r.fault(federation.Below(err, "rollout"))
}

// stages puts members into the order of the rollout; without one they are one stage. One that is registered no longer has no labels.
func (r *Resolution) stages(names []string) ([]federation.Stage, error) {
	members := make([]federation.Member, len(names))
	for i, name := range names {
		members[i] = r.members[name]
		members[i].Name = name
	}
	return r.order.Stages(members)
}

// TellOrder says in one line in which order members are brought up to date, where there is more than one stage with something to do.
func (c *Change) TellOrder() []Finding {
	if !c.Target.rolls {
		return nil
	}
	todo := map[string]bool{}
	for _, w := range slices.Concat(c.Writes, c.Waits) {
		todo[w.Member] = true
	}
	var steps []string
	for _, stage := range c.stages {
		if names := slices.DeleteFunc(slices.Clone(stage.Members), func(name string) bool { return !todo[name] }); len(names) > 0 {
			steps = append(steps, inWords(stage, names))
		}
	}
	for _, stage := range c.leaves {
		steps = append(steps, "gone from "+inWords(federation.Stage{AtOnce: stage.AtOnce}, stage.Members))
	}
	if len(steps) < 2 {
		return nil
	}
	return []Finding{{Path: []string{"rollout"}, Summary: fmt.Sprintf("Rollout in %d steps", len(steps)), Detail: strings.Join(steps, ", then ") + "."}}
}

// inWords names the members of a stage that have something to do.
func inWords(s federation.Stage, names []string) string {
	text := strings.Join(shorten(slices.Clone(names)), ", ")
	if s.AtOnce < len(names) {
		text += fmt.Sprintf(" (%d at once)", s.AtOnce)
	}
	if s.Group == "" {
		return text
	}
	return s.Group + ": " + text
}

// heldBack is the error of a member that is not begun, because others have failed before.
type heldBack struct {
	Write
	failed []string // who
	rolls  bool
}

func (e *heldBack) Error() string {
	what := "it was not written"
	switch {
	case e.waitsOnly():
		what = "it is written, and was not waited for"
	case e.rolls && e.Copy != nil:
		what = "it keeps the former version"
	}
	if !e.rolls {
		return what + ", because another member failed before (policy.on_failure = \"stop\")"
	}
	return what + ", because the rollout stopped before it: " + strings.Join(e.failed, ", ") + " failed"
}

// rolling is an apply on its way through the stages of a rollout.
type rolling struct {
	fleet   *Fleet
	target  *Target
	todo    map[string]Write
	counts  func(result) bool // whether a result is a failure that may stop the others
	writing chan struct{}     // places for members that are being written; those waited for need none

	mu      sync.Mutex
	results map[string]result
	failed  []string // sorted
}

// roll writes members, and waits for each as the target says, stage by stage. It begins no further one after more failures than the rollout
// allows. Writes without anything to write are waited for only. The results are sorted by member.
func (f *Fleet) roll(ctx context.Context, t *Target, stages []federation.Stage, todo []Write, counts func(result) bool) []result {
	r := &rolling{fleet: f, target: t, todo: map[string]Write{}, counts: counts, results: map[string]result{}}
	r.writing = make(chan struct{}, max(1, f.config.MaxParallel))
	for _, w := range todo {
		r.todo[w.Member] = w
	}
	for _, stage := range stages {
		r.stage(ctx, stage)
	}
	results := make([]result, 0, len(todo))
	for _, name := range sortedKeys(r.results) {
		results = append(results, r.results[name])
	}
	return results
}

func (r *rolling) stage(ctx context.Context, s federation.Stage) {
	atOnce := make(chan struct{}, s.AtOnce)
	var all sync.WaitGroup
	for _, name := range s.Members {
		w, needed := r.todo[name]
		if !needed {
			continue
		}
		atOnce <- struct{}{}
		r.writing <- struct{}{}
		all.Go(func() {
			defer func() { <-atOnce }()
			one := r.write(ctx, w)
			<-r.writing
			if one.err == nil && r.target.Wait.Any() {
				r.wait(ctx, &one)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.results[name] = one
		})
	}
	all.Wait()
}

// write writes one member, unless too many have failed before, or the run has been interrupted: then nothing is sent.
func (r *rolling) write(ctx context.Context, w Write) result {
	one := result{Write: w}
	if one.err = inTime(ctx, ctx.Err()); one.err == nil {
		one.err = r.held(w)
	}
	if one.err != nil || w.waitsOnly() {
		return one
	}
	one.done, one.err = putter{fleet: r.fleet, target: r.target}.put(ctx, w)
	one.err = inTime(ctx, one.err)
	one.at = r.fleet.config.Now()
	r.note(one)
	return one
}

// wait waits until what a member holds is ready.
func (r *rolling) wait(ctx context.Context, one *result) {
	if one.waitsOnly() {
		one.late = r.fleet.await(ctx, r.target, one.Member, one.Copy.UID, one.at)
	} else {
		one.late = r.fleet.await(ctx, r.target, one.Member, one.done.live.GetUID(), one.at)
	}
	if isUnreachable(one.late) && one.waitsOnly() { // as if it had something to write: it is pending
		one.err, one.late = inTime(ctx, one.late), nil
	}
	r.note(*one)
}

// held says why a member is not begun; nil if nothing is in the way.
func (r *rolling) held(w Write) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int64(len(r.failed)) <= r.target.order.MaxFailures {
		return nil
	}
	return &heldBack{Write: w, failed: slices.Clone(r.failed), rolls: r.target.rolls}
}

func (r *rolling) note(one result) {
	if !one.failed() || !r.counts(one) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, one.Member)
	slices.Sort(r.failed)
}

// waitsOnly: the member holds what it shall, and was not ready.
func (w Write) waitsOnly() bool { return w.Copy != nil && w.Copy.Unready && w.Want == nil }
