package registry_test

import (
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

const owner = "test/registry"

// federation is a namespace on the shared host, behind a proxy, with the control plane in it, and one member behind another.
type federation struct {
	t            *testing.T
	namespace    string
	hostCluster  *kubetest.Cluster
	host, member *kubetest.Proxy
	memberCl     *kubetest.Cluster
}

func newFederation(t *testing.T) *federation {
	t.Helper()
	return newFederationWith(t, kubetest.Member(t, 1))
}

// newFederationWith has a member of the test's own, for tests of what is left on it: other tests' objects are on the shared ones.
func newFederationWith(t *testing.T, cluster *kubetest.Cluster) *federation {
	t.Helper()
	f := &federation{t: t, namespace: kubetest.UniqueName(t, "federation"), hostCluster: kubetest.Host(t), memberCl: cluster}
	f.host, f.member = kubetest.NewProxy(t, f.hostCluster), kubetest.NewProxy(t, f.memberCl)
	if _, err := f.registry().InstallControlPlane(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []*kubetest.Cluster{f.hostCluster, f.memberCl} {
			if _, ok := c.Find(t, "v1", "Namespace", "", f.namespace); ok {
				c.Delete(t, "v1", "Namespace", "", f.namespace)
			}
		}
	})
	f.host.Reset()
	return f
}

// registry is one as a new process of the provider would have it.
func (f *federation) registry(change ...func(*registry.Config)) *registry.Registry {
	f.t.Helper()
	c := config(f.host.RESTConfig(), f.namespace)
	for _, apply := range change {
		apply(&c)
	}
	r, err := registry.New(c)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func config(host *rest.Config, namespace string) registry.Config {
	return registry.Config{
		Host: host, Namespace: namespace, Owner: owner,
		Options: member.Options{
			FieldManager: "terraform-kubefed", UserAgent: "test", RequestTimeout: 10 * time.Second,
			Health: member.HealthCheck{Attempts: 2, Timeout: 2 * time.Second, Interval: 50 * time.Millisecond},
		},
	}
}

// connection is how the administrator reaches the cluster behind a proxy.
func connection(p *kubetest.Proxy) member.Connection {
	return member.Connection{ConfigPath: p.Kubeconfig()}
}

// join joins the member as a new process would, and fails the test if that fails.
func (f *federation) join(c registry.Cluster) *registry.Joined {
	f.t.Helper()
	joined, err := f.registry().Join(f.t.Context(), connection(f.member), c)
	if err != nil {
		f.t.Fatalf("join %s: %v", c.Name, err)
	}
	return joined
}

// unjoin unjoins a member as a new process would. Objects that other tests have federated to the shared cluster stay.
func (f *federation) unjoin(name string) *registry.Unjoined {
	f.t.Helper()
	left, err := f.registry().Unjoin(f.t.Context(), registry.Unjoining{Name: name, Objects: registry.ObjectsOrphan})
	if err != nil {
		f.t.Fatalf("unjoin %s: %v", name, err)
	}
	return left
}
