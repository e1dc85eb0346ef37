package fleet

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// takeOver decides about an object that is there although we never wrote it: a stranger's, another resource's, the one that is being
// replaced, or one that an interrupted run of this resource left behind.
func (p putter) takeOver(ctx context.Context, m *member.Member, object member.Object, w Write, live *unstructured.Unstructured) (*written, error) {
	tree := p.target.marked(w.Want)
	mark, ours := member.MarkOf(live)
	memory := p.fleet.memory
	if other, twice := w.Elsewhere[live.GetUID()]; twice && !p.fleet.hasLeft(ctx, other) {
		return nil, p.twoNames(m, other)
	}
	if other, twice := memory.writtenAs(m.Name(), live.GetUID()); twice {
		return nil, p.twoNames(m, other)
	}
	switch {
	case optsOut(live):
		return nil, &ForeignError{Member: m.Name(), Object: object, OptOut: true}
	case ours && mark.Owner != p.target.Mark.Owner:
		return nil, &ForeignError{Member: m.Name(), Object: object, Owner: mark.Owner}
	case !ours && p.target.Policy.OnExisting != PolicyAdopt:
		return nil, p.foreign(m, object, live)
	case !ours:
		return p.adopt(ctx, m, object, tree, live.GetUID(), live)
	case mark.Resource == p.target.Mark.Resource:
		return p.resume(ctx, m, object, tree, live)
	case p.dry && memory.isReplaced(mark.Resource):
		return &written{live: live}, nil
	case memory.isReplaced(mark.Resource):
		return nil, &DeclaredTwiceError{Member: m.Name(), Object: object, Replaced: true}
	case memory.wasWritten(m.Name(), live.GetUID()), memory.wasRead(mark.Resource), p.dry && memory.awaitRead(ctx, mark.Resource):
		return nil, &DeclaredTwiceError{Member: m.Name(), Object: object}
	default:
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

// twoNames: the object is the very one that another member has, so both are one cluster.
func (p putter) twoNames(m *member.Member, other string) error {
	return &member.UnreachableError{Member: m.Name(), Class: member.ClassTwice, Err: fmt.Errorf("it is the cluster that is the member %q; a cluster has one name in a federation", other)}
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
	case p.dry && err == nil && original != nil:
		return done, p.target.tellAdoption(done, original, m.FieldManager())
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
