package fleet

import (
	"context"
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// optOutLabel is KubeFed's label by which an object asks to be left alone.
const optOutLabel = "kubefed.io/managed"

// Target is the object of one resource, as far as it is the same on every member.
type Target struct {
	GVK       schema.GroupVersionKind
	ID        federation.ID
	Mark      member.Mark
	Sensitive []string
	Policy    Policy
	Deletion  Deletion
}

// NewTarget names what a resource manages.
func (f *Fleet) NewTarget(gvk schema.GroupVersionKind, id federation.ID, spec Spec, record *Record) *Target {
	t := &Target{GVK: gvk, ID: id, Sensitive: spec.Sensitive, Policy: spec.Policy, Deletion: spec.Deletion}
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

// inAnyVersion is the target on one member, under another version of its kind where its own is not served: enough to remove it.
func (t *Target) inAnyVersion(ctx context.Context, m *member.Member) (member.Object, error) {
	object, err := t.object(ctx, m)
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) || len(notServed.Served) == 0 {
		return object, err
	}
	other := *t
	other.GVK = schema.FromAPIVersionAndKind(notServed.Served[0], t.GVK.Kind)
	return other.object(ctx, m)
}

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
