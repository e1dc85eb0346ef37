package registry

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// everything is what an account may do unless a scope says less: as kubefedctl has it, because anything may be federated.
var everything = []any{
	map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}},
	map[string]any{"nonResourceURLs": []any{"*"}, "verbs": []any{"get"}},
}

// role is one role of an account, where it is, and what it allows.
type role struct {
	object member.Object
	rules  []any
}

// roles lists the roles of an account, the one that owns the service account first.
func (a account) roles() []role {
	if len(a.scope.Namespaces) == 0 {
		return []role{{object: object(clusterRoleKind, "", a.role()), rules: a.clusterRules()}}
	}
	roles := []role{a.namespaceRole(a.namespace)}
	for _, namespace := range sorted(a.scope.Namespaces) {
		if namespace != a.namespace {
			roles = append(roles, a.namespaceRole(namespace))
		}
	}
	return roles
}

// clusterRules are the user's rules and what the account needs for itself: to tell the cluster by the uid of a namespace, and to take its own
// role away.
func (a account) clusterRules() []any {
	if len(a.scope.Rules) == 0 {
		return everything
	}
	return append(rulesOf(a.scope.Rules),
		rule("", "namespaces", []any{"get"}, kubeSystem, a.namespace),
		rule(clusterRoleKind.GVK.Group, clusterRoleKind.Resource, []any{"get", "delete"}, a.role()),
	)
}

func (a account) namespaceRole(namespace string) role {
	own := []any{
		rule("", "namespaces", []any{"get"}, namespace),
		rule(roleKind.GVK.Group, roleKind.Resource, []any{"get", "delete"}, a.role()),
	}
	var rules []any
	if slices.Contains(a.scope.Namespaces, namespace) {
		rules = rulesOf(a.scope.Rules)
		if len(rules) == 0 {
			rules = everything[:1]
		}
	}
	return role{object: object(roleKind, namespace, a.role()), rules: append(slices.Clone(rules), own...)}
}

func rule(group, resource string, verbs []any, names ...string) map[string]any {
	return map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "resourceNames": anyList(names), "verbs": verbs}
}

func rulesOf(rules []Rule) []any {
	var list []any
	for _, r := range rules {
		list = append(list, map[string]any{"apiGroups": anyList(r.APIGroups), "resources": anyList(r.Resources), "verbs": anyList(r.Verbs)})
	}
	return list
}

func anyList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// makeRoles applies the roles and returns them as they are on the member, in the order of roles.
func (a account) makeRoles(ctx context.Context, w writer) ([]*unstructured.Unstructured, error) {
	var made []*unstructured.Unstructured
	for _, r := range a.roles() {
		if err := a.requireNamespace(ctx, w, r.object.Namespace); err != nil {
			return nil, err
		}
		live, err := w.put(ctx, r.object, map[string]any{"rules": r.rules})
		if err != nil {
			return nil, err
		}
		made = append(made, live)
	}
	return made, nil
}

// requireNamespace makes the registry's own namespace; those of a scope have to be there.
func (a account) requireNamespace(ctx context.Context, w writer, scoped string) error {
	if scoped != "" && scoped != a.namespace {
		ns, err := w.m.Get(ctx, object(namespaceKind, "", scoped))
		if err == nil && ns == nil {
			return &member.NamespaceMissingError{Member: w.m.Name(), Namespace: scoped}
		}
		return err
	}
	o := object(namespaceKind, "", a.namespace)
	ns, err := w.m.Get(ctx, o)
	if err != nil || (ns != nil && ns.GetDeletionTimestamp() == nil) {
		return err
	}
	if _, err := w.put(ctx, o, map[string]any{}); err != nil {
		return fmt.Errorf("make the namespace of the account: %w", err)
	}
	return nil
}

// bind applies the binding beside each role, owned by it.
func (a account) bind(ctx context.Context, w writer, made []*unstructured.Unstructured) error {
	for i, r := range a.roles() {
		if _, err := w.put(ctx, a.bindingObject(r), ownedBy(made[i], a.binding(r))); err != nil {
			return err
		}
	}
	return nil
}

// dropRoles deletes the roles that a former scope had and this one has not; their bindings go with them.
func (a account) dropRoles(ctx context.Context, w writer, former Scope) error {
	kept := map[member.Object]bool{}
	for _, r := range a.roles() {
		kept[r.object] = true
	}
	before := account{namespace: a.namespace, name: a.name, scope: former}
	for _, r := range before.roles() {
		if kept[r.object] {
			continue
		}
		live, err := w.m.Get(ctx, r.object)
		if err != nil {
			return err
		}
		if live == nil || w.refuseForeign(r.object, live) != nil {
			continue
		}
		if err := w.m.Delete(ctx, r.object, live.GetUID(), member.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
			return err
		}
	}
	return nil
}

func (a account) bindingObject(r role) member.Object {
	k := clusterRoleBindingKind
	if r.object.Kind.Namespaced {
		k = roleBindingKind
	}
	return object(k, r.object.Namespace, r.object.Name)
}

func (a account) binding(r role) map[string]any {
	return map[string]any{
		"roleRef":  map[string]any{"apiGroup": r.object.Kind.GVK.Group, "kind": r.object.Kind.GVK.Kind, "name": r.object.Name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": a.name, "namespace": a.namespace}},
	}
}
