package registry_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

const fedNamespace = "kube-federation-system"

// planeOn is a registry whose host is behind a proxy, as a new process would have it.
func planeOn(t *testing.T, proxy *kubetest.Proxy, change ...func(*registry.Config)) *registry.Registry {
	t.Helper()
	c := config(proxy.RESTConfig(), fedNamespace)
	for _, apply := range change {
		apply(&c)
	}
	r, err := registry.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func install(t *testing.T, r *registry.Registry) *registry.ControlPlane {
	t.Helper()
	plane, err := r.InstallControlPlane(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plane
}

func origins(origin registry.Origin) map[string]registry.Origin {
	all := map[string]registry.Origin{}
	for _, name := range registry.CRDNames() {
		all[name] = origin
	}
	return all
}

func TestControlPlaneIsInstalledWhateverBrokeOffAndAdoptedByASecondConfiguration(t *testing.T) {
	t.Parallel()
	proxy := kubetest.NewProxy(t, kubetest.Fresh(t, kubetest.Options{Name: "plane", Lean: true}))
	t.Run("a host without it is unreadable, and empty once it is announced", func(t *testing.T) {
		r := planeOn(t, proxy)
		var unreadable *registry.UnreadableError
		if _, err := r.Members(t.Context()); !errors.As(err, &unreadable) || !strings.Contains(err.Error(), "kubefed_control_plane") {
			t.Errorf("want an UnreadableError that says what to do, got %v", err)
		}
		r.AnnounceControlPlane()
		if entries, err := r.Members(t.Context()); err != nil || len(entries) > 0 {
			t.Errorf("members are %v, %v", entries, err)
		}
	})
	t.Run("nothing is there", func(t *testing.T) {
		if plane, err := planeOn(t, proxy).ReadControlPlane(t.Context()); plane != nil || err != nil {
			t.Errorf("found %+v, %v", plane, err)
		}
	})
	t.Run("cut off at any write", func(t *testing.T) {
		for k := 1; k <= 3; k++ {
			cut := proxy.CutAfterWrites(k)
			if _, err := planeOn(t, proxy).InstallControlPlane(t.Context()); err == nil {
				t.Errorf("the installation does not notice that the host is gone after write %d", k)
			}
			cut.Heal()
		}
		plane := install(t, planeOn(t, proxy))
		if want := (&registry.ControlPlane{Namespace: fedNamespace, CRDs: origins(registry.Created)}); !reflect.DeepEqual(plane, want) {
			t.Errorf("installed is %+v", plane)
		}
	})
	t.Run("the same process sees it at once", func(t *testing.T) {
		r := planeOn(t, proxy)
		install(t, r)
		if entries, err := r.Members(t.Context()); err != nil || len(entries) > 0 {
			t.Errorf("members are %v, %v", entries, err)
		}
	})
	t.Run("a second installation changes nothing", func(t *testing.T) {
		before := crdVersions(t, proxy)
		install(t, planeOn(t, proxy))
		if after := crdVersions(t, proxy); !reflect.DeepEqual(after, before) {
			t.Errorf("from %v to %v", before, after)
		}
	})
	t.Run("another owner adopts it, and does not remove it", func(t *testing.T) {
		other := func(c *registry.Config) { c.Owner = "other/team" }
		plane := install(t, planeOn(t, proxy, other))
		if !reflect.DeepEqual(plane.CRDs, origins(registry.Adopted)) {
			t.Errorf("it has %v", plane.CRDs)
		}
		proxy.Reset()
		if left, err := planeOn(t, proxy, other).RemoveControlPlane(t.Context(), fedNamespace); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
		if writes := proxy.Writes(); len(writes) > 0 {
			t.Errorf("it writes %v", writes)
		}
	})
}

// crdVersions are the generations of the definitions.
func crdVersions(t *testing.T, proxy *kubetest.Proxy) map[string]int64 {
	t.Helper()
	host, err := member.New("host", proxy.RESTConfig(), member.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := host.Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]int64{}
	for _, k := range kinds.Listable() {
		if k.GVK.Kind != "CustomResourceDefinition" {
			continue
		}
		list, err := host.List(t.Context(), k, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			versions[list[i].Name] = list[i].Generation
		}
	}
	return versions
}

func TestControlPlaneRemovesWhatItCreatedButNotWhileItKeepsSomething(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Fresh(t, kubetest.Options{Name: "plane"})
	proxy := kubetest.NewProxy(t, cluster)
	install(t, planeOn(t, proxy))
	elsewhere := cluster.Namespace(t)
	registered := func(namespace string) {
		cluster.Create(t, map[string]any{
			"apiVersion": "core.kubefed.io/v1beta1", "kind": "KubeFedCluster", "metadata": map[string]any{"name": "eu", "namespace": namespace},
			"spec": map[string]any{"apiEndpoint": "https://a.example", "secretRef": map[string]any{"name": "eu"}},
		})
	}
	for _, namespace := range []string{fedNamespace, elsewhere} {
		registered(namespace)
		proxy.Reset()
		var used *registry.InUseError
		if _, err := planeOn(t, proxy).RemoveControlPlane(t.Context(), fedNamespace); !errors.As(err, &used) || !reflect.DeepEqual(used.Objects, []string{"KubeFedCluster " + namespace + "/eu"}) {
			t.Errorf("want an InUseError, got %v", err)
		}
		if writes := proxy.Writes(); len(writes) > 0 {
			t.Errorf("it writes %v", writes)
		}
		cluster.Delete(t, "core.kubefed.io/v1beta1", "KubeFedCluster", namespace, "eu")
	}
	cluster.Create(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign", "namespace": fedNamespace}})
	left, err := planeOn(t, proxy).RemoveControlPlane(t.Context(), fedNamespace)
	if err != nil || !reflect.DeepEqual(left, []string{"ConfigMap " + fedNamespace + "/foreign"}) {
		t.Errorf("left %v, %v", left, err)
	}
	cluster.Delete(t, "v1", "ConfigMap", fedNamespace, "foreign")
	if left, err := planeOn(t, proxy).RemoveControlPlane(t.Context(), fedNamespace); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if plane, err := planeOn(t, proxy).ReadControlPlane(t.Context()); plane != nil || err != nil {
		t.Errorf("found %+v, %v", plane, err)
	}
}

// foreignCRD is one of the two definitions as somebody else has it: only what KubeFed requires, pruning all else.
func foreignCRD(kind, plural, spec string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.core.kubefed.io}
spec:
  group: core.kubefed.io
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: %[3]s}}}
`, kind, plural, spec)
}

func TestControlPlaneUsesWhatIsThere(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Fresh(t, kubetest.Options{Name: "foreign"})
	cluster.Create(t, foreignCRD("KubeFedCluster", "kubefedclusters", `{type: object, required: [apiEndpoint, secretRef], properties: {
      apiEndpoint: {type: string}, caBundle: {type: string, format: byte}, proxyURL: {type: string},
      disabledTLSValidations: {type: array, items: {type: string}}, secretRef: {type: object, required: [name], properties: {name: {type: string}}}}}`))
	cluster.Create(t, foreignCRD("FederatedTypeConfig", "federatedtypeconfigs", "{type: object, properties: {targetType: {type: object, x-kubernetes-preserve-unknown-fields: true}}, x-kubernetes-preserve-unknown-fields: true}"))
	proxy := kubetest.NewProxy(t, cluster)
	plane := install(t, planeOn(t, proxy))
	if !reflect.DeepEqual(plane.CRDs, origins(registry.Adopted)) {
		t.Errorf("it has %v", plane.CRDs)
	}
	// Host and member may be one cluster.
	if _, err := planeOn(t, proxy).Join(t.Context(), connection(proxy), registry.Cluster{Name: "self", Labels: map[string]string{"a": "b"}, DisabledTLSValidations: []string{"SubjectName"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := planeOn(t, proxy).Open(t.Context(), "self"); err != nil {
		t.Error(err)
	}
	if _, err := planeOn(t, proxy).Unjoin(t.Context(), registry.Unjoining{Name: "self"}); err != nil {
		t.Error(err)
	}
	if left, err := planeOn(t, proxy).RemoveControlPlane(t.Context(), fedNamespace); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	for _, name := range registry.CRDNames() {
		if _, there := cluster.Find(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name); !there {
			t.Errorf("%s is gone", name)
		}
	}
}
