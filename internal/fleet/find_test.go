package fleet_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

var configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// imported makes the state that an import of what was found leaves, with the configuration that it suggests.
func (w *world) imported(t *testing.T, gvk schema.GroupVersionKind, name string) (*resource, *fleet.Found) {
	t.Helper()
	return w.importedFrom(t, gvk, w.namespace, name)
}

func (w *world) importedFrom(t *testing.T, gvk schema.GroupVersionKind, namespace, name string) (*resource, *fleet.Found) {
	t.Helper()
	found, err := w.run(t).Find(t.Context(), gvk, federation.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	text, err := federation.Encode(found.Template)
	if err != nil {
		t.Fatal(err)
	}
	r := w.declare(t, text)
	r.spec.Placement = on(found.Members...)
	for _, name := range found.Members {
		if patch, differs := found.Patches[name]; differs {
			r.spec.Overrides = append(r.spec.Overrides, only(name, patch))
		}
	}
	r.state, r.record, r.facts = r.spec, restored(t, found.Record), &fleet.Facts{Scope: &found.Scope}
	resolution, _, _ := r.resolve(t, w.run(t))
	for name, c := range r.record.Copies {
		c.Used = resolution.Desired[name].Used
	}
	return r, found
}

func TestImportFindsTheObjectAndWhereItDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	for name, value := range map[string]string{"a": "1", "c": "3"} {
		w.clusters[name].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, labels: {l: x}}, data: {a: "`+value+`"}}`)
	}
	w.reset()
	imported, found := w.imported(t, configMapKind, "cm")
	if !slices.Equal(found.Members, []string{"a", "c"}) || len(found.Findings) > 0 {
		t.Errorf("found on %v: %s", found.Members, texts(found.Findings))
	}
	for _, name := range w.names {
		if writes := w.proxies[name].Writes(); len(writes) > 0 {
			t.Errorf("an import writes %v", writes)
		}
	}
	if data := found.Patches["c"]["data"]; len(found.Patches) != 1 || data.(map[string]any)["a"] != "3" {
		t.Errorf("patches are %v", found.Patches)
	}
	before := map[string]string{"a": r.get(t, "a").GetResourceVersion(), "c": r.get(t, "c").GetResourceVersion()}
	for name, o := range imported.refresh(t, w.run(t)) {
		if o.Err != nil || o.Gone || len(o.Drift) > 0 {
			t.Errorf("member %s: error %v, gone %v, drift %v", name, o.Err, o.Gone, o.Drift)
		}
	}
	imported.must(t)
	for name := range before {
		if _, marked := member.MarkOf(imported.get(t, name)); !marked {
			t.Errorf("the first update does not mark the object on %s", name)
		}
	}
	if a, c := imported.value(t, "a", "/data/a"), imported.value(t, "c", "/data/a"); a != "1" || c != "3" {
		t.Errorf("the first update changes values: %v, %v", a, c)
	}
	imported.empty(t)
}

func TestImportLeavesOutWhatClustersPutIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: Service, metadata: {name: svc, namespace: `+w.namespace+`}, spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}}`)
	_, found := w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "Service"}, "svc")
	text, err := federation.Encode(found.Template)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"nodePort", "clusterIP", "uid", "resourceVersion", "managedFields", "creationTimestamp", "status"} {
		if strings.Contains(text, field) {
			t.Errorf("%s is in the template:\n%s", field, text)
		}
	}
	w.clusters["a"].Create(t, strings.Replace(deployment, "name: web,", "name: web, namespace: "+w.namespace+",", 1))
	_, found = w.imported(t, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "web")
	if annotations, _ := federation.ValueAt(found.Template, "/metadata/annotations"); annotations != nil {
		t.Errorf("annotations are %v", annotations)
	}
}

func TestImportLeavesOutWhatKubernetesWroteForOneCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	claim := map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "pvc", "namespace": w.namespace},
		"spec": map[string]any{"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none", "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}}
	w.clusters["a"].Create(t, claim)
	w.clusters["a"].Apply(t, "kube-controller-manager", false, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: pvc, namespace: `+w.namespace+`}, spec: {volumeName: pv-of-a}}`)
	_, found := w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, "pvc")
	if volume, there := federation.ValueAt(found.Template, "/spec/volumeName"); there {
		t.Errorf("the volume %v is in the template", volume)
	}
}

func TestWhatAConfigurationLacksOfAnImportedObjectGoesAsItsPlanSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, labels: {l: x}}, data: {a: "1", gone: "2"}}`)
	r, _ := w.imported(t, configMapKind, "cm")
	uid := r.get(t, "a").GetUID()
	r.write(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: "1"}}`)
	tells(t, r.plan(t).findings)
	r.must(t)
	if live := r.get(t, "a"); live.GetUID() != uid || r.value(t, "a", "/data/a") != "1" || r.value(t, "a", "/data/gone") != nil || len(live.GetLabels()) != 1 {
		t.Errorf("the member holds %v", live.Object)
	}
	r.empty(t)
}

// TestAnImportedServiceGetsPortsOfItsOwnOnOtherMembers: what one cluster has allocated is not sent to the next, where it may be taken.
func TestAnImportedServiceGetsPortsOfItsOwnOnOtherMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	made := w.clusters["a"].Create(t, `{apiVersion: v1, kind: Service, metadata: {name: svc, namespace: `+w.namespace+`}, spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80}]}}`)
	port, _ := federation.ValueAt(made.Object, "/spec/ports/0/nodePort")
	w.clusters["b"].Create(t, fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: taken, namespace: %s}, spec: {type: NodePort, ports: [{port: 81, nodePort: %d}]}}`, w.namespace, port))
	r, _ := w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "Service"}, "svc")
	r.spec.Placement = on("a", "b")
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	r.must(t)
	if a, b := r.value(t, "a", "/spec/ports/0/nodePort"), r.value(t, "b", "/spec/ports/0/nodePort"); a != port || b == nil || b == port {
		t.Errorf("a had port %v and has %v; b has %v", port, a, b)
	}
	r.empty(t)
}

// TestAnImportLeavesOutTheTokensOfOneMember: the secrets of its accounts, and the volumes from which pods read them.
func TestAnImportLeavesOutTheTokensOfOneMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: `+w.namespace+`}, imagePullSecrets: [{name: registry}],
		secrets: [{name: robot-token-x7k2p}, {name: robot-dockercfg-x7k2p}, {name: mine}]}`)
	_, found := w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, "robot")
	same(t, found.Template, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: `+w.namespace+`}, imagePullSecrets: [{name: registry}], secrets: [{name: mine}]}`)

	const mount = `{name: default-token-abc12, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}`
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: `+w.namespace+`}, spec: {
		volumes: [{name: default-token-abc12, secret: {secretName: default-token-abc12}}, {name: tmp, emptyDir: {}}],
		initContainers: [{name: i, image: x, volumeMounts: [`+mount+`]}],
		containers: [{name: c, image: x, volumeMounts: [{name: tmp, mountPath: /tmp}, `+mount+`]}, {name: d, image: x}]}}`)
	_, found = w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "pod")
	text, err := federation.Encode(found.Template)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"token", "kube-api-access", "serviceaccount", "nodeName"} {
		if strings.Contains(text, word) {
			t.Errorf("the template says %s:\n%s", word, text)
		}
	}
	if !strings.Contains(text, "/tmp") {
		t.Errorf("the volume that is no token's is missing:\n%s", text)
	}
}

// same fails the test unless a tree is what the YAML text says.
func same(t *testing.T, tree map[string]any, want string) {
	t.Helper()
	wanted, err := federation.DecodeOne(want)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tree, wanted) {
		t.Errorf("got %v, want %v", tree, wanted)
	}
}

func TestImportOfAnObjectNobodyHasOrThatSomeCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	id := federation.ID{Kind: "ConfigMap", Namespace: w.namespace, Name: "cm"}
	if _, err := w.run(t).Find(t.Context(), configMapKind, id); err == nil || !strings.Contains(err.Error(), `"a", "b"`) {
		t.Errorf("nobody has it: %v", err)
	}
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}}`)
	w.proxies["b"].Refuse()
	found, err := w.run(t).Find(t.Context(), configMapKind, id)
	if err != nil || !slices.Equal(found.Members, []string{"a"}) {
		t.Fatalf("found on %v (%v)", found.Members, err)
	}
	tells(t, found.Findings, "b warning: Member cannot be reached")
}

func TestImportOfAKindThatNobodyServesSaysWhichAreMeantPerhaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	w.proxies["b"].Refuse()
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "configmaps"}
	found, err := w.run(t).Find(t.Context(), gvk, federation.ID{Kind: gvk.Kind, Namespace: w.namespace, Name: "cm"})
	var unserved *fleet.UnservedError
	if !errors.As(err, &unserved) || len(unserved.Named) != 1 || unserved.Named[0].GVK != configMapKind || !slices.Equal(unserved.Members, []string{"a"}) {
		t.Fatalf("the error is %#v", err)
	}
	tells(t, found.Findings, "b warning: Member cannot be reached")
}

func TestAnImportedCopyOutsideThePlacementIsForgottenNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	for _, name := range w.names {
		w.clusters[name].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}, data: {a: "1"}}`)
	}
	r, _ := w.imported(t, configMapKind, "cm")
	r.spec.Placement = on("a")
	tells(t, r.plan(t).findings, "b warning: Imported object is left where it is")
	r.must(t)
	if there := r.there(t); !slices.Equal(there, w.names) || !slices.Equal(r.record.Members(), []string{"a"}) {
		t.Errorf("the object is on %v, the record has %v", there, r.record.Members())
	}
}
