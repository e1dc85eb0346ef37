package member_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// projection is what of a live object is ours.
func projection(t *testing.T, live *unstructured.Unstructured) any {
	t.Helper()
	owned, err := member.Owned(live, manager)
	if err != nil || owned == nil {
		t.Fatalf("we own %v (%v)", owned, err)
	}
	return member.Project(live.Object, owned)
}

func sameJSON(t *testing.T, got any, want string) {
	t.Helper()
	tree, err := federation.DecodeValue(want)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := federation.Canonical(got)
	b, errB := federation.Canonical(tree)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("got  %s\nwant %s (%v, %v)", a, b, errA, errB)
	}
}

// listsOf is a manifest with a list of every sort: merged by one or two keys, with a defaulted key, sets, and whole ones.
const listsOf = `
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      finalizers: [b.test/second, a.test/first]
    spec:
      containers:
      - name: web
        image: nginx:1
        args: [--two, --one]
        ports:
        - {containerPort: 53}
        - {containerPort: 53, protocol: UDP}
        - {containerPort: 80, name: http}
        env: [{name: B, value: "2"}, {name: A, value: "1"}]
        resources: {limits: {cpu: 0.5, memory: "2147483648"}}
      - {name: side, image: "busybox:1"}
      tolerations: [{key: b, operator: Exists}, {key: a, operator: Exists}]
`

func TestProjectionKeepsWhatWeWroteInTheOrderOfTheMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	tree, err := federation.DecodeOne(listsOf)
	if err != nil {
		t.Fatal(err)
	}
	live := w.must(t, deployment, manifest(deployment, tree), member.ApplyOptions{}).Live
	sameJSON(t, projection(t, live), `
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      finalizers: [b.test/second, a.test/first]
    spec:
      containers:
      - name: web
        image: nginx:1
        args: [--two, --one]
        ports:
        - {containerPort: 53}
        - {containerPort: 53, protocol: UDP}
        - {containerPort: 80, name: http}
        env: [{name: B, value: "2"}, {name: A, value: "1"}]
        resources: {limits: {cpu: 500m, memory: "2147483648"}}
      - {name: side, image: "busybox:1"}
      tolerations: [{key: b, operator: Exists}, {key: a, operator: Exists}]
`)
}

func TestProjectionLeavesOutWhatOthersAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	before := w.must(t, deployment, webDeployment(deployment, 2), member.ApplyOptions{}).Live
	w.cluster.MergePatch(t, "apps/v1", "Deployment", w.namespace, "web", `
metadata: {labels: {team: x}, annotations: {note: z}}
spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}}}
`)
	w.cluster.Apply(t, "sidecar", false, manifest(deployment, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "mesh", "image": "mesh:1"}}}}}}))
	text, err := json.Marshal(projection(t, before))
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, projection(t, w.live(t, deployment)), string(text))
}

func TestProjectionShowsEveryChangeOfOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, change := range map[string]string{
		"a list reordered": `[{"op": "move", "from": "/spec/template/spec/containers/0/env/0", "path": "/spec/template/spec/containers/0/env/1"}]`,
		"a value":          `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:2"}]`,
		"an item removed":  `[{"op": "remove", "path": "/spec/template/spec/containers/0/env/1"}]`,
		"a set reordered":  `[{"op": "replace", "path": "/spec/template/metadata/finalizers", "value": ["a.test/first", "b.test/second"]}]`,
		"a whole list":     `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--three"}]`,
		"a label removed":  `[{"op": "remove", "path": "/metadata/labels/team"}]`,
	} {
		deployment := w.object(t, "apps/v1", "Deployment", kubetest.UniqueName(t, "web"))
		tree, err := federation.DecodeOne(listsOf)
		if err != nil {
			t.Fatal(err)
		}
		tree["metadata"] = map[string]any{"labels": map[string]any{"team": "x"}}
		before, err := json.Marshal(projection(t, w.must(t, deployment, manifest(deployment, tree), member.ApplyOptions{}).Live))
		if err != nil {
			t.Fatal(err)
		}
		patched := jsonPatch(t, w.live(t, deployment), change)
		w.cluster.Update(t, patched)
		after, err := json.Marshal(projection(t, w.live(t, deployment)))
		if err != nil {
			t.Fatal(err)
		}
		if string(before) == string(after) {
			t.Errorf("%s: the projection is the same: %s", name, after)
		}
	}
}

func jsonPatch(t *testing.T, o *unstructured.Unstructured, text string) *unstructured.Unstructured {
	t.Helper()
	operations, err := federation.ParseOperations(text)
	if err != nil {
		t.Fatal(err)
	}
	patched, _, err := federation.JSONPatch(o.Object, operations)
	if err != nil {
		t.Fatal(err)
	}
	changed := &unstructured.Unstructured{Object: patched.(map[string]any)}
	changed.SetResourceVersion("") // controllers write too
	return changed
}

func TestServicePortsOfTwoProtocolsAreTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	service := w.object(t, "v1", "Service", "dns")
	ports := []any{map[string]any{"name": "dns", "port": int64(53), "protocol": "UDP"}, map[string]any{"name": "dns-tcp", "port": int64(53), "protocol": "TCP"}}
	live := w.must(t, service, manifest(service, map[string]any{"spec": map[string]any{"ports": ports}}), member.ApplyOptions{}).Live
	sameJSON(t, projection(t, live), `{"spec": {"ports": [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]}}`)
}

func TestEmptyMapsAndListsAreOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.object(t, "networking.k8s.io/v1", "NetworkPolicy", "deny")
	live := w.must(t, policy, manifest(policy, map[string]any{"spec": map[string]any{"podSelector": map[string]any{}, "ingress": []any{map[string]any{}}}}), member.ApplyOptions{}).Live
	sameJSON(t, projection(t, live), `{"spec": {"podSelector": {}, "ingress": [{}]}}`)
}

func TestWeOwnWhatWeWroteAndNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	service := w.object(t, "v1", "Service", "web")
	w.cluster.Apply(t, "theirs", false, manifest(service, map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": 80}}}}))
	live := w.must(t, service, manifest(service, map[string]any{"metadata": map[string]any{"labels": map[string]any{"x": "y"}}}), member.ApplyOptions{}).Live
	sameJSON(t, projection(t, live), `{"metadata": {"labels": {"x": "y"}}}`)
}

func TestLastForeignIsWhoWroteLastBesidesUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	live := w.must(t, cm, data(cm, "a", "1"), member.ApplyOptions{}).Live
	if last, ok := member.LastForeign(live, manager); ok {
		t.Errorf("nobody else has written, and it says %v", last)
	}
	w.cluster.Apply(t, "first", false, data(cm, "b", "1"))
	live = w.cluster.Apply(t, "second", true, data(cm, "a", "2"))
	if last, ok := member.LastForeign(live, "first"); !ok || last.Name != "second" || last.Time.IsZero() {
		t.Errorf("last is %+v (%v)", last, ok)
	}
}

func TestMarkIsReadAsItWasPut(t *testing.T) {
	t.Parallel()
	mark := member.Mark{Owner: "git.example/net/prod", Resource: "0123"}
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}}}}
	if _, ok := member.MarkOf(o); ok {
		t.Error("a mark on an object without")
	}
	mark.Put(o)
	if got, ok := member.MarkOf(o); !ok || got != mark || o.GetLabels()["a"] != "1" {
		t.Errorf("read %+v (%v), labels %v", got, ok, o.GetLabels())
	}
	labels := o.GetLabels()
	labels[member.OwnerLabel] = member.OwnerHash("another")
	o.SetLabels(labels)
	if _, ok := member.MarkOf(o); ok {
		t.Error("label and annotation that do not belong together make no mark")
	}
}
