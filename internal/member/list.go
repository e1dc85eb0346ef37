package member

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
)

// ListObjects reads every object of a kind whole, in one namespace or ("") in all. Use List where the metadata is enough. A
// NotServedError says that the member does not know the kind at all, which is not the same as having none.
func (m *Member) ListObjects(ctx context.Context, kind Kind, namespace string, options metav1.ListOptions) ([]unstructured.Unstructured, error) {
	list, err := m.dynamic.Resource(kind.GVR()).Namespace(namespace).List(ctx, options)
	if err != nil {
		return nil, m.failure("list", Object{Kind: kind, Namespace: namespace}, err)
	}
	return list.Items, nil
}

// Merge sends a JSON merge patch (RFC 7386) and returns the object as it is then. Apply is the way to write what one owns; this takes away
// what others own, or adds a note to an object.
func (m *Member) Merge(ctx context.Context, o Object, patch map[string]any) (*unstructured.Unstructured, error) {
	return m.patch(ctx, o, types.MergePatchType, patch)
}

// Version is the Kubernetes version that the member reports, such as v1.37.2.
func (m *Member) Version(ctx context.Context) (string, error) {
	answer, err := m.rest.Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return "", m.discoveryError(err)
	}
	var info version.Info
	if err := json.Unmarshal(answer, &info); err != nil {
		return "", fmt.Errorf("read the version of member %s: %w", m.name, err)
	}
	return info.GitVersion, nil
}
