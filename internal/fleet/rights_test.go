package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// as makes the world act on member a by an account that has a Role in the world's namespace and, if clusterWide, everywhere.
func (w *world) as(t *testing.T, clusterWide bool, rules string) *world {
	t.Helper()
	cluster, account := w.clusters["a"], kubetest.UniqueName(t, "account")
	cluster.Create(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: `+account+`, namespace: `+w.namespace+`}}`)
	kind, in := "Role", `, namespace: `+w.namespace
	if clusterWide {
		kind, in = "ClusterRole", ""
		t.Cleanup(func() {
			cluster.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", account)
			cluster.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", account)
		})
	}
	cluster.Create(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: `+kind+`, metadata: {name: `+account+in+`}, rules: `+rules+`}`)
	cluster.Create(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: `+kind+`Binding, metadata: {name: `+account+in+`},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: `+kind+`, name: `+account+`},
		subjects: [{kind: ServiceAccount, name: `+account+`, namespace: `+w.namespace+`}]}`)
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": account},
		"spec": map[string]any{"expirationSeconds": int64(3600)},
	}}
	accounts := cluster.Dynamic(t).Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"})
	answer, err := accounts.Namespace(w.namespace).Create(t.Context(), request, metav1.CreateOptions{}, "token")
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := unstructured.NestedString(answer.Object, "status", "token")
	other := *w
	other.static = map[string]registry.Static{}
	for name, s := range w.static {
		other.static[name] = s
	}
	s := other.static["a"]
	s.Config = w.proxies["a"].RESTConfig()
	s.Config.BearerToken = token
	other.static["a"] = s
	return &other
}

// inside moves the resource to another world with the same members.
func (r *resource) inside(w *world) *resource {
	moved := *r
	moved.w = w
	return &moved
}

func (w *world) verbs(name string) []string {
	var verbs []string
	for _, q := range w.asked(name) {
		text := string(q.Verb)
		if q.DryRun {
			text += " (dry run)"
		}
		if q.Verb == kubetest.List && q.Namespace == "" {
			text += " everywhere"
		}
		if q.Status == 403 {
			text += ": 403"
		}
		verbs = append(verbs, text)
	}
	return verbs
}

func TestAnAccountThatMayOnlyReadSeesDriftByPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, deployment)
	r.must(t)
	reader := r.inside(w.as(t, true, `[{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]`))
	reader.empty(t)
	r.patch(t, "a", `{spec: {replicas: 5}, metadata: {labels: {theirs: "1"}}}`)
	w.reset()
	o := reader.refresh(t, reader.w.run(t))["a"]
	if o.Err != nil || len(o.Drift) != 1 || o.Drift["/spec/replicas"] != "5" {
		t.Errorf("error %v, drift %v", o.Err, o.Drift)
	}
	if got, want := w.verbs("a"), []string{"list everywhere", "get", "apply (dry run): 403"}; !slices.Equal(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	p := reader.plan(t)
	tells(t, p.findings, "a error: API server refuses apps/Deployment/"+w.namespace+"/web")
	says(t, p.findings, "forbidden")
	if outcome := reader.apply(t); !outcome.Failed() || r.value(t, "a", "/spec/replicas") != int64(5) {
		t.Errorf("the apply says %s", texts(outcome.Findings))
	}
}

func TestAnAccountOfOneNamespaceListsThereAndWithoutListReadsOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	all := w.as(t, false, `[{apiGroups: [""], resources: [configmaps], verbs: [get, list, create, patch, delete]}]`)
	noList := w.as(t, false, `[{apiGroups: [""], resources: [configmaps], verbs: [get, create, patch, delete]}]`)
	for _, c := range []struct {
		w    *world
		want []string
	}{
		{all, []string{"list everywhere: 403", "list"}},
		{noList, []string{"list everywhere: 403", "list: 403", "get", "get"}},
	} {
		one := c.w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
		two := c.w.declare(t, strings.Replace(configMap, "name: cm", "name: "+kubetest.UniqueName(t, "cm"), 1))
		one.must(t)
		two.must(t)
		w.reset()
		f := c.w.run(t)
		for _, r := range []*resource{one, two} {
			if p := r.planIn(t, f); len(p.writes) > 0 || len(p.findings) > 0 || p.seen["a"].Err != nil {
				t.Errorf("the plan writes %v and says %s, error %v", p.writes, texts(p.findings), p.seen["a"].Err)
			}
		}
		if got := w.verbs("a"); !slices.Equal(got, c.want) {
			t.Errorf("sent %v, want %v", got, c.want)
		}
		one.patch(t, "a", `{data: {a: "2"}}`)
		if o := one.refresh(t, c.w.run(t))["a"]; o.Err != nil || len(o.Drift) != 1 {
			t.Errorf("error %v, drift %v", o.Err, o.Drift)
		}
		one.must(t)
		for _, r := range []*resource{one, two} {
			if outcome := r.destroy(t); len(outcome.Findings) > 0 {
				t.Errorf("destroy says %s", texts(outcome.Findings))
			}
		}
	}
}

func TestAnAccountThatMayNotCreateIsRefusedAtThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.as(t, true, `[{apiGroups: [""], resources: [configmaps], verbs: [get, list, patch]}]`).declare(t, configMap)
	p := r.plan(t)
	tells(t, p.findings, "a error: API server refuses core/ConfigMap/"+w.namespace+"/cm")
	says(t, p.findings, "cannot create")
}

func TestARefusedCredentialIsAMemberThatCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	s := w.static["a"]
	s.Config = w.proxies["a"].RESTConfig()
	s.Config.BearerToken = "no such token"
	w.static["a"] = s
	start := time.Now()
	p := r.plan(t)
	if o := p.seen["a"]; o.Err == nil || o.Gone || len(p.writes) > 0 {
		t.Errorf("gone %v, error %v, writes %v", o.Gone, o.Err, p.writes)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s: a refused credential stays refused", took)
	}
	r.spec.Policy.OnUnreachable = fleet.PolicySkip
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	tells(t, r.apply(t).Findings, "a warning: Member cannot be reached")
}
