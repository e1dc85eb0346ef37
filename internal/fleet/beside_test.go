package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// TestTheRevisionOfAnExportedDeploymentIsLeftToEachMember: it is left out with one warning, and never fought about.
func TestTheRevisionOfAnExportedDeploymentIsLeftToEachMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	exported := strings.Replace(deployment, "labels: {team: x}}", `labels: {team: x}, annotations: {deployment.kubernetes.io/revision: "3"}}`, 1)
	r := w.declare(t, exported)
	resolution, err := w.run(t).Resolve(t.Context(), r.spec, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if merged := fleet.Merge(resolution.Findings); len(merged) != 1 || merged[0].Error || !strings.Contains(merged[0].Detail, "deployment.kubernetes.io~1revision") {
		t.Errorf("told is %s", texts(merged))
	}
	r.must(t)
	for _, name := range w.names {
		kubetest.Eventually(t, func() error {
			if got := r.value(t, name, "/metadata/annotations/deployment.kubernetes.io~1revision"); got != "1" {
				return fmt.Errorf("%s has revision %v", name, got)
			}
			return nil
		})
	}
	generation := r.get(t, "a").GetGeneration()
	r.empty(t)
	if p := r.plan(t); len(p.writes) > 0 || r.get(t, "a").GetGeneration() != generation {
		t.Errorf("a second plan writes %v", p.writes)
	}
	r.write(t, strings.Replace(exported, "nginx:1", "nginx:2", 1))
	r.must(t)
	kubetest.Eventually(t, func() error {
		if got := r.value(t, "b", "/metadata/annotations/deployment.kubernetes.io~1revision"); got != "2" {
			return fmt.Errorf("b has revision %v", got)
		}
		return nil
	})
	r.empty(t)
}

// TestALabelTakenOutOfTheTemplateGoesAndThoseOfOthersStay: however the object became ours.
func TestALabelTakenOutOfTheTemplateGoesAndThoseOfOthersStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const both, one = `labels: {x: "1", y: "2"}, annotations: {x: "1", y: "2"}`, `labels: {x: "1"}, annotations: {x: "1"}`
	manifest := func(name, metadata string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, namespace: ` + w.namespace + `, ` + metadata + `}}`
	}
	for how, begin := range map[string]func(name string) *resource{
		"created": func(name string) *resource { return w.declare(t, manifest(name, both)) },
		"adopted": func(name string) *resource {
			w.clusters["a"].Create(t, manifest(name, both))
			r := w.declare(t, manifest(name, both))
			r.spec.Policy.OnExisting = fleet.PolicyAdopt
			return r
		},
		"adopted from a tool that applies": func(name string) *resource {
			w.clusters["a"].Apply(t, "Terraform", false, manifest(name, both))
			r := w.declare(t, manifest(name, both))
			r.spec.Policy.OnExisting = fleet.PolicyAdopt
			return r
		},
		"imported": func(name string) *resource {
			w.clusters["a"].Create(t, manifest(name, both))
			r, _ := w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, name)
			return r
		},
	} {
		t.Run(how, func(t *testing.T) {
			name := kubetest.UniqueName(t, "cm")
			r := begin(name)
			if outcome := r.apply(t); outcome.Failed() || outcome.Undone {
				t.Fatalf("the apply says %s", texts(outcome.Findings))
			}
			r.patch(t, "a", `{metadata: {labels: {z: "3"}, annotations: {z: "3"}}}`)
			r.empty(t)
			r.write(t, manifest(name, one))
			if p := r.plan(t); !slices.Equal(p.writes, []string{"a"}) {
				t.Fatalf("the plan writes %v", p.writes)
			}
			r.apply(t)
			for _, kind := range []string{"labels", "annotations"} {
				for key, want := range map[string]any{"x": "1", "y": nil, "z": "3"} {
					if got := r.value(t, "a", "/metadata/"+kind+"/"+key); got != want {
						t.Errorf("%s: %s is %v, want %v", kind, key, got, want)
					}
				}
			}
			r.empty(t)
		})
	}
}

// TestWhatTheServerAndOthersPutBesideOursOutlivesEveryUpdate: defaults, injected containers, owner references, finalizers.
func TestWhatTheServerAndOthersPutBesideOursOutlivesEveryUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.declare(t, deployment)
	r.must(t)
	owner := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: `+w.namespace+`}}`)
	r.patch(t, "a", `{metadata: {finalizers: [demo.test/theirs], ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+string(owner.GetUID())+`}]}}`)
	t.Cleanup(func() { r.patch(t, "a", `{metadata: {finalizers: null}}`) })
	w.clusters["a"].Apply(t, "injector", false, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: `+w.namespace+`},
		spec: {template: {spec: {containers: [`+sidecar+`], volumes: [{name: injected, emptyDir: {}}]}}}}`)
	kept := map[string]any{
		"/metadata/ownerReferences/0/name": "owner", "/metadata/finalizers/0": "demo.test/theirs", "/spec/template/spec/terminationGracePeriodSeconds": int64(30),
		"/spec/template/spec/containers/1/name": "side", "/spec/template/spec/volumes/0/name": "injected", "/spec/strategy/type": "RollingUpdate",
	}
	for _, image := range []string{"nginx:1", "nginx:2"} {
		r.write(t, strings.Replace(deployment, "nginx:1", image, 1))
		if image != "nginx:1" {
			r.must(t)
		}
		r.empty(t)
		for pointer, want := range kept {
			if got := r.value(t, "a", pointer); got != want {
				t.Errorf("%s: %s is %v, want %v", image, pointer, got, want)
			}
		}
	}
}

// TestTheTokenSecretsOfAnAccountAreItsMembersOwn: a member adds them to the account, and nobody takes them away.
func TestTheTokenSecretsOfAnAccountAreItsMembersOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const account = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}`
	r := w.declare(t, account)
	r.must(t)
	r.patch(t, "a", `{secrets: [{name: robot-token-x7k2p}], imagePullSecrets: [{name: robot-dockercfg-x7k2p}]}`)
	r.empty(t)
	r.write(t, strings.Replace(account, "name: robot}", "name: robot, labels: {team: x}}", 1))
	r.must(t)
	secrets, _ := federation.ValueAt(r.get(t, "a").Object, "/secrets/0/name")
	pull, _ := federation.ValueAt(r.get(t, "a").Object, "/imagePullSecrets/0/name")
	if secrets != "robot-token-x7k2p" || pull != "robot-dockercfg-x7k2p" {
		t.Errorf("the account has %v", r.get(t, "a").Object)
	}
	r.empty(t)
}
