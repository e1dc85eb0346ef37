package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// Lost is what is left of a resource whose private state is lost: Terraform keeps the former state, and nothing beside it, when a provider
// is killed in the middle of an update.
type Lost struct {
	Target  *Target
	State   Spec
	Placed  []string // members that hold the object, by the state
	Pending []string // members where something was left to do: to write the object, or to delete it
}

// Recover makes a record anew. The marks on the members say which objects are the resource's own; what was written to them is not known, so
// the next apply writes them all. All members are looked at: the update that was cut off may have written some that the state does not name.
// An object without any mark is kept as imported where the state has it, and it holds what the state says. A record without copies means that
// no member holds the object. While a member that the state names does not answer, its copy may be there.
func (f *Fleet) Recover(ctx context.Context, lost Lost) (*Record, []Finding, error) {
	r := &recovery{Lost: lost, seen: map[string]sighting{}}
	r.named = union(lost.Placed, lost.Pending)
	joined, err := f.joined(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("its objects can only be found again by their marks, and %w", err)
	}
	names := union(r.named, joined)
	if r.record, err = NewRecord(); err != nil {
		return nil, nil, err
	}
	lost.State.Rollout = nil // the order is for members of the placement
	lost.State.Placement = federation.Placement{Selection: federation.Selection{Clusters: names}}
	if r.resolution, err = f.Resolve(ctx, lost.State, nil, names); err != nil {
		return nil, nil, err
	}
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(r.named, name) })
	for _, group := range [][]string{r.named, others} { // where one cluster has two names, the one that the state names is heard
		for i, s := range each(ctx, f, group, func(ctx context.Context, name string) sighting { return f.sightCopy(ctx, lost.Target, name) }) {
			r.seen[group[i]] = s
		}
	}
	r.id = r.identify()
	if silent := r.silent(); r.id == "" && len(silent) > 0 {
		return nil, nil, fmt.Errorf("its objects can only be found again by their marks, and these members do not answer: %s", strings.Join(silent, ", "))
	}
	if r.id != "" {
		r.record.Resource = r.id
	}
	for _, name := range slices.Concat(r.named, others) {
		r.take(name)
	}
	return r.record, r.findings, nil
}

// sightCopy looks for an object that may have been written: in any version of its kind, and with certainty about what is gone.
func (f *Fleet) sightCopy(ctx context.Context, t *Target, name string) sighting {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return sighting{err: err}
	}
	_, live, err := t.find(ctx, m)
	if live != nil && live.GetDeletionTimestamp() != nil {
		live = nil
	}
	return sighting{live: live, err: err}
}

// joined are the members of the registry that are there to be asked.
func (f *Fleet) joined(ctx context.Context) ([]string, error) {
	entries, err := f.config.Registry.Members(ctx)
	var names []string
	for _, e := range entries {
		if e.Source != registry.SourceAnnounced {
			names = append(names, e.Name)
		}
	}
	return names, err
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// recovery is one run of Recover.
type recovery struct {
	Lost
	named      []string            // by the state, as placed or as pending
	seen       map[string]sighting // by member
	resolution *Resolution         // what the state says for every member
	id         string              // the resource's id; "" = no mark tells it
	record     *Record
	findings   []Finding
}

// identify finds the resource's id in the marks of this configuration. Those on members that the state has as placed tell it, else those on
// pending ones, the most frequent: on other members the same object may be another resource's.
func (r *recovery) identify() string {
	for _, names := range [][]string{r.Placed, r.Pending} {
		id, count := "", map[string]int{}
		for _, name := range names {
			mark, marked := r.mark(name)
			if !marked || mark.Owner != r.Target.Mark.Owner {
				continue
			}
			if count[mark.Resource]++; count[mark.Resource] > count[id] {
				id = mark.Resource
			}
		}
		if id != "" {
			return id
		}
	}
	return ""
}

func (r *recovery) mark(name string) (mark member.Mark, marked bool) {
	if live := r.seen[name].live; live != nil {
		return member.MarkOf(live)
	}
	return member.Mark{}, false
}

// silent are the members named by the state that do not answer.
func (r *recovery) silent() []string {
	return slices.DeleteFunc(slices.Clone(r.named), func(name string) bool { return r.seen[name].err == nil })
}

// take puts a member's copy into the record, if it has one.
func (r *recovery) take(name string) {
	s, c := r.seen[name], &Copy{Used: r.resolution.Desired[name].Used}
	placed, named := slices.Contains(r.Placed, name), slices.Contains(r.named, name)
	mark, marked := r.mark(name)
	switch {
	case s.err != nil && named:
		r.record.Copies[name] = c
	case s.err != nil && r.id != "":
		r.record.Unasked = append(r.record.Unasked, name)
	case marked && mark == member.Mark{Owner: r.Target.Mark.Owner, Resource: r.record.Resource}:
		c.UID = s.live.GetUID()
		if named || !r.record.hasElsewhere(name, c.UID) {
			r.record.Copies[name] = c
		}
	case placed && r.holdsState(name):
		c.UID, c.Foreign, c.Recovered = s.live.GetUID(), true, true
		r.record.Copies[name] = c
		r.tell(name, "Object without a mark is kept as imported", r.Target.ID.String()+" carries no mark, and holds what the state says: it is taken for an object that was imported and not written yet.",
			"The next apply marks it. Until then it is not deleted.")
	case placed && !slices.Contains(r.Pending, name) && r.Target.Policy.OnMissing == PolicyKeep:
		c.Version = r.resolution.Versions(r.Target.Sensitive, r.record)[name]
		r.record.Copies[name] = c
	case placed && s.live != nil && !marked:
		r.tell(name, "Object without a mark is not taken for ours", r.Target.ID.String()+" carries no mark, and holds something else than the state says: others may have made it.",
			"If it is this resource's, take the resource out of the state (terraform state rm) and import it again, or take the object over with policy.on_existing = \"adopt\".")
	}
}

func (r *recovery) tell(name, summary, detail, advice string) {
	r.findings = append(r.findings, Finding{Path: []string{"template"}, Members: []string{name}, Summary: summary, Detail: detail, Advice: advice})
}

// holdsState reports whether a member has the object without any mark, not even half of one, and as the state says. That is what an import
// leaves; and if others have made it after ours was deleted, nothing is lost by writing the same to it.
func (r *recovery) holdsState(name string) bool {
	live, want := r.seen[name].live, r.resolution.Desired[name].Tree
	if live == nil || want == nil {
		return false
	}
	mark, _ := member.MarkOf(live)
	return mark == member.Mark{} && len(r.Target.unlike(live, want)) == 0
}

// askAgain comes after the members with a copy have been heard. It looks for a recovered resource's object on the members that could not be
// asked when it was recovered.
func (f *Fleet) askAgain(ctx context.Context, t *Target, record *Record) {
	record.Unasked = slices.DeleteFunc(record.Unasked, func(name string) bool { return record.Copies[name] != nil })
	names := record.Unasked
	record.Unasked = nil
	for i, s := range each(ctx, f, names, func(ctx context.Context, name string) sighting { return f.sightCopy(ctx, t, name) }) {
		var notMember *registry.NotMemberError
		switch {
		case errors.As(s.err, &notMember):
		case s.err != nil:
			record.Unasked = append(record.Unasked, names[i])
		case s.live != nil && isMarked(s.live, t.Mark) && !record.hasElsewhere(names[i], s.live.GetUID()):
			record.Copies[names[i]] = &Copy{UID: s.live.GetUID()}
		}
	}
}

// hasElsewhere reports whether another member has this very object: the two names are of one cluster, and it is to be written once.
func (r *Record) hasElsewhere(name string, uid types.UID) bool {
	_, same := r.elsewhere(name)[uid]
	return same
}

func isMarked(live *unstructured.Unstructured, mark member.Mark) bool {
	has, marked := member.MarkOf(live)
	return marked && has == mark
}
