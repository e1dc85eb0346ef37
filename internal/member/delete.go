package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// DeleteOptions of one DELETE.
type DeleteOptions struct {
	Propagation  metav1.DeletionPropagation
	GraceSeconds *int64
}

// Delete asks for the deletion of the very object with this uid. An object that is gone, or is another one by now, is no error.
func (m *Member) Delete(ctx context.Context, o Object, uid types.UID, options DeleteOptions) error {
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:           metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:      &metav1.Preconditions{UID: &uid},
		PropagationPolicy:  &options.Propagation,
		GracePeriodSeconds: options.GraceSeconds,
	})
	if err != nil {
		return fmt.Errorf("encode the deletion of %s for member %s: %w", o, m.name, err)
	}
	answer := retry(ctx, func() rest.Result {
		return m.rest.Delete().AbsPath(o.path()...).Body(body).MaxRetries(0).Do(ctx)
	})
	err = answer.Error()
	if err == nil || isAbsent(err, o) || apierrors.IsConflict(err) {
		return nil
	}
	return m.failure("delete", o, err)
}

// WaitGone polls until the object with this uid is no longer there. When ctx ends first, the error is a TerminatingError that
// names the finalizers.
func (m *Member) WaitGone(ctx context.Context, o Object, uid types.UID) error {
	var last *unstructured.Unstructured
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		live, err := m.Get(ctx, o)
		if err == nil && (live == nil || live.GetUID() != uid) {
			return nil
		}
		if live != nil {
			last = live
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return m.stillThere(o, last, ctx.Err())
		}
	}
}

func (m *Member) stillThere(o Object, last *unstructured.Unstructured, cause error) error {
	if last != nil && last.GetDeletionTimestamp() != nil {
		return terminating(m.name, o, last)
	}
	return fmt.Errorf("wait until %s is gone from member %s: %w", o, m.name, errors.Join(cause))
}
