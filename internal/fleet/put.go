package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Write is what one member shall hold, and what is known to be there.
type Write struct {
	Member string
	Want   map[string]any
	Used   []int
	Copy   *Copy          // nil: nothing of ours is there
	Former map[string]any // what we wrote last; nil if nothing
}

// written is the outcome of one put.
type written struct {
	live     *unstructured.Unstructured // nil: the write failed, and may have been carried out
	created  bool
	original *unstructured.Unstructured // what was there before we took it over
	resumed  bool                       // left by an interrupted run, and taken over
	warnings []string
	stays    map[string]string // field that is dropped, and stays → who else applies it
	manager  string            // the field manager that wrote
}

// putter brings one object to the state it shall have, or, dry, asks the API server whether it would accept that. Both go the same
// way, so that a plan meets whatever the apply would.
type putter struct {
	fleet  *Fleet
	target *Target
	dry    bool
}

func (p putter) put(ctx context.Context, w Write) (*written, error) {
	m, err := p.fleet.config.Registry.Open(ctx, w.Member)
	if err != nil {
		return nil, err
	}
	object, err := p.locate(ctx, m)
	if err != nil {
		return nil, err
	}
	if w.Copy == nil || w.Copy.UID == "" {
		return p.create(ctx, m, object, w)
	}
	done, err := p.update(ctx, m, object, w)
	var gone *member.GoneError
	if errors.As(err, &gone) {
		return p.create(ctx, m, object, w)
	}
	return done, err
}

// locateFor bounds how long an apply waits until a member serves a kind that this run has just made.
const locateFor = 20 * time.Second

// locate finds the kind on the member. An apply asks again where the kind may just have been made: what discovery said before is old then.
func (p putter) locate(ctx context.Context, m *member.Member) (member.Object, error) {
	object, err := p.target.object(ctx, m)
	if p.dry || !isNotServed(err) {
		return object, err
	}
	deadline := time.Now()
	if p.fleet.memory.kindAnnounced(m.Name(), p.target.GVK.GroupKind()) {
		deadline = deadline.Add(locateFor)
	}
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		m.Forget()
		object, err = p.target.object(ctx, m)
		if !isNotServed(err) || time.Now().After(deadline) {
			return object, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return object, err
		}
	}
}

func (p putter) apply(ctx context.Context, m *member.Member, object member.Object, tree map[string]any, o member.ApplyOptions) (*written, error) {
	o.DryRun = p.dry
	applied, err := m.Apply(ctx, object, tree, o)
	if err != nil {
		return nil, err
	}
	if !p.dry {
		p.fleet.memory.noteWritten(m.Name(), applied.Live.GetUID(), p.target.Mark.Resource)
	}
	return &written{live: applied.Live, created: applied.Created, warnings: applied.Warnings, manager: m.FieldManager()}, nil
}

func (p putter) create(ctx context.Context, m *member.Member, object member.Object, w Write) (*written, error) {
	tree := p.target.marked(w.Want)
	done, err := p.apply(ctx, m, object, tree, member.ApplyOptions{Require: member.Precondition{Create: true}})
	var (
		exists    *member.ExistsError
		held      *member.TerminatingError
		namespace *member.NamespaceMissingError
		notServed *member.NotServedError
	)
	switch {
	case errors.As(err, &exists):
		return p.takeOver(ctx, m, object, w, exists.Live)
	case p.dry:
		return done, err
	case errors.As(err, &held):
		if err := p.waitGone(ctx, m, object); err != nil {
			return nil, err
		}
		return p.create(ctx, m, object, w)
	case errors.As(err, &namespace) && p.target.Policy.OnMissingNamespace == PolicyCreate:
		if err := p.createNamespace(ctx, m, namespace.Namespace); err != nil {
			return nil, err
		}
		return p.apply(ctx, m, object, tree, member.ApplyOptions{Require: member.Precondition{Create: true}})
	case errors.As(err, &notServed):
		return p.createOnceServed(ctx, m, object, tree, err)
	}
	return done, err
}

// createOnceServed: discovery names a new kind some 50 ms before its path answers.
func (p putter) createOnceServed(ctx context.Context, m *member.Member, object member.Object, tree map[string]any, err error) (*written, error) {
	var done *written
	for wait := 50 * time.Millisecond; wait < 2*time.Second && isNotServed(err); wait *= 2 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
		done, err = p.apply(ctx, m, object, tree, member.ApplyOptions{Require: member.Precondition{Create: true}})
	}
	return done, err
}

func (p putter) waitGone(ctx context.Context, m *member.Member, object member.Object) error {
	live, err := m.Get(ctx, object)
	if err != nil || live == nil {
		return err
	}
	return m.WaitGone(ctx, object, live.GetUID())
}

// createNamespace makes a namespace on the way. It carries no mark: nobody's destroy deletes it.
func (p putter) createNamespace(ctx context.Context, m *member.Member, name string) error {
	object, err := (&Target{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}}).object(ctx, m)
	if err != nil {
		return err
	}
	object.Name = name
	tree := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
	_, err = m.Apply(ctx, object, tree, member.ApplyOptions{Require: member.Precondition{Create: true}})
	var exists *member.ExistsError
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// takeOver decides about an object that is there although we never wrote it: a stranger's, another resource's, the one that is being
// replaced, or one that an interrupted run of this resource left behind.
func (p putter) takeOver(ctx context.Context, m *member.Member, object member.Object, w Write, live *unstructured.Unstructured) (*written, error) {
	tree := p.target.marked(w.Want)
	mark, ours := member.MarkOf(live)
	memory := p.fleet.memory
	switch {
	case live.GetLabels()[optOutLabel] == "false":
		return nil, &ForeignError{Member: m.Name(), Object: object, OptOut: true}
	case ours && mark.Owner != p.target.Mark.Owner:
		return nil, &ForeignError{Member: m.Name(), Object: object, Owner: mark.Owner}
	case !ours && p.target.Policy.OnExisting != PolicyAdopt:
		return nil, p.foreign(m, object, live)
	case !ours:
		return p.adopt(ctx, m, object, tree, live.GetUID(), live)
	case mark.Resource == p.target.Mark.Resource:
		return p.resume(ctx, m, object, tree, live)
	case memory.wasWritten(m.Name(), live.GetUID()):
		return nil, &DeclaredTwiceError{Member: m.Name(), Object: object}
	default:
		if version, known := memory.holds(mark.Resource, m.Name()); known {
			return p.replaced(m, object, w, live, version)
		}
		memory.claim(mark.Resource)
	}
	done, err := p.resume(ctx, m, object, tree, live)
	if err == nil {
		done.resumed, done.created = true, false
	}
	return done, err
}

// resume writes to an object that an earlier attempt of this very resource has made: the answer to it was lost.
func (p putter) resume(ctx context.Context, m *member.Member, object member.Object, tree map[string]any, live *unstructured.Unstructured) (*written, error) {
	done, err := p.apply(ctx, m, object, tree, member.ApplyOptions{Require: member.Precondition{UID: live.GetUID()}})
	if err == nil {
		done.created = true
	}
	return done, err
}

// replaced decides about an object that a state of this configuration holds: it is being replaced if a plan wants there what that state
// has, and is declared twice if it wants something else, or if the object is still there when the creation comes.
func (p putter) replaced(m *member.Member, object member.Object, w Write, live *unstructured.Unstructured, version string) (*written, error) {
	wanted := federation.Version(w.Want, p.target.Sensitive, nil)
	if p.dry && (wanted == "" || wanted == version) {
		return &written{live: live}, nil
	}
	return nil, &DeclaredTwiceError{Member: m.Name(), Object: object}
}

func (p putter) foreign(m *member.Member, object member.Object, live *unstructured.Unstructured) error {
	e := &ForeignError{Member: m.Name(), Object: object}
	if last, ok := member.LastForeign(live, ""); ok {
		e.Manager = last.Name
	}
	return e
}

// adopt takes over the object with this uid; original is kept to undo it.
func (p putter) adopt(ctx context.Context, m *member.Member, object member.Object, tree map[string]any, uid types.UID, original *unstructured.Unstructured) (*written, error) {
	done, err := p.apply(ctx, m, object, tree, member.ApplyOptions{Force: true, Require: member.Precondition{UID: uid}})
	switch {
	case p.dry:
		return done, err
	case err != nil:
		return &written{original: original}, err
	}
	done.original = original
	done.live, err = m.TakeFromUpdaters(ctx, object, done.live)
	if err == nil && done.live == nil {
		err = &member.GoneError{Member: m.Name(), Object: object}
	}
	return done, err
}

func (p putter) update(ctx context.Context, m *member.Member, object member.Object, w Write) (*written, error) {
	if err := p.checkMark(ctx, m, object, w); err != nil {
		return nil, err
	}
	if w.Copy.Foreign {
		return p.adopt(ctx, m, object, p.target.marked(w.Want), w.Copy.UID, nil)
	}
	if dropsAny(w.Former, w.Want) {
		return p.replaceFields(ctx, m, object, w)
	}
	return p.overwrite(ctx, m, object, w, func() (*fieldpath.Set, error) { return p.formerFields(ctx, m, object, w) })
}

// checkMark reads the mark before anything is applied: two states with one field manager never conflict, the second would silently
// delete the first one's fields. The run's inventory has it for all objects of a kind; only one that is not in there is asked for.
func (p putter) checkMark(ctx context.Context, m *member.Member, object member.Object, w Write) error {
	var live metav1.Object
	listed, err := p.fleet.listed(ctx, m, object)
	switch {
	case err != nil:
		return err
	case listed != nil:
		live = listed
	default:
		found, err := m.Get(ctx, object)
		if err != nil || found == nil {
			return err
		}
		live = found
	}
	mark, ok := member.MarkOf(live)
	switch {
	case !ok || w.Copy.Foreign || mark.Resource == p.target.Mark.Resource:
		return nil
	case mark.Owner != p.target.Mark.Owner:
		return &ForeignError{Member: m.Name(), Object: object, Owner: mark.Owner}
	}
	return &DeclaredTwiceError{Member: m.Name(), Object: object}
}

// overwrite applies what the member shall hold. A conflict is allowed when every field in it is one that we had applied before (which
// former answers): then somebody changed what is ours, which is drift and is taken back. A conflict about other fields is an error.
func (p putter) overwrite(ctx context.Context, m *member.Member, object member.Object, w Write, former func() (*fieldpath.Set, error)) (*written, error) {
	options := member.ApplyOptions{Require: member.Precondition{UID: w.Copy.UID}, Force: p.target.Policy.OnConflict == PolicyForce}
	tree := p.target.marked(w.Want)
	done, err := p.apply(ctx, m, object, tree, options)
	var conflict *member.ConflictError
	if !errors.As(err, &conflict) {
		return done, err
	}
	before, err := former()
	if err != nil {
		return nil, err
	}
	if err := beyond(conflict, before); err != nil {
		return nil, err
	}
	options.Force = true
	return p.apply(ctx, m, object, tree, options)
}

// beyond returns what of a conflict is about other fields than these, nil if nothing is.
func beyond(conflict *member.ConflictError, fields *fieldpath.Set) error {
	had := map[string]bool{}
	fields.Iterate(func(path fieldpath.Path) { had[path.String()] = true })
	others := slices.DeleteFunc(slices.Clone(conflict.Causes), func(c member.Cause) bool { return had[c.Field] })
	if len(others) == 0 {
		return nil
	}
	return &member.ConflictError{Member: conflict.Member, Object: conflict.Object, Causes: others}
}

// formerFields are the fields we owned when we last wrote: our entry in managedFields loses a field that somebody else updates, so the
// answer to a forced dry run of the former manifest says it. Where that is refused by now, our entry is the best there is.
func (p putter) formerFields(ctx context.Context, m *member.Member, object member.Object, w Write) (*fieldpath.Set, error) {
	if w.Former == nil {
		return fieldpath.NewSet(), nil
	}
	answer, err := m.Apply(ctx, object, p.target.marked(w.Former), member.ApplyOptions{
		DryRun: true, Force: true, Require: member.Precondition{UID: w.Copy.UID}})
	var refused *member.RefusedError
	if errors.As(err, &refused) {
		live, err := m.Get(ctx, object)
		if err != nil || live == nil {
			return fieldpath.NewSet(), err
		}
		return ownedBy(live, m.FieldManager())
	}
	if err != nil {
		return nil, fmt.Errorf("find the fields applied before: %w", err)
	}
	return ownedBy(answer.Live, m.FieldManager())
}

// ownedBy is never nil without an error.
func ownedBy(live *unstructured.Unstructured, manager string) (*fieldpath.Set, error) {
	owned, err := member.Owned(live, manager)
	if owned == nil {
		owned = fieldpath.NewSet()
	}
	return owned, err
}
