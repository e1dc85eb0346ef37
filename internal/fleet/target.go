package fleet

import (
	"context"
	"errors"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// optsOut reports whether an object asks to be left alone: it is neither written nor deleted then, though it be ours.
func optsOut(live metav1.Object) bool { return live.GetLabels()[federation.OptOutLabel] == "false" }

// Target is the object of one resource, as far as it is the same on every member.
type Target struct {
	GVK       schema.GroupVersionKind
	ID        federation.ID
	Mark      member.Mark
	Sensitive []string
	Policy    Policy
	Deletion  Deletion
	Wait      Wait

	order federation.Rollout
	rolls bool // the members are brought up to date in the order of a rollout
	open  bool // when a member is done with, or the order, is not known while Terraform plans
}

// NewTarget names what a resource manages.
func (f *Fleet) NewTarget(gvk schema.GroupVersionKind, id federation.ID, spec Spec, record *Record) *Target {
	t := &Target{GVK: gvk, ID: id, Sensitive: spec.Sensitive, Policy: spec.Policy, Deletion: spec.Deletion}
	t.Wait, t.open = spec.wait(), spec.WaitUnknown || spec.RolloutUnknown
	if t.rolls = spec.Rollout != nil; t.rolls {
		t.order = *spec.Rollout
	}
	t.Mark.Owner = f.config.Owner
	if record != nil {
		t.Mark.Resource = record.Resource
	}
	return t
}

// hidesText reports whether an API server's words about the object may quote something secret.
func (t *Target) hidesText() bool {
	return len(t.Sensitive) > 0 || (t.ID.Group == "" && t.ID.Kind == "Secret")
}

// object is the target on one member; the error is the member's: unreachable, or the kind is not served.
func (t *Target) object(ctx context.Context, m *member.Member) (member.Object, error) {
	kinds, err := m.Kinds(ctx)
	if err != nil {
		return member.Object{}, err
	}
	kind, err := kinds.Find(t.GVK)
	if err != nil {
		return member.Object{}, err
	}
	return member.Object{Kind: kind, Namespace: t.ID.Namespace, Name: t.ID.Name}, nil
}

// confirmFor bounds how long discovery is asked again for a kind that it lacks although objects of it were written.
const confirmFor = 2 * time.Second

// objectOrGone is the target on a member that had it. gone says that its objects have gone with its kind: the kind is served in no version, and
// is not defined. Discovery alone does not say so: it leaves out a kind for a while after a definition was made or changed.
func (t *Target) objectOrGone(ctx context.Context, m *member.Member) (object member.Object, gone bool, err error) {
	object, err = t.object(ctx, m)
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) || len(notServed.Served) > 0 {
		return object, false, err
	}
	defined, askErr := m.Defines(ctx, t.GVK.GroupKind())
	switch {
	case isForbidden(askErr): // then asking again is the best there is
	case askErr != nil:
		return object, false, askErr
	case !defined:
		return object, true, nil
	}
	deadline := time.Now().Add(confirmFor)
	for isNotServed(err) && time.Now().Before(deadline) && ctx.Err() == nil {
		select {
		case <-time.After(confirmFor / 8):
		case <-ctx.Done():
		}
		m.Forget()
		object, err = t.object(ctx, m)
	}
	if isNotServed(err) && !defined && ctx.Err() == nil {
		return object, true, nil
	}
	return object, false, err
}

// inAnyVersion is the target on a member that had it, under another version of its kind where its own is not served: enough to remove it.
func (t *Target) inAnyVersion(ctx context.Context, m *member.Member) (object member.Object, gone bool, err error) {
	object, gone, err = t.objectOrGone(ctx, m)
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) || len(notServed.Served) == 0 {
		return object, gone, err
	}
	other := *t
	other.GVK = schema.FromAPIVersionAndKind(notServed.Served[0], t.GVK.Kind)
	return other.objectOrGone(ctx, m)
}

// Marked is the manifest as it is sent: with our mark. The manifest itself is not changed.
func (t *Target) Marked(manifest map[string]any) map[string]any { return t.marked(manifest) }

// marked returns the manifest with our mark; the manifest itself is not changed.
func (t *Target) marked(manifest map[string]any) map[string]any {
	top := maps.Clone(manifest)
	metadata, _ := manifest["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range []string{"labels", "annotations"} {
		if values, ok := metadata[key].(map[string]any); ok {
			metadata[key] = maps.Clone(values)
		}
	}
	top["metadata"] = metadata
	t.Mark.Put(&unstructured.Unstructured{Object: top})
	return top
}
