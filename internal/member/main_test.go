package member_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// manager is the field manager of the members under test.
const manager = "member-test"

func options() member.Options {
	return member.Options{
		FieldManager: manager, UserAgent: "member-test", RequestTimeout: 20 * time.Second,
		Health: member.HealthCheck{Attempts: 1, Timeout: 10 * time.Second},
	}
}

// dial makes a member of its own, with connections of its own.
func dial(t testing.TB, cfg *rest.Config, o member.Options) *member.Member {
	t.Helper()
	m, err := member.New("eu", cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// world is a member behind a proxy, with a namespace of the test's own.
type world struct {
	*member.Member
	cluster   *kubetest.Cluster
	proxy     *kubetest.Proxy
	namespace string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, kubetest.Member(t, 1))
}

// newWorldOn is newWorld on a cluster of one's own, for what concerns all of it.
func newWorldOn(t testing.TB, cluster *kubetest.Cluster) *world {
	t.Helper()
	proxy := kubetest.NewProxy(t, cluster)
	return &world{dial(t, proxy.RESTConfig(), options()), cluster, proxy, cluster.Namespace(t)}
}

// object names an object of the world's namespace, or of none for a kind without.
func (w *world) object(t testing.TB, apiVersion, kind, name string) member.Object {
	t.Helper()
	kinds, err := w.Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := kinds.Find(schema.FromAPIVersionAndKind(apiVersion, kind))
	if err != nil {
		t.Fatal(err)
	}
	o := member.Object{Kind: found, Name: name}
	if found.Namespaced {
		o.Namespace = w.namespace
	}
	return o
}

func (w *world) configMap(t testing.TB) member.Object { return w.object(t, "v1", "ConfigMap", "cm") }

// live reads an object past the proxy.
func (w *world) live(t testing.TB, o member.Object) *unstructured.Unstructured {
	t.Helper()
	return w.cluster.Get(t, o.Kind.GVK.GroupVersion().String(), o.Kind.GVK.Kind, o.Namespace, o.Name)
}

// must applies a manifest and fails the test if it is refused.
func (w *world) must(t testing.TB, o member.Object, tree map[string]any, apply member.ApplyOptions) *member.Applied {
	t.Helper()
	applied, err := w.Apply(t.Context(), o, tree, apply)
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

// manifest completes a tree by what names an object.
func manifest(o member.Object, tree map[string]any) map[string]any {
	metadata := map[string]any{"name": o.Name}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	if more, ok := tree["metadata"].(map[string]any); ok {
		for key, value := range more {
			metadata[key] = value
		}
	}
	whole := map[string]any{"apiVersion": o.Kind.GVK.GroupVersion().String(), "kind": o.Kind.GVK.Kind}
	for key, value := range tree {
		whole[key] = value
	}
	whole["metadata"] = metadata
	return whole
}

// data is a ConfigMap with these keys and values.
func data(o member.Object, pairs ...string) map[string]any {
	values := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return manifest(o, map[string]any{"data": values})
}
