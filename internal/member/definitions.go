package member

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var definitionKind = Kind{
	GVK:      schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	Resource: "customresourcedefinitions", HasStatus: true, Listable: true,
}

// Defines reports whether a CustomResourceDefinition of the kind is on the member. An API server's discovery leaves a kind out for a while
// after its definition was made or changed, so that alone does not say that its objects are gone.
func (m *Member) Defines(ctx context.Context, kind schema.GroupKind) (bool, error) {
	if kind.Group == "" {
		return false, nil
	}
	items, err := m.List(ctx, definitionKind, "", "")
	if err != nil {
		return false, err
	}
	for i := range items {
		if !strings.HasSuffix(items[i].Name, "."+kind.Group) { // a definition is named plural.group
			continue
		}
		definition, err := m.Get(ctx, Object{Kind: definitionKind, Name: items[i].Name})
		if err != nil {
			return false, err
		}
		if definition == nil {
			continue
		}
		if name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind"); name == kind.Kind {
			return true, nil
		}
	}
	return false, nil
}
