package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// update brings an object of ours to what it shall be.
func (p putter) update(ctx context.Context, m *member.Member, object member.Object, w Write) (*written, error) {
	if err := p.checkMark(ctx, m, object, w); err != nil {
		return nil, err
	}
	if w.Copy.Foreign && (p.dry || !dropsAny(w.Former, w.Want)) {
		return p.adopt(ctx, m, object, p.target.marked(w.Want), w.Copy.UID, nil)
	}
	if w.Copy.Foreign { // what the imported state holds becomes ours first, so that what the configuration lacks really goes
		if _, err := p.adopt(ctx, m, object, p.target.marked(w.Former), w.Copy.UID, nil); err != nil {
			return nil, err
		}
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
	if optsOut(live) {
		return &ForeignError{Member: m.Name(), Object: object, OptOut: true}
	}
	return p.target.checkMark(m, object, live, w.Copy)
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
