package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// inside lists what is in a namespace besides what Kubernetes puts into every one and what carries the given mark. That a kind may not be
// listed is an error: nobody knows then what is inside.
func inside(ctx context.Context, m *member.Member, namespace string, mark member.Mark) ([]string, error) {
	kinds, err := m.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, k := range kinds.Listable() {
		if !k.Namespaced || k.GVK.Kind == "Event" {
			continue
		}
		list, err := m.List(ctx, k, namespace, "")
		var absent *member.NotServedError
		if errors.As(err, &absent) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("see what is in namespace %s: %w", namespace, err)
		}
		for i := range list {
			if its, ok := member.MarkOf(&list[i]); everywhere(k, &list[i]) || (ok && its == mark) {
				continue
			}
			found = append(found, object(k, namespace, list[i].Name).String())
		}
	}
	slices.Sort(found)
	return found, nil
}

// everywhere reports whether Kubernetes puts such an object into every namespace.
func everywhere(k member.Kind, o metav1.Object) bool {
	switch k.GVK.Kind {
	case "ServiceAccount":
		return o.GetName() == "default"
	case "ConfigMap":
		return o.GetName() == "kube-root-ca.crt"
	}
	return false
}

// removeHostNamespace deletes the registry's namespace if the control plane made it and nothing else is inside. left says what is, and stays.
func (r *Registry) removeHostNamespace(ctx context.Context, namespace string) (left []string, err error) {
	o, mark := object(namespaceKind, "", namespace), r.mark(controlPlaneID)
	live, err := r.host.Get(ctx, o)
	if err != nil || live == nil {
		return nil, err
	}
	if found, ok := member.MarkOf(live); !ok || found != mark {
		return nil, nil
	}
	if left, err = inside(ctx, r.host, namespace, mark); err != nil || len(left) > 0 {
		return left, err
	}
	return nil, remove(ctx, r.host, o, live)
}

// prepareCollection makes sure that all goes with the role, which is about to be deleted: what kubefedctl made is not owned by it, and the
// namespace must not go earlier, as the account would end with it. left names what stays.
func (r *Registry) prepareCollection(ctx context.Context, m *member.Member, a account, own role, live *unstructured.Unstructured, rec record) (left []string, err error) {
	owner := map[string]any{"metadata": map[string]any{"ownerReferences": []any{ownerReference(live)}}}
	if mark, ok := member.MarkOf(live); !ok || !ofJoin(mark) {
		for _, o := range []member.Object{a.bindingObject(own), object(serviceAccountKind, a.namespace, a.name)} {
			if err := adopt(ctx, m, o, owner); err != nil {
				return nil, err
			}
		}
	}
	return r.prepareNamespace(ctx, m, a, owner, r.mark(clusterID(rec.name)))
}

// adopt makes an object that is there the role's.
func adopt(ctx context.Context, m *member.Member, o member.Object, owner map[string]any) error {
	live, err := m.Get(ctx, o)
	if err == nil && live != nil {
		_, err = m.Merge(ctx, o, owner)
	}
	return err
}

// prepareNamespace makes the account's namespace the role's, if the join made it, nothing else is in it, and it is not also the host's.
func (r *Registry) prepareNamespace(ctx context.Context, m *member.Member, a account, owner map[string]any, mark member.Mark) (left []string, err error) {
	o := object(namespaceKind, "", a.namespace)
	ns, err := m.Get(ctx, o)
	if err != nil || ns == nil {
		return nil, orForbidden(err)
	}
	if found, ok := member.MarkOf(ns); !ok || found != mark || r.isHosts(ctx, ns.GetUID()) {
		return nil, nil
	}
	if len(a.scope.Namespaces) > 0 { // a Role cannot own what has no namespace
		return []string{o.String()}, nil
	}
	others, err := inside(ctx, m, a.namespace, mark)
	if err == nil && len(others) == 0 {
		_, err = m.Merge(ctx, o, owner)
	}
	if isForbidden(err) || len(others) > 0 {
		return append(others, o.String()), nil
	}
	return nil, err
}

func orForbidden(err error) error {
	if isForbidden(err) {
		return nil
	}
	return err
}

// isHosts reports whether a namespace with this uid is the host's, in other words whether host and member are one cluster. When in doubt it is.
func (r *Registry) isHosts(ctx context.Context, uid types.UID) bool {
	ns, err := r.host.Get(ctx, object(namespaceKind, "", r.config.Namespace))
	return err != nil || (ns != nil && ns.GetUID() == uid)
}
