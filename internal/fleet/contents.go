package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// shownInside bounds how many objects a message lists.
const shownInside = 10

// contents lists what of others is in an object whose deletion would take it along: the objects in a namespace, the custom resources of a
// definition. What this configuration owns, what has a controller, and what Kubernetes itself puts into every namespace do not count.
func (f *Fleet) contents(ctx context.Context, m *member.Member, t *Target) ([]string, error) {
	kinds, err := m.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	var asked []member.Kind
	namespace := ""
	switch {
	case isNamespace(t.ID):
		namespace = t.ID.Name
		for _, kind := range kinds.Listable() {
			if kind.Namespaced && !isBookkeeping(kind.GVK.GroupKind()) {
				asked = append(asked, kind)
			}
		}
	case isDefinition(t.ID):
		if asked, err = f.definedKinds(ctx, m, t, kinds); err != nil {
			return nil, err
		}
	}
	var inside, hidden []string
	for _, kind := range asked {
		items, err := m.List(ctx, kind, namespace, "")
		if isForbidden(err) {
			hidden = append(hidden, kind.Resource)
		} else if err != nil && !isNotServed(err) {
			return nil, err
		}
		for i := range items {
			if f.isForeign(kind, &items[i]) {
				inside = append(inside, member.Object{Kind: kind, Namespace: items[i].Namespace, Name: items[i].Name}.String()+f.ofFormerOwner(&items[i]))
			}
		}
	}
	if inside = shorten(inside); len(hidden) > 0 {
		inside = append(inside, "what this account may not list ("+strings.Join(shorten(hidden), ", ")+")")
	}
	return inside, nil
}

func shorten(list []string) []string {
	slices.Sort(list)
	if len(list) > shownInside {
		return append(list[:shownInside:shownInside], fmt.Sprintf("and %d more", len(list)-shownInside))
	}
	return list
}

func (f *Fleet) definedKinds(ctx context.Context, m *member.Member, t *Target, kinds *member.Kinds) ([]member.Kind, error) {
	object, err := t.object(ctx, m)
	if err != nil {
		return nil, err
	}
	live, err := m.Get(ctx, object)
	if err != nil || live == nil {
		return nil, err
	}
	group, _, _ := unstructured.NestedString(live.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(live.Object, "spec", "names", "kind")
	var defined []member.Kind
	for _, k := range kinds.Listable() {
		if k.GVK.Group == group && k.GVK.Kind == kind {
			defined = append(defined, k)
		}
	}
	return defined, nil
}

// isBookkeeping are kinds that Kubernetes writes beside what users write.
func isBookkeeping(kind schema.GroupKind) bool {
	switch kind {
	case schema.GroupKind{Kind: "Event"}, schema.GroupKind{Group: "events.k8s.io", Kind: "Event"}, schema.GroupKind{Kind: "Endpoints"},
		schema.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}, schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}:
		return true
	}
	return false
}

// ofFormerOwner completes the name of an object that counts as another's only because the provider's owner was changed and not yet applied.
func (f *Fleet) ofFormerOwner(o *metav1.PartialObjectMetadata) string {
	mark, ours := member.MarkOf(o)
	if !ours || !f.memory.isFormerOwner(mark.Owner) {
		return ""
	}
	return fmt.Sprintf(" (of %q, this configuration's former owner: an apply gives it the new one)", mark.Owner)
}

func (f *Fleet) isForeign(kind member.Kind, o *metav1.PartialObjectMetadata) bool {
	mark, ours := member.MarkOf(o)
	switch {
	case ours && mark.Owner == f.config.Owner, metav1.GetControllerOf(o) != nil:
		return false
	case kind.GVK.Group == "" && kind.GVK.Kind == "ConfigMap" && o.Name == "kube-root-ca.crt",
		kind.GVK.Group == "" && kind.GVK.Kind == "ServiceAccount" && o.Name == "default":
		return false
	}
	return true
}
