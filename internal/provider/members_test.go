package provider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// site is a member with a proxy in front of it.
type site struct {
	*kubetest.Cluster
	proxy  *kubetest.Proxy
	labels map[string]string
}

// federation are the members of one test, with a namespace of the same name on each.
type federation struct {
	t         *testing.T
	sites     map[string]*site
	namespace string
	owner     string
}

// newFederation puts a proxy in front of one real cluster per name, in the order of names.
func newFederation(t *testing.T, names ...string) *federation {
	t.Helper()
	clusters := map[string]*kubetest.Cluster{}
	for i, name := range names {
		clusters[name] = kubetest.Member(t, i+1)
	}
	return newFederationOf(t, clusters)
}

// newFederationOf puts a proxy in front of each cluster, a member by its name in the map.
func newFederationOf(t *testing.T, clusters map[string]*kubetest.Cluster) *federation {
	t.Helper()
	f := &federation{t: t, sites: map[string]*site{}, namespace: kubetest.UniqueName(t, "shop"), owner: kubetest.UniqueName(t, "owner")}
	for name, cluster := range clusters {
		f.sites[name] = &site{Cluster: cluster, proxy: kubetest.NewProxy(t, cluster), labels: map[string]string{"name": name}}
		makeNamespace(t, cluster, f.namespace)
	}
	return f
}

func makeNamespace(t *testing.T, cluster *kubetest.Cluster, name string) {
	t.Helper()
	cluster.Create(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	t.Cleanup(func() { cluster.Delete(t, "v1", "Namespace", "", name) })
}

// names lists the members in order.
func (f *federation) names() []string {
	var names []string
	for name := range f.sites {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// provider is the provider block that reaches the members through their proxies, with further attributes.
func (f *federation) provider(attributes ...string) string {
	return f.providerOf(f.names(), attributes...)
}

// providerOf is the provider block with some of the members.
func (f *federation) providerOf(names []string, attributes ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "provider \"kubefed\" {\n  owner = %q\n  health_check = { attempts = 2, timeout = \"2s\", interval = \"200ms\" }\n", f.owner)
	b.WriteString("  member_clusters = {\n")
	for _, name := range names {
		s := f.sites[name]
		fmt.Fprintf(&b, "    %s = { config_path = %q, config_context = %q, labels = {", name, s.proxy.Kubeconfig(), s.proxy.Name)
		for _, key := range sortedKeys(s.labels) {
			fmt.Fprintf(&b, " %q = %q,", key, s.labels[key])
		}
		b.WriteString(" } }\n")
	}
	b.WriteString("  }\n")
	for _, a := range attributes {
		b.WriteString("  " + a + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// resource is a kubefed_federated_resource called x.
func resource(attributes ...string) string { return named("x", attributes...) }

// named is a kubefed_federated_resource.
func named(name string, attributes ...string) string {
	return fmt.Sprintf("resource \"kubefed_federated_resource\" %q {\n  %s\n}\n", name, strings.Join(attributes, "\n  "))
}

// on is a placement by names.
func on(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return "placement = { clusters = [" + strings.Join(quoted, ", ") + "] }"
}

// everywhere is a placement on all members.
const everywhere = "placement = { cluster_selector = {} }"

// get reads an object in the test's namespace on a member.
func (f *federation) get(member, apiVersion, kind, name string) *unstructured.Unstructured {
	f.t.Helper()
	return f.sites[member].Get(f.t, apiVersion, kind, f.namespace, name)
}

// absent fails the test unless an object is gone from these members, or goes within seconds.
func (f *federation) absent(apiVersion, kind, name string, members ...string) {
	f.t.Helper()
	for _, member := range members {
		kubetest.Eventually(f.t, func() error {
			if _, there := f.sites[member].Find(f.t, apiVersion, kind, f.namespace, name); there {
				return fmt.Errorf("%s %s is still on %s", kind, name, member)
			}
			return nil
		})
	}
}

// gone waits until a cluster-scoped object is gone from a member.
func (f *federation) gone(member, apiVersion, kind, name string) {
	f.t.Helper()
	kubetest.Eventually(f.t, func() error {
		if _, there := f.sites[member].Find(f.t, apiVersion, kind, "", name); there {
			return fmt.Errorf("%s %s is still on %s", kind, name, member)
		}
		return nil
	})
}

// present says on which members an object in the test's namespace is.
func (f *federation) present(apiVersion, kind, name string) []string {
	f.t.Helper()
	var members []string
	for _, member := range f.names() {
		if _, there := f.sites[member].Find(f.t, apiVersion, kind, f.namespace, name); there {
			members = append(members, member)
		}
	}
	return members
}

// wantOn fails the test unless an object is on exactly these members.
func (f *federation) wantOn(apiVersion, kind, name string, members ...string) {
	f.t.Helper()
	if got := f.present(apiVersion, kind, name); !slices.Equal(got, members) {
		f.t.Errorf("%s %s is on %v, want %v", kind, name, got, members)
	}
}

// reset forgets the requests recorded so far.
func (f *federation) reset() {
	for _, s := range f.sites {
		s.proxy.Reset()
	}
}

// heal ends all faults.
func (f *federation) heal() {
	for _, s := range f.sites {
		s.proxy.Heal()
	}
}

// wantWrites fails the test unless the members took as many writes as said since the last reset; members not named none. A write that the
// API server refuses changes nothing, and does not count.
func (f *federation) wantWrites(want map[string]int) {
	f.t.Helper()
	for _, name := range f.names() {
		writes := slices.DeleteFunc(f.sites[name].proxy.Writes(), func(r kubetest.Request) bool { return r.Status >= 400 })
		if len(writes) != want[name] {
			f.t.Errorf("member %s got %d writes, want %d: %v", name, len(writes), want[name], writes)
		}
	}
}

// wantNoWrites fails the test if anything was written since the last reset.
func (f *federation) wantNoWrites() {
	f.t.Helper()
	f.wantWrites(nil)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// field reads a value in an object by its path.
func field(t *testing.T, o *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
