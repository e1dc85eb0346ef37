package kubetest

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestProxyRecordsWhatWasAsked(t *testing.T) {
	cluster := lean(t)
	p := NewProxy(t, cluster)
	namespace := cluster.Namespace(t)
	config := p.RESTConfig()
	config.UserAgent = "recorded/1.0"
	config.Impersonate.UserName = "somebody"
	config.Impersonate.Groups = []string{"system:masters"}
	c := throughConfig(t, config, namespace)
	before := time.Now()
	object := tree(t, configMap(namespace, "one", "v"))
	if _, err := c.Apply(t.Context(), "one", object, metav1.ApplyOptions{FieldManager: "m", DryRun: []string{"All"}}); err != nil {
		t.Fatal(err)
	}
	requests := p.Requests()
	if len(requests) != 1 {
		t.Fatalf("recorded %v", requests)
	}
	r := requests[0]
	if r.Verb != Apply || !r.DryRun || r.Write() || !r.Forwarded || r.Status != http.StatusCreated || r.Proto != "HTTP/2.0" {
		t.Errorf("recorded %+v", r)
	}
	if r.Resource != "configmaps" || r.Namespace != namespace || r.Name != "one" || r.Query.Get("fieldManager") != "m" {
		t.Errorf("recorded %+v", r)
	}
	if !bytes.Contains(r.Body, []byte(`"key":"v"`)) {
		t.Errorf("recorded the body %s", r.Body)
	}
	if r.Header.Get("User-Agent") != "recorded/1.0" || r.Header.Get("Impersonate-User") != "somebody" || r.Header.Get("Authorization") != "" {
		t.Errorf("recorded the headers %v", r.Header)
	}
	if r.Start.Before(before) || r.Duration <= 0 {
		t.Errorf("recorded start %s, duration %s", r.Start, r.Duration)
	}
	p.Reset()
	if n := len(p.Requests()); n != 0 {
		t.Errorf("%d requests are left after a reset", n)
	}
}

func TestProxyTellsWritesFromDryRunsAndReads(t *testing.T) {
	cluster := lean(t)
	p := NewProxy(t, cluster)
	namespace := cluster.Namespace(t)
	c := through(t, p, namespace)
	ctx := t.Context()
	all := []string{"All"}
	_, errCreate := c.Create(ctx, tree(t, configMap(namespace, "one", "v")), metav1.CreateOptions{})
	_, errGet := c.Get(ctx, "one", metav1.GetOptions{})
	_, errPatch := c.Patch(ctx, "one", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
	_, errUpdate := c.Update(ctx, tree(t, configMap(namespace, "one", "w")), metav1.UpdateOptions{DryRun: all})
	errTry := c.Delete(ctx, "one", metav1.DeleteOptions{DryRun: all})
	errDelete := c.Delete(ctx, "one", metav1.DeleteOptions{})
	errAll := c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if err := errors.Join(errCreate, errGet, errPatch, errUpdate, errTry, errDelete, errAll); err != nil {
		t.Fatal(err)
	}
	var verbs []Verb
	for _, r := range p.Writes() {
		verbs = append(verbs, r.Verb)
	}
	want := []Verb{Create, Patch, Delete, DeleteCollection}
	if len(verbs) != len(want) {
		t.Fatalf("writes %v, want %v", verbs, want)
	}
	for i := range want {
		if verbs[i] != want[i] {
			t.Fatalf("writes %v, want %v", verbs, want)
		}
	}
	if n := p.Count(func(r Request) bool { return r.DryRun }); n != 2 {
		t.Errorf("%d dry runs, want 2", n)
	}
}

func TestDescribeReadsPaths(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         Request
	}{
		{"GET", "/api", Request{Verb: Discovery}},
		{"GET", "/apis/apps/v1", Request{Verb: Discovery}},
		{"GET", "/api/v1", Request{Verb: Discovery}},
		{"GET", "/version", Request{Verb: Discovery}},
		{"GET", "/readyz", Request{Verb: Other}},
		{"GET", "/api/v1/pods", Request{Verb: List, Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/namespaces", Request{Verb: List, Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/a", Request{Verb: Get, Version: "v1", Resource: "namespaces", Name: "a"}},
		{"PUT", "/api/v1/namespaces/a/finalize", Request{Verb: Update, Version: "v1", Resource: "namespaces", Name: "a", Subresource: "finalize"}},
		{"GET", "/apis/apps/v1/namespaces/a/deployments/b/scale", Request{
			Verb: Get, Group: "apps", Version: "v1", Resource: "deployments", Namespace: "a", Name: "b", Subresource: "scale",
		}},
		{"GET", "/apis/apps/v1/deployments?watch=true", Request{Verb: Watch, Group: "apps", Version: "v1", Resource: "deployments"}},
		{"DELETE", "/api/v1/namespaces/a/pods", Request{Verb: DeleteCollection, Version: "v1", Resource: "pods", Namespace: "a"}},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Request{
			Verb: Create, Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews",
		}},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(r, nil)
			read := Request{
				Verb: got.Verb, Group: got.Group, Version: got.Version, Resource: got.Resource,
				Subresource: got.Subresource, Namespace: got.Namespace, Name: got.Name,
			}
			if read.String() != c.want.String() || read.Group != c.want.Group || read.Version != c.want.Version ||
				read.Resource != c.want.Resource || read.Subresource != c.want.Subresource ||
				read.Namespace != c.want.Namespace || read.Name != c.want.Name {
				t.Errorf("got %+v, want %+v", read, c.want)
			}
			if c.want.Group == "authorization.k8s.io" && got.Write() {
				t.Error("a review is not a write")
			}
		})
	}
}

func TestProxyPassesOnTokensThatAreNotItsOwn(t *testing.T) {
	cluster := Member(t, 1)
	p := NewProxy(t, cluster)
	namespace := cluster.Namespace(t)
	cluster.Create(t, map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"namespace": namespace, "name": "robot"},
	})
	cluster.Create(t, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
		"metadata": map[string]any{
			"namespace": namespace, "name": "robot-token",
			"annotations": map[string]any{"kubernetes.io/service-account.name": "robot"},
		},
	})
	var token []byte
	Eventually(t, func() error {
		var secret struct{ Data struct{ Token []byte } }
		decodeObject(t, cluster.Get(t, "v1", "Secret", namespace, "robot-token"), &secret)
		if token = secret.Data.Token; len(token) == 0 {
			return errors.New("the token has not been issued")
		}
		return nil
	})
	config := p.RESTConfig()
	config.BearerToken = string(token)
	if err := throughConfig(t, config, namespace).get(5 * time.Second); !apierrors.IsForbidden(err) {
		t.Errorf("a service account without rights gets %v, want forbidden", err)
	}
	config.BearerToken = "nonsense"
	if err := throughConfig(t, config, namespace).get(5 * time.Second); !apierrors.IsUnauthorized(err) {
		t.Errorf("an unknown token gets %v, want unauthorized", err)
	}
}

func TestProxyKubeconfigWorksByItsContext(t *testing.T) {
	p := NewProxy(t, lean(t))
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: p.Kubeconfig()}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: p.Name}).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != p.Host() || config.BearerToken != p.Token() || !bytes.Equal(config.CAData, p.CA()) {
		t.Errorf("the kubeconfig says %+v", config)
	}
	throughConfig(t, config, "default").mustGet()
}

func TestProxySpeaksHTTP1(t *testing.T) {
	p := NewProxy(t, lean(t))
	c := throughConfig(t, http1(p), "default")
	c.mustGet()
	if got := p.Requests()[0].Proto; got != "HTTP/1.1" {
		t.Fatalf("spoke %s", got)
	}
	for range 5 {
		p.DropConnections()
		c.mustGet()
	}
	p.Refuse(Times(1))
	if err := c.write("x"); err == nil {
		t.Error("a write passed a fault")
	}
	c.mustGet()
}

// http1 is a configuration that does not offer HTTP/2.
func http1(p *Proxy) *rest.Config {
	config := p.RESTConfig()
	config.NextProtos = []string{"http/1.1"}
	return config
}

func TestProxyPassesWatchesOnAsTheyHappen(t *testing.T) {
	cluster := lean(t)
	p := NewProxy(t, cluster)
	namespace := cluster.Namespace(t)
	for name, config := range map[string]*rest.Config{"HTTP/2": p.RESTConfig(), "HTTP/1.1": http1(p)} {
		t.Run(name, func(t *testing.T) {
			watching, err := throughConfig(t, config, namespace).Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer watching.Stop()
			made := UniqueName(t, "seen")
			cluster.Create(t, configMap(namespace, made, "v"))
			timeout := time.After(5 * time.Second)
			for {
				select {
				case event := <-watching.ResultChan():
					object, err := metaOf(event.Object)
					if err == nil && object.GetName() == made {
						return
					}
				case <-timeout:
					t.Fatal("the event did not come through")
				}
			}
		})
	}
}
