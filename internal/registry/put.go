package registry

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// terminatingLimit bounds how long a write waits for an object of the same name to go: the rest of a former join.
const terminatingLimit = 30 * time.Second

// writer makes or changes objects on one cluster, all with one mark.
type writer struct {
	m    *member.Member
	mark member.Mark
	take bool // also what has no mark of this configuration
}

// put applies an object, whether it is there or not, so that it may be repeated after a failure at any point. One that somebody else has
// made is a ForeignError, unless the writer takes all.
func (w writer) put(ctx context.Context, o member.Object, tree map[string]any) (*unstructured.Unstructured, error) {
	limited, cancel := context.WithTimeout(ctx, terminatingLimit)
	defer cancel()
	var live *unstructured.Unstructured
	var held *member.TerminatingError
	err := poll(limited, func() (done bool, err error) {
		live, err = w.tryPut(ctx, o, tree)
		if errors.As(err, &held) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil && held != nil && limited.Err() != nil {
		return nil, held
	}
	return live, err
}

func (w writer) tryPut(ctx context.Context, o member.Object, tree map[string]any) (*unstructured.Unstructured, error) {
	live, err := w.m.Get(ctx, o)
	if err != nil {
		return nil, err
	}
	if live == nil {
		applied, err := w.apply(ctx, o, tree, member.ApplyOptions{Require: member.Precondition{Create: true}})
		var exists *member.ExistsError
		if !errors.As(err, &exists) {
			return applied, err
		}
		live = exists.Live // the answer to a former request of ours was lost, or somebody else was quicker
	}
	if live.GetDeletionTimestamp() != nil {
		return nil, &member.TerminatingError{Member: w.m.Name(), Object: o, Since: *live.GetDeletionTimestamp(), Finalizers: live.GetFinalizers()}
	}
	if err := w.refuseForeign(o, live); err != nil {
		return nil, err
	}
	return w.apply(ctx, o, tree, member.ApplyOptions{Force: true, Require: member.Precondition{UID: live.GetUID()}})
}

func (w writer) refuseForeign(o member.Object, live *unstructured.Unstructured) error {
	found, marked := member.MarkOf(live)
	if w.take || (marked && found == w.mark) {
		return nil
	}
	return &ForeignError{Cluster: w.m.Name(), Object: o, Owner: found.Owner}
}

func (w writer) apply(ctx context.Context, o member.Object, tree map[string]any, options member.ApplyOptions) (*unstructured.Unstructured, error) {
	body := (&unstructured.Unstructured{Object: tree}).DeepCopy()
	body.SetAPIVersion(o.Kind.GVK.GroupVersion().String())
	body.SetKind(o.Kind.GVK.Kind)
	body.SetName(o.Name)
	body.SetNamespace(o.Namespace)
	w.mark.Put(body)
	applied, err := w.m.Apply(ctx, o, body.Object, options)
	if err != nil {
		return nil, err
	}
	return applied.Live, nil
}
