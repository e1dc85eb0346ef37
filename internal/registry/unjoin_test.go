package registry_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// federate puts a ConfigMap with a configuration's mark onto a cluster.
func federate(t *testing.T, cluster *kubetest.Cluster, namespace, name, whose string, change ...func(*unstructured.Unstructured)) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": "v"}}}
	o.SetNamespace(namespace)
	o.SetName(name)
	member.Mark{Owner: whose, Resource: "some"}.Put(o)
	for _, apply := range change {
		apply(o)
	}
	cluster.Apply(t, "terraform-kubefed", false, o)
}

// controlledBy makes an object that of a controller.
func controlledBy(parent *unstructured.Unstructured) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(parent, parent.GroupVersionKind())})
	}
}

func TestUnjoinIsRefusedWhileFederatedObjectsAreThereUnlessToldWhatToDo(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Fresh(t, kubetest.Options{Name: "leftovers"})
	f := newFederationWith(t, cluster)
	t.Run("error lists them by owner and changes nothing", func(t *testing.T) {
		f.join(registry.Cluster{Name: "eu"})
		f.works("eu")
		federate(t, cluster, "default", "ours", owner)
		federate(t, cluster, "default", "theirs", "other/team")
		f.host.Reset()
		f.member.Reset()
		_, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu"})
		var left *registry.LeftoversError
		want := map[string][]string{owner: {"ConfigMap default/ours"}, "other/team": {"ConfigMap default/theirs"}}
		if !errors.As(err, &left) || !reflect.DeepEqual(left.ByOwner, want) {
			t.Fatalf("want a LeftoversError for %v, got %v", want, err)
		}
		if n := len(f.host.Writes()) + len(f.member.Writes()); n > 0 {
			t.Errorf("%d writes", n)
		}
		f.works("eu")
	})
	t.Run("delete deletes ours and refuses others'", func(t *testing.T) {
		_, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu", Objects: registry.ObjectsDelete})
		var left *registry.LeftoversError
		if !errors.As(err, &left) || len(left.ByOwner) != 1 || left.ByOwner["other/team"] == nil {
			t.Fatalf("want a LeftoversError for other/team, got %v", err)
		}
		cluster.Delete(t, "v1", "ConfigMap", "default", "theirs")
		if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu", Objects: registry.ObjectsDelete}); err != nil {
			t.Fatal(err)
		}
		if _, there := cluster.Find(t, "v1", "ConfigMap", "default", "ours"); there {
			t.Error("ours is still there")
		}
		f.eventuallyNoTraces()
	})
	t.Run("orphan leaves them without our mark", func(t *testing.T) {
		f.join(registry.Cluster{Name: "eu"})
		federate(t, cluster, "default", "ours", owner)
		federate(t, cluster, "default", "theirs", "other/team")
		left := f.unjoin("eu")
		if !slices.Equal(left.Objects, []string{"ConfigMap default/ours", "ConfigMap default/theirs"}) {
			t.Errorf("left behind is %v", left.Objects)
		}
		ours, theirs := cluster.Get(t, "v1", "ConfigMap", "default", "ours"), cluster.Get(t, "v1", "ConfigMap", "default", "theirs")
		if _, marked := member.MarkOf(ours); marked {
			t.Error("ours still has our mark")
		}
		if _, marked := member.MarkOf(theirs); !marked {
			t.Error("theirs has lost its mark")
		}
		cluster.Delete(t, "v1", "ConfigMap", "default", "ours")
		cluster.Delete(t, "v1", "ConfigMap", "default", "theirs")
	})
	t.Run("what a controller made does not count", func(t *testing.T) {
		f.eventuallyNoTraces()
		f.join(registry.Cluster{Name: "eu"})
		cluster.Create(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "parent", "namespace": "default"}})
		federate(t, cluster, "default", "made", owner, controlledBy(cluster.Get(t, "v1", "ConfigMap", "default", "parent")))
		cluster.Create(t, map[string]any{"apiVersion": "v1", "kind": "Endpoints", "metadata": map[string]any{
			"name": "copied", "namespace": "default",
			"labels":      map[string]any{member.OwnerLabel: member.OwnerHash(owner)},
			"annotations": map[string]any{member.OwnerAnnotation: owner},
		}})
		if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu"}); err != nil {
			t.Error(err)
		}
	})
}

func TestUnjoinKeepsANamespaceThatSomebodyElseUses(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.memberCl.Create(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign", "namespace": f.namespace}})
	left := f.unjoin("eu")
	if !slices.Contains(left.Objects, "ConfigMap "+f.namespace+"/foreign") || !slices.Contains(left.Objects, "Namespace "+f.namespace) {
		t.Errorf("left behind is %v", left.Objects)
	}
	kubetest.Eventually(t, func() error {
		if there := f.traces(); len(there) != 1 || there[0] != "member Namespace "+f.namespace {
			return fmt.Errorf("there is %v", there)
		}
		return nil
	})
	if _, there := f.memberCl.Find(t, "v1", "ConfigMap", f.namespace, "foreign"); !there {
		t.Error("the foreign object is gone")
	}
}

func TestUnjoinKeepsANamespaceThatWasThereBefore(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.memberCl.Create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": f.namespace}})
	f.join(registry.Cluster{Name: "eu"})
	f.unjoin("eu")
	kubetest.Eventually(t, func() error {
		if there := f.traces(); len(there) != 1 || !strings.Contains(there[0], "Namespace") {
			return fmt.Errorf("there is %v", there)
		}
		return nil
	})
}

func TestUnjoinOfAMemberThatDoesNotAnswerIsRefusedUnlessItMayBeForgotten(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.member.Refuse()
	var down *member.UnreachableError
	if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu"}); !errors.As(err, &down) {
		t.Fatalf("want an UnreachableError, got %v", err)
	}
	if _, there := f.hostCluster.Find(t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, "eu"); !there {
		t.Fatal("it is no longer registered")
	}
	left, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu", Unreachable: registry.UnreachableForget})
	if err != nil || left.Forgotten == nil {
		t.Fatalf("left is %+v, %v", left, err)
	}
	if entries, err := f.registry().Members(t.Context()); err != nil || len(entries) > 0 {
		t.Errorf("members are %v, %v", entries, err)
	}
}

func TestClientOfAnUnjoinedMemberServesTheRestOfTheRun(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	r := f.registry()
	before, err := r.Open(t.Context(), "eu")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Unjoin(t.Context(), registry.Unjoining{Name: "eu", Objects: registry.ObjectsOrphan}); err != nil {
		t.Fatal(err)
	}
	after, err := r.Open(t.Context(), "eu")
	if err != nil || after != before {
		t.Errorf("the client is %p (%v), before %p", after, err, before)
	}
	if entries, err := r.Members(t.Context()); err != nil || len(entries) > 0 {
		t.Errorf("members are %v, %v", entries, err)
	}
}

func TestWhatKubeFedJoinedWorksAndCanBeUnjoined(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.joinAsKubefedctl("eu")
	f.works("eu")
	found, err := f.registry().ReadCluster(t.Context(), "eu")
	if err != nil || found == nil {
		t.Fatalf("found %v, %v", found, err)
	}
	if found.ServiceAccount != f.namespace+"/eu-"+f.namespace || found.Broken != "" || found.Unknown != nil || found.ClusterUID != "" {
		t.Errorf("found %+v", found)
	}
	f.unjoin("eu")
	kubetest.Eventually(t, func() error {
		_, account := f.memberCl.Find(t, "v1", "ServiceAccount", f.namespace, "eu-"+f.namespace)
		_, role := f.memberCl.Find(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "kubefed-controller-manager:eu-"+f.namespace)
		_, binding := f.memberCl.Find(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "kubefed-controller-manager:eu-"+f.namespace)
		if account || role || binding {
			return fmt.Errorf("account %v, role %v, binding %v", account, role, binding)
		}
		return nil
	})
}

// joinAsKubefedctl makes what kubefedctl makes, without any mark of ours.
func (f *federation) joinAsKubefedctl(name string) {
	f.t.Helper()
	account, role := name+"-"+f.namespace, "kubefed-controller-manager:"+name+"-"+f.namespace
	subject := map[string]any{"kind": "ServiceAccount", "name": account, "namespace": f.namespace}
	for _, o := range []map[string]any{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": f.namespace}},
		{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": account, "namespace": f.namespace}},
		{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": map[string]any{
			"name": account, "namespace": f.namespace, "annotations": map[string]any{"kubernetes.io/service-account.name": account}}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": role}, "rules": []any{
			map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": role},
			"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": []any{subject}},
	} {
		f.memberCl.Create(f.t, o)
	}
	var token string
	kubetest.Eventually(f.t, func() error {
		var found bool
		token, found, _ = unstructured.NestedString(f.memberCl.Get(f.t, "v1", "Secret", f.namespace, account).Object, "data", "token")
		if !found {
			return errors.New("no token yet")
		}
		return nil
	})
	f.hostCluster.Create(f.t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name + "-x7k2p", "namespace": f.namespace}, "data": map[string]any{"token": token}})
	f.hostCluster.Create(f.t, map[string]any{
		"apiVersion": "core.kubefed.io/v1beta1", "kind": "KubeFedCluster", "metadata": map[string]any{"name": name, "namespace": f.namespace},
		"spec": map[string]any{"apiEndpoint": f.member.Host(), "caBundle": f.member.CA(), "secretRef": map[string]any{"name": name + "-x7k2p"}},
	})
}
