package registry_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// role is the name of the ClusterRole of a join.
func role(joined *registry.Joined) string {
	_, account, _ := strings.Cut(joined.ServiceAccount, "/")
	return "kubefed-controller-manager:" + account
}

const rbac = "rbac.authorization.k8s.io/v1"

func TestReadingAJoinedClusterTakesTwoRequestsToTheMember(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.member.Reset()
	found, err := f.registry().ReadCluster(t.Context(), "eu")
	if err != nil || found.Broken != "" || found.Unknown != nil {
		t.Errorf("found %+v, %v", found, err)
	}
	if n := len(f.member.Requests()); n != 2 {
		t.Errorf("it took %d requests: %v", n, f.member.Requests())
	}
}

func TestReadingWhatIsNotRegisteredFindsNothing(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	if found, err := f.registry().ReadCluster(t.Context(), "eu"); found != nil || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestDamagedMembershipIsFoundAndMendedByJoiningAgain(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	cluster := registry.Cluster{Name: "eu"}
	joined := f.join(cluster)
	for name, damage := range map[string]func(){
		"the ClusterRole is gone": func() { f.memberCl.Delete(t, rbac, "ClusterRole", "", role(joined)) },
		"the ClusterRole allows less": func() {
			f.memberCl.MergePatch(t, rbac, "ClusterRole", "", role(joined), map[string]any{"rules": []any{map[string]any{
				"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"get"}}}})
		},
		"the binding is gone": func() { f.memberCl.Delete(t, rbac, "ClusterRoleBinding", "", role(joined)) },
		"the account is gone": func() {
			f.memberCl.Delete(t, "v1", "ServiceAccount", f.namespace, strings.TrimPrefix(role(joined), "kubefed-controller-manager:"))
		},
		"the token is gone from the host": func() { f.hostCluster.Delete(t, "v1", "Secret", f.namespace, joined.SecretName) },
	} {
		damage()
		// An API server believes a token for some seconds after it ended.
		kubetest.Eventually(t, func() error {
			found, err := f.registry().ReadCluster(t.Context(), "eu")
			if err != nil || found.Broken == "" {
				return errors.New(name + " is not found: " + unknownOf(found, err))
			}
			return nil
		})
		if _, err := f.registry().Rejoin(t.Context(), connection(f.member), cluster, cluster); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found, err := f.registry().ReadCluster(t.Context(), "eu")
		if err != nil || found.Broken != "" || found.Unknown != nil {
			t.Errorf("%s: after joining again found is %+v, %v", name, found, err)
		}
		f.works("eu")
	}
}

func unknownOf(found *registry.Registration, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case found.Unknown != nil:
		return found.Unknown.Error()
	}
	return "all is well"
}

func TestMemberThatDoesNotAnswerIsUnknownNotDamaged(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	for name, fault := range map[string]func() *kubetest.Fault{
		"refused": func() *kubetest.Fault { return f.member.Refuse() },
		"503":     func() *kubetest.Fault { return f.member.Status(http.StatusServiceUnavailable) },
		"TLS":     func() *kubetest.Fault { return f.member.BreakTLS(kubetest.UnknownAuthority) },
	} {
		broken := fault()
		found, err := f.registry().ReadCluster(t.Context(), "eu")
		broken.Heal()
		var down *member.UnreachableError
		if err != nil || found.Broken != "" || !errors.As(found.Unknown, &down) {
			t.Errorf("%s: found %+v, %v", name, found, err)
		}
	}
}

func TestUpdateChangesTheHostAloneAndKeepsWhatOthersSet(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	former := registry.Cluster{Name: "eu", Labels: map[string]string{"a": "1", "b": "1"}, Region: "r", Availability: registry.Cordoned}
	f.join(former)
	f.hostCluster.MergePatch(t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, "eu", map[string]any{"metadata": map[string]any{
		"labels": map[string]any{"foreign": "1", "a": "edited"}, "annotations": map[string]any{"foreign": "1"}}})
	f.member.Reset()
	next := registry.Cluster{Name: "eu", Labels: map[string]string{"a": "2"}, Annotations: map[string]string{"n": "1"}, ProxyURL: "http://proxy.example:3128", DisabledTLSValidations: []string{"SubjectName"}}
	if _, err := f.registry().Update(t.Context(), next, former); err != nil {
		t.Fatal(err)
	}
	if n := len(f.member.Requests()); n > 0 {
		t.Errorf("the member got %d requests", n)
	}
	live := f.hostCluster.Get(t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, "eu")
	labels, notes := live.GetLabels(), live.GetAnnotations()
	if labels["a"] != "2" || labels["foreign"] != "1" || labels["b"] != "" || notes["n"] != "1" || notes["foreign"] != "1" || notes["terraform.kubefed.io/region"] != "" {
		t.Errorf("labels are %v, annotations %v", labels, notes)
	}
	if proxy, _, _ := unstructured.NestedString(live.Object, "spec", "proxyURL"); proxy != next.ProxyURL {
		t.Errorf("the proxy is %q", proxy)
	}
	if _, err := f.registry().Update(t.Context(), registry.Cluster{Name: "eu"}, next); err != nil {
		t.Fatal(err)
	}
	f.works("eu")
}
