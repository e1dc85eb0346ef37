package registry_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// traces lists what is there of a join: on the member what carries its name, on the host what is registered.
func (f *federation) traces() (there []string) {
	f.t.Helper()
	note := func(where string, list []unstructured.Unstructured) {
		for _, o := range list {
			if o.GetDeletionTimestamp() == nil {
				there = append(there, where+" "+o.GetKind()+" "+o.GetName())
			}
		}
	}
	selector := member.OwnerLabel + "=" + member.OwnerHash(owner)
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
		for _, o := range f.memberCl.List(f.t, "rbac.authorization.k8s.io/v1", kind, "", selector) {
			if strings.Contains(fmt.Sprint(o.Object), f.namespace) {
				note("member", []unstructured.Unstructured{o})
			}
		}
	}
	note("member", f.memberCl.List(f.t, "v1", "ServiceAccount", f.namespace, selector))
	note("member", f.memberCl.List(f.t, "v1", "Secret", f.namespace, selector))
	if ns, ok := f.memberCl.Find(f.t, "v1", "Namespace", "", f.namespace); ok {
		note("member", []unstructured.Unstructured{*ns})
	}
	note("host", f.hostCluster.List(f.t, "v1", "Secret", f.namespace, selector))
	note("host", f.hostCluster.List(f.t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, ""))
	return there
}

func (f *federation) eventuallyNoTraces() {
	f.t.Helper()
	kubetest.Eventually(f.t, func() error {
		if there := f.traces(); len(there) > 0 {
			return fmt.Errorf("still there: %s", strings.Join(there, ", "))
		}
		return nil
	})
}

// works makes sure that a new process reaches the member by what is registered and may do its work there.
func (f *federation) works(name string) {
	f.t.Helper()
	m, err := f.registry().Open(f.t.Context(), name)
	if err != nil {
		f.t.Fatalf("open %s: %v", name, err)
	}
	kinds, err := m.Kinds(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, k := range kinds.Listable() {
		if k.GVK.Kind == "ConfigMap" {
			if _, err := m.List(f.t.Context(), k, "default", ""); err != nil {
				f.t.Errorf("list ConfigMaps of %s: %v", name, err)
			}
		}
	}
}

func TestJoinMakesAnAccountThatWorksAndUnjoinLeavesNothing(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	joined := f.join(registry.Cluster{Name: "eu", Labels: map[string]string{"tier": "x"}, Region: "r1", Zones: []string{"z2", "z1"}, Availability: registry.Cordoned})
	uid := string(f.memberCl.Get(t, "v1", "Namespace", "", "kube-system").GetUID())
	if joined.ClusterUID != uid || joined.APIEndpoint != f.member.Host() {
		t.Errorf("joined %+v; the cluster's uid is %s, its address %s", joined, uid, f.member.Host())
	}
	f.works("eu")
	entries, err := f.registry().Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%+v", entries)
	want := fmt.Sprintf("%+v", []registry.Entry{{Name: "eu", Labels: map[string]string{"tier": "x"}, Region: "r1", Zones: []string{"z1", "z2"}, Availability: "cordoned", ClusterUID: uid, Source: "host"}})
	if got != want {
		t.Errorf("members\n%s\nwant\n%s", got, want)
	}
	if left := f.unjoin("eu"); left.Forgotten != nil {
		t.Errorf("unjoin leaves %+v", left)
	}
	f.eventuallyNoTraces()
}

func TestJoinRecordsTheAuthorityOfTheConnectionNotThatOfTheTokenSecret(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	bundle, _, _ := unstructured.NestedString(f.hostCluster.Get(t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, "eu").Object, "spec", "caBundle")
	got, err := base64.StdEncoding.DecodeString(bundle)
	if err != nil || !bytes.Equal(got, f.member.CA()) {
		t.Errorf("recorded is %s (%v), and not what the connection trusts", got, err)
	}
}

func TestJoinAndUnjoinFinishWhatBrokeOffAtAnyWrite(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	onMember, onHost := len(f.member.Writes()), len(f.host.Writes())
	f.unjoin("eu")
	f.eventuallyNoTraces()
	if onMember < 5 || onHost < 2 {
		t.Fatalf("a join takes %d writes on the member and %d on the host", onMember, onHost)
	}
	for _, side := range []struct {
		name   string
		proxy  *kubetest.Proxy
		writes int
	}{{"member", f.member, onMember}, {"host", f.host, onHost}} {
		for k := 1; k <= side.writes; k++ {
			cut := side.proxy.CutAfterWrites(k)
			if _, err := f.registry().Join(t.Context(), connection(f.member), registry.Cluster{Name: "eu"}); err == nil {
				t.Errorf("the join does not notice that the %s is gone after write %d", side.name, k)
			}
			cut.Heal()
			f.join(registry.Cluster{Name: "eu"})
			f.works("eu")
			f.unjoin("eu")
			f.eventuallyNoTraces()
		}
	}
}

func TestUnjoinFinishesWhatBrokeOffAtAnyWrite(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.member.Reset()
	f.host.Reset()
	f.unjoin("eu")
	for _, side := range []struct {
		name   string
		proxy  *kubetest.Proxy
		writes int
	}{{"member", f.member, len(f.member.Writes())}, {"host", f.host, len(f.host.Writes())}} {
		if side.writes == 0 {
			t.Fatalf("unjoin writes nothing on the %s", side.name)
		}
		for k := 1; k <= side.writes; k++ {
			f.eventuallyNoTraces()
			f.join(registry.Cluster{Name: "eu"})
			cut := side.proxy.CutAfterWrites(k)
			if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu", Objects: registry.ObjectsOrphan}); err == nil && k < side.writes {
				t.Errorf("unjoin does not notice that the %s is gone after write %d", side.name, k)
			}
			cut.Heal()
			f.unjoin("eu")
			f.eventuallyNoTraces()
		}
	}
}

func TestJoinTakesNothingThatSomebodyElseMade(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.hostCluster.Create(t, map[string]any{
		"apiVersion": "core.kubefed.io/v1beta1", "kind": "KubeFedCluster", "metadata": map[string]any{"name": "eu", "namespace": f.namespace},
		"spec": map[string]any{"apiEndpoint": "https://elsewhere.example", "secretRef": map[string]any{"name": "eu"}},
	})
	f.member.Reset()
	_, err := f.registry().Join(t.Context(), connection(f.member), registry.Cluster{Name: "eu"})
	var foreign *registry.ForeignError
	if !errors.As(err, &foreign) {
		t.Fatalf("want a ForeignError, got %v", err)
	}
	if len(f.member.Requests()) > 0 || len(f.host.Writes()) > 0 {
		t.Errorf("the member was asked %d times, and the host written %d times", len(f.member.Requests()), len(f.host.Writes()))
	}
}

func TestOneClusterIsNotJoinedUnderTwoNames(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.member.Reset()
	f.host.Reset()
	_, err := f.registry().Join(t.Context(), connection(f.member), registry.Cluster{Name: "us"})
	var already *registry.AlreadyJoinedError
	if !errors.As(err, &already) || already.Other != "eu" {
		t.Fatalf("want an AlreadyJoinedError for eu, got %v", err)
	}
	if writes := len(f.member.Writes()) + len(f.host.Writes()); writes > 0 {
		t.Errorf("%d writes", writes)
	}
}

func TestOneNameIsNotJoinedTwiceInOneRun(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	r := f.registry()
	if _, err := r.Join(t.Context(), connection(f.member), registry.Cluster{Name: "eu"}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Join(t.Context(), connection(kubetest.NewProxy(t, kubetest.Member(t, 2))), registry.Cluster{Name: "eu"})
	var twice *registry.DeclaredTwiceError
	if !errors.As(err, &twice) {
		t.Errorf("want a DeclaredTwiceError, got %v", err)
	}
}

func TestRegisteredNameThatLeadsToAnotherClusterIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	other := kubetest.NewProxy(t, kubetest.Member(t, 2))
	_, err := f.registry().Rejoin(t.Context(), connection(other), registry.Cluster{Name: "eu"}, registry.Cluster{})
	var u *member.UnreachableError
	if !errors.As(err, &u) || u.Class != member.ClassIdentity {
		t.Fatalf("want an identity error, got %v", err)
	}
	if len(other.Writes()) > 0 {
		t.Errorf("it was written to: %v", other.Writes())
	}
}

func TestHostJoinedAsMemberKeepsItsNamespace(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.member, f.memberCl = kubetest.NewProxy(t, f.hostCluster), f.hostCluster
	f.join(registry.Cluster{Name: "self"})
	f.works("self")
	f.unjoin("self")
	kubetest.Eventually(t, func() error {
		if there := f.traces(); len(there) != 1 || !strings.Contains(there[0], "Namespace") {
			return fmt.Errorf("there is %v", there)
		}
		return nil
	})
	if _, err := f.registry().Members(t.Context()); err != nil {
		t.Errorf("the control plane is gone: %v", err)
	}
}

func TestNewTokenEndsTheOldOne(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	joined := f.join(registry.Cluster{Name: "eu"})
	token := func() string {
		text, _, _ := unstructured.NestedString(f.hostCluster.Get(t, "v1", "Secret", f.namespace, joined.SecretName).Object, "data", "token")
		return text
	}
	before := token()
	old, err := f.registry().Open(t.Context(), "eu")
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.registry().Rejoin(t.Context(), connection(f.member), registry.Cluster{Name: "eu", TokenRotation: map[string]string{"on": "monday"}}, registry.Cluster{})
	if err != nil {
		t.Fatal(err)
	}
	if *again != *joined {
		t.Errorf("rotation changes %+v to %+v", joined, again)
	}
	if token() == before {
		t.Error("the token is the same")
	}
	f.works("eu")
	kubetest.Eventually(t, func() error {
		if _, err := old.Kinds(t.Context()); err == nil {
			old.Forget()
			return errors.New("the old token still works")
		}
		return nil
	})
}

func TestUnjoinOfWhatIsNotRegisteredIsNoError(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu"}); err != nil {
		t.Error(err)
	}
}

func TestJoinSaysThatAClusterMakesNoTokens(t *testing.T) {
	t.Parallel()
	f := newFederationWith(t, kubetest.Fresh(t, kubetest.Options{Name: "tokenless", Lean: true}))
	_, err := f.registry().Join(t.Context(), connection(f.member), registry.Cluster{Name: "eu"})
	if err == nil || !strings.Contains(err.Error(), "kube-controller-manager") {
		t.Errorf("got %v", err)
	}
	if _, there := f.hostCluster.Find(t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, "eu"); there {
		t.Error("it is registered")
	}
}
