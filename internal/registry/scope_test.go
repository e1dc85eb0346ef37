package registry_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// may reports whether a new process may list a kind in a namespace ("" = all) of a member.
func (f *federation) may(name, kind, namespace string) bool {
	f.t.Helper()
	m, err := f.registry().Open(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	kinds, err := m.Kinds(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	i := slices.IndexFunc(kinds.Listable(), func(k member.Kind) bool { return k.GVK.Kind == kind })
	_, err = m.List(f.t.Context(), kinds.Listable()[i], namespace, "")
	var refused *member.RefusedError
	if err != nil && (!errors.As(err, &refused) || refused.Code != http.StatusForbidden) {
		f.t.Fatal(err)
	}
	return err == nil
}

func (f *federation) wantMay(want bool, kind, namespace string) {
	f.t.Helper()
	if got := f.may("eu", kind, namespace); got != want {
		f.t.Errorf("the federation may list %ss in %q: %v, want %v", kind, namespace, got, want)
	}
}

func TestScopeOfNamespacesGrantsNothingElsewhereAndCanBeUnjoinedAndChanged(t *testing.T) {
	t.Parallel()
	f := newFederationWith(t, kubetest.Fresh(t, kubetest.Options{Name: "scoped"}))
	one, two := f.memberCl.Namespace(t), f.memberCl.Namespace(t)
	scoped := registry.Cluster{Name: "eu", Scope: registry.Scope{Namespaces: []string{one, two}}}
	joined := f.join(scoped)
	if uid := string(f.memberCl.Get(t, "v1", "Namespace", "", f.namespace).GetUID()); joined.ClusterUID != uid {
		t.Errorf("cluster_uid is %s, that of the account's namespace %s", joined.ClusterUID, uid)
	}
	f.wantMay(true, "ConfigMap", one)
	f.wantMay(true, "Secret", two)
	f.wantMay(false, "ConfigMap", "default")
	f.wantMay(false, "ConfigMap", f.namespace)
	f.wantMay(false, "Node", "")

	federate(t, f.memberCl, two, "ours", owner)
	var left *registry.LeftoversError
	if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu"}); !errors.As(err, &left) {
		t.Errorf("want a LeftoversError, got %v", err)
	}

	less := registry.Cluster{Name: "eu", Scope: registry.Scope{Namespaces: []string{one}}}
	if _, err := f.registry().Rejoin(t.Context(), connection(f.member), less, scoped); err != nil {
		t.Fatal(err)
	}
	f.wantMay(true, "ConfigMap", one)
	f.wantMay(false, "ConfigMap", two)
	if _, err := f.registry().Rejoin(t.Context(), connection(f.member), registry.Cluster{Name: "eu"}, less); err != nil {
		t.Fatal(err)
	}
	f.wantMay(true, "ConfigMap", "default")
	f.wantMay(true, "Node", "")
	if _, err := f.registry().Rejoin(t.Context(), connection(f.member), less, registry.Cluster{Name: "eu"}); err != nil {
		t.Fatal(err)
	}
	f.wantMay(false, "Node", "")

	f.unjoin("eu")
	kubetest.Eventually(t, func() error {
		for _, namespace := range []string{one, two, f.namespace} {
			for _, kind := range []string{"Role", "RoleBinding"} {
				if list := f.memberCl.List(t, "rbac.authorization.k8s.io/v1", kind, namespace, member.OwnerLabel); len(list) > 0 {
					return fmt.Errorf("%s is still in %s", kind, namespace)
				}
			}
		}
		if list := f.memberCl.List(t, "v1", "ServiceAccount", f.namespace, member.OwnerLabel); len(list) > 0 {
			return errors.New("the account is still there")
		}
		return nil
	})
}

func TestScopeOfRulesGrantsThoseAndWhatUnjoiningNeeds(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu", Scope: registry.Scope{Rules: []registry.Rule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "create", "patch", "delete"}},
	}}})
	f.wantMay(true, "ConfigMap", "")
	f.wantMay(false, "Secret", "")
	found, err := f.registry().ReadCluster(t.Context(), "eu")
	if err != nil || found.Broken != "" || found.Unknown != nil || len(found.Scope.Rules) != 1 {
		t.Errorf("found %+v, %v", found, err)
	}
	if left := f.unjoin("eu"); !slices.Contains(left.Objects, "Namespace "+f.namespace) {
		t.Errorf("the namespace, which the account may not delete, is not named in %v", left.Objects)
	}
	kubetest.Eventually(t, func() error {
		if there := f.traces(); len(there) != 1 || there[0] != "member Namespace "+f.namespace {
			return fmt.Errorf("there is %v", there)
		}
		return nil
	})
}

func TestScopeAsksForItsNamespaces(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	_, err := f.registry().Join(t.Context(), connection(f.member), registry.Cluster{Name: "eu", Scope: registry.Scope{Namespaces: []string{"absent"}}})
	var missing *member.NamespaceMissingError
	if !errors.As(err, &missing) || missing.Namespace != "absent" {
		t.Errorf("want a NamespaceMissingError, got %v", err)
	}
}
