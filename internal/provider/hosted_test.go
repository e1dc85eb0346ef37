package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// hosted is a federation with a registry on a host cluster of its own namespace, and members that are there to be joined.
type hosted struct {
	t         *testing.T
	host      *site
	sites     []*site
	namespace string // of the registry, on host and members
	owner     string
}

// newHosted puts a proxy in front of the shared host, and of so many members of this test alone: what other tests have federated to shared ones
// would keep them from being unjoined.
func newHosted(t *testing.T, members int) *hosted {
	t.Helper()
	h := &hosted{t: t, namespace: kubetest.UniqueName(t, "registry"), owner: kubetest.UniqueName(t, "owner")}
	host := kubetest.Host(t)
	makeKinds(t, host)
	h.host = &site{Cluster: host, proxy: kubetest.NewProxy(t, host)}
	for _, cluster := range kubetest.Lent(t, members) {
		h.sites = append(h.sites, &site{Cluster: cluster, proxy: kubetest.NewProxy(t, cluster)})
	}
	t.Cleanup(func() {
		if _, there := host.Find(t, "v1", "Namespace", "", h.namespace); there {
			host.Delete(t, "v1", "Namespace", "", h.namespace)
		}
	})
	return h
}

// makeKinds installs the registry's kinds on the shared host for good: a test that had created them could not remove its control plane while
// another uses them.
func makeKinds(t *testing.T, host *kubetest.Cluster) {
	t.Helper()
	r, err := registry.New(registry.Config{Host: host.RESTConfig(), Namespace: "default", Owner: "tests", Options: member.Options{FieldManager: "tests"}})
	if err == nil {
		_, err = r.InstallControlPlane(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// provider is the provider block that reaches the host through its proxy, with further attributes.
func (h *hosted) provider(attributes ...string) string {
	return fmt.Sprintf("provider \"kubefed\" {\n  owner = %q\n  namespace = %q\n  health_check = { attempts = 2, timeout = \"2s\", interval = \"200ms\" }\n"+
		"  host_cluster = { config_path = %q }\n  %s\n}\n", h.owner, h.namespace, h.host.proxy.Kubeconfig(), strings.Join(attributes, "\n  "))
}

// controlPlane is the kubefed_control_plane.
const controlPlane = "resource \"kubefed_control_plane\" \"this\" {}\n"

// cluster is a kubefed_cluster of the same name, for one of the members.
func (h *hosted) cluster(name string, member int, attributes ...string) string {
	return fmt.Sprintf("resource \"kubefed_cluster\" %q {\n  name = %q\n  cluster_connection = { config_path = %q }\n  %s\n  depends_on = [kubefed_control_plane.this]\n}\n",
		name, name, h.sites[member].proxy.Kubeconfig(), strings.Join(attributes, "\n  "))
}

// registered reads the KubeFedCluster of a name.
func (h *hosted) registered(name string) bool {
	h.t.Helper()
	_, there := h.host.Find(h.t, "core.kubefed.io/v1beta1", "KubeFedCluster", h.namespace, name)
	return there
}

// writes is how often host and members were written since the last reset.
func (h *hosted) writes() int {
	count := 0
	for _, s := range append(h.sites, h.host) {
		count += len(s.proxy.Writes())
	}
	return count
}

func (h *hosted) reset() {
	for _, s := range append(h.sites, h.host) {
		s.proxy.Reset()
	}
}
