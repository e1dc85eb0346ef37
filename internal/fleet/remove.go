package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Delete removes the object from every member of the record. The outcome's record holds what is left.
func (f *Fleet) Delete(ctx context.Context, t *Target, record *Record) *Outcome {
	f.memory.noteApplying()
	outcome := &Outcome{Record: record.Clone(), Pending: map[string]string{}}
	members := record.Members()
	f.removeAll(ctx, t, []federation.Stage{{Members: members, AtOnce: len(members)}}, outcome, false)
	return outcome
}

// leave removes the object from the members that are no longer placed, in the order of the rollout. A copy that was imported and never
// written is forgotten instead: an import must not end in a deletion. So is one of a member that has another name now, under which the record
// has it.
func (f *Fleet) leave(ctx context.Context, change *Change, outcome *Outcome) {
	stages := make([]federation.Stage, len(change.leaves))
	for i, stage := range change.leaves {
		stages[i] = federation.Stage{Group: stage.Group, AtOnce: stage.AtOnce}
		for _, name := range stage.Members {
			c := outcome.Record.Copies[name]
			if _, elsewhere := outcome.Record.elsewhere(name)[c.UID]; c.Foreign || (elsewhere && f.hasLeft(ctx, name)) {
				delete(outcome.Record.Copies, name)
				continue
			}
			stages[i].Members = append(stages[i].Members, name)
		}
	}
	f.removeAll(ctx, change.Target, stages, outcome, true)
}

// removeAll removes the object from members, stage by stage, and begins no further stage after more failures than the rollout allows;
// releasing says that a protected object with something of others in it is released and left.
func (f *Fleet) removeAll(ctx context.Context, t *Target, stages []federation.Stage, outcome *Outcome, releasing bool) {
	staying := outcome.Record.Clone()
	for _, stage := range stages {
		for _, name := range stage.Members {
			delete(staying.Copies, name)
		}
	}
	var failed int64
	for _, stage := range stages {
		if failed > t.order.MaxFailures {
			for _, name := range stage.Members {
				outcome.Pending[name] = "it still has the object, because its removal from others failed before."
			}
			continue
		}
		failed += f.removeStage(ctx, t, stage, staying, outcome, releasing)
	}
}

// removeStage answers on how many members the removal failed in the sense of the policy.
func (f *Fleet) removeStage(ctx context.Context, t *Target, stage federation.Stage, staying *Record, outcome *Outcome, releasing bool) (failed int64) {
	names := stage.Members
	answers := eachOf(ctx, min(stage.AtOnce, f.config.MaxParallel), names, func(ctx context.Context, name string) removal {
		c := outcome.Record.Copies[name]
		if other, same := staying.elsewhere(name)[c.UID]; same {
			return removal{done: true, findings: []Finding{{Members: []string{name}, Summary: "Object is left where it is",
				Detail: fmt.Sprintf("its %s is the very object of member %s: both names are one cluster.", t.ID, other), Advice: "Give every cluster one name."}}}
		}
		return f.remove(ctx, t, name, c, releasing)
	})
	for i, name := range names {
		outcome.Findings = append(outcome.Findings, answers[i].findings...)
		if answers[i].done {
			delete(outcome.Record.Copies, name)
		} else if n := len(answers[i].findings); n > 0 {
			outcome.Pending[name] = answers[i].findings[n-1].Detail
		}
		if answers[i].failed && t.Policy.OnFailure != PolicyContinue {
			failed++
		}
	}
	return failed
}

type removal struct {
	done     bool
	failed   bool // and not because the member does not answer
	findings []Finding
}

func (f *Fleet) remove(ctx context.Context, t *Target, name string, c *Copy, releasing bool) removal {
	inside, err := f.removeFrom(ctx, t, name, c, releasing)
	err = inTime(ctx, err)
	var foreign *ForeignError
	switch {
	case err == nil && inside == nil:
		return removal{done: true}
	case err == nil && releasing:
		return removal{done: true, findings: []Finding{{Members: []string{name}, Summary: t.ID.String() + " is left behind",
			Detail: fmt.Sprintf("%s was released and left where it is: %s.", t.ID, strings.Join(inside, ", ")),
			Advice: "It is protected (deletion.protection) and holds objects of others."}}}
	case err == nil:
		return removal{findings: []Finding{protectedFinding(t, name, inside)}}
	case errors.Is(err, errNotMarked):
		return removal{done: true, findings: []Finding{{Members: []string{name}, Summary: t.ID.String() + " is left behind",
			Detail: fmt.Sprintf("%s does not carry this resource's mark (annotation %s), so it was not deleted.", t.ID, member.ResourceAnnotation),
			Advice: "It is left to whoever has it now."}}}
	case errors.As(err, &foreign):
		return removal{done: true, findings: []Finding{{Members: []string{name}, Summary: t.ID.String() + " is left behind",
			Detail: strings.TrimSuffix(foreign.detail(), ".") + ", so it was not deleted.", Advice: "It is left to whoever has it now."}}}
	case leftBehind(err) && t.Policy.OnUnreachableDelete == PolicyForget && ctx.Err() == nil: // an interrupt says nothing about the member
		return removal{done: true, findings: []Finding{t.forgotten(name, err)}}
	case leftBehind(err) && !errors.Is(err, context.Canceled):
		return removal{findings: []Finding{t.notDeleted(name, err)}}
	}
	finding := t.finding(name, err)
	finding.Summary = "Unable to delete " + t.ID.String()
	var held *member.TerminatingError
	if errors.As(err, &held) {
		finding.Summary = "Object is not gone in time"
	}
	return removal{failed: true, findings: []Finding{finding}}
}

// removeFrom deletes or releases the object on one member, and waits until it is gone. inside lists what kept a protected object.
func (f *Fleet) removeFrom(ctx context.Context, t *Target, name string, c *Copy, releasing bool) (inside []string, err error) {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	object, live, err := t.find(ctx, m)
	if err != nil || live == nil || !t.isCopy(live, c) {
		return nil, err
	}
	if err := t.mayRemove(m, object, live, c); err != nil {
		return nil, err
	}
	if t.Deletion.Orphan {
		return nil, m.Release(ctx, object, live.GetUID())
	}
	if t.Deletion.Protected(t.ID) {
		if inside, err = f.contents(ctx, m, t); err != nil {
			return nil, err
		}
	}
	if len(inside) > 0 {
		if releasing {
			return inside, m.Release(ctx, object, live.GetUID())
		}
		return inside, nil
	}
	if err := m.Delete(ctx, object, live.GetUID(), t.Deletion.options()); err != nil {
		return nil, err
	}
	return nil, m.WaitGone(ctx, object, live.GetUID())
}

// find reads the object to be removed; nil without an error means that it is gone. What discovery said may be older than the deletion of the
// kind's definition in this run.
func (t *Target) find(ctx context.Context, m *member.Member) (object member.Object, live *unstructured.Unstructured, err error) {
	for range 2 {
		var gone bool
		if object, gone, err = t.inAnyVersion(ctx, m); err != nil || gone {
			return object, nil, err
		}
		if live, err = m.Get(ctx, object); !isNotServed(err) {
			return object, live, err
		}
		m.Forget()
	}
	return object, nil, err
}

func (d Deletion) options() member.DeleteOptions {
	o := member.DeleteOptions{Propagation: d.Propagation, GraceSeconds: d.GraceSeconds}
	if o.Propagation == "" {
		o.Propagation = metav1.DeletePropagationForeground
	}
	return o
}

func protectedFinding(t *Target, name string, inside []string) Finding {
	return Finding{Error: true, Path: []string{"deletion"}, Members: []string{name}, Summary: "Object is protected",
		Detail: fmt.Sprintf("deleting %s would delete what others have in it: %s.", t.ID, strings.Join(inside, ", ")),
		Advice: "Remove these first, keep the object there with deletion.policy = \"orphan\", or apply deletion.protection = false."}
}

// Guard says what keeps a protected object from being destroyed, on every member of the record.
func (f *Fleet) Guard(ctx context.Context, t *Target, record *Record) []Finding {
	return f.protected(ctx, t, record.Members())
}

// protected says what others have in an object on these members, if it is protected. A member that cannot be asked is asked again by the
// deletion.
func (f *Fleet) protected(ctx context.Context, t *Target, names []string) []Finding {
	if t.Deletion.Orphan || !t.Deletion.Protected(t.ID) {
		return nil
	}
	answers := each(ctx, f, names, func(ctx context.Context, name string) []Finding {
		m, err := f.config.Registry.Open(ctx, name)
		if err != nil {
			return nil
		}
		inside, err := f.contents(ctx, m, t)
		if err != nil || len(inside) == 0 {
			return nil
		}
		return []Finding{protectedFinding(t, name, inside)}
	})
	return slices.Concat(answers...)
}
