package fleet

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Write is what one member shall hold, and what is known to be there.
type Write struct {
	Member string
	Want   map[string]any
	Used   []int
	Copy   *Copy          // nil: nothing of ours is there
	Former map[string]any // what we wrote last; nil if nothing

	Elsewhere map[types.UID]string // the objects that other members have → which
}

// written is the outcome of one put.
type written struct {
	live     *unstructured.Unstructured // nil: the write failed, and may have been carried out
	created  bool
	original *unstructured.Unstructured // what was there before we took it over
	resumed  bool                       // left by an interrupted run, and taken over
	warnings []string
	adopts   string            // what taking over an object of others changes in it
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
