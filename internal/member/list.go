package member

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
)

// asMetadata asks for the metadata alone: in protobuf, from a server that cannot in JSON, and from one that knows nothing of it (an
// extension's) whole.
const asMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// List reads the metadata of every object of a kind that matches a label selector, in one namespace or ("") in all.
func (m *Member) List(ctx context.Context, kind Kind, namespace, selector string) ([]metav1.PartialObjectMetadata, error) {
	answer := retry(ctx, func() rest.Result {
		request := m.metadata.Get().AbsPath(kind.path(namespace)...).SetHeader("Accept", asMetadata)
		if selector != "" {
			request.Param("labelSelector", selector)
		}
		return request.MaxRetries(0).Do(ctx)
	})
	list, err := decodeMetadata(answer)
	if err != nil {
		return nil, m.failure("list", Object{Kind: kind, Namespace: namespace}, err)
	}
	return list.Items, nil
}

func decodeMetadata(answer rest.Result) (*metav1.PartialObjectMetadataList, error) {
	if err := answer.Error(); err != nil {
		return nil, err
	}
	decoded, err := answer.Get()
	list, ok := decoded.(*metav1.PartialObjectMetadataList)
	switch {
	case err == nil && ok:
		return list, nil
	case err != nil && !runtime.IsNotRegisteredError(err):
		return nil, fmt.Errorf("decode the list: %w", err)
	}
	whole, err := answer.Raw()
	if err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	list = &metav1.PartialObjectMetadataList{}
	if err := json.Unmarshal(whole, list); err != nil {
		return nil, fmt.Errorf("decode the list: %w", err)
	}
	return list, nil
}

// ListObjects reads every object of a kind whole, in one namespace or ("") in all. Use List where the metadata is enough. A
// NotServedError says that the member does not know the kind at all, which is not the same as having none.
func (m *Member) ListObjects(ctx context.Context, kind Kind, namespace string, options metav1.ListOptions) ([]unstructured.Unstructured, error) {
	answer := retry(ctx, func() rest.Result {
		request := m.rest.Get().AbsPath(kind.path(namespace)...)
		request.SpecificallyVersionedParams(&options, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
		return request.MaxRetries(0).Do(ctx)
	})
	list := &unstructured.UnstructuredList{}
	body, err := answer.Raw()
	if err == nil {
		err = list.UnmarshalJSON(body)
	}
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
	answer, err := retry(ctx, func() rest.Result { return m.rest.Get().AbsPath("/version").MaxRetries(0).Do(ctx) }).Raw()
	if err != nil {
		return "", m.discoveryError(err)
	}
	var info version.Info
	if err := json.Unmarshal(answer, &info); err != nil {
		return "", fmt.Errorf("read the version of member %s: %w", m.name, err)
	}
	return info.GitVersion, nil
}
