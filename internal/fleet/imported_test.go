package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// existing makes a ConfigMap on all members as somebody else would.
func (w *world) existing(t *testing.T, name string) {
	t.Helper()
	for _, cluster := range w.clusters {
		cluster.Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: `+w.namespace+`}, data: {a: "1", b: "1"}}`)
	}
}

// unchanged fails the test if a refresh finds anything.
func (r *resource) unchanged(t *testing.T) {
	t.Helper()
	for name, o := range r.refresh(t, r.w.run(t)) {
		if o.Err != nil || o.Gone || len(o.Drift) > 0 {
			t.Errorf("member %s: error %v, gone %v, drift %v", name, o.Err, o.Gone, o.Drift)
		}
	}
}

// another is the same objects in the configuration of another owner, which takes over what it finds.
func (r *resource) another(t *testing.T, owner string) *resource {
	t.Helper()
	w := *r.w
	w.owner = owner
	other := &resource{w: &w, spec: r.spec}
	other.spec.Policy.OnExisting = fleet.PolicyAdopt
	return other
}

func TestDriftOfAnImportedCopyIsFoundAndMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.existing(t, "cm")
	r, _ := w.imported(t, configMapKind, "cm")
	_, change, _ := r.resolve(t, w.run(t))
	for name, c := range r.record.Copies {
		c.Version = change.Versions[name]
	}
	r.empty(t)
	r.patch(t, "a", `{data: {a: theirs, more: theirs}, metadata: {labels: {l: theirs}}}`)
	p := r.plan(t)
	if o := p.seen["a"]; len(o.Drift) != 1 || o.Drift["/data/a"] != "theirs" || !strings.HasPrefix(o.Changed, "kubetest") {
		t.Errorf("drift is %v, changed by %q, error %v", o.Drift, o.Changed, o.Err)
	}
	if !slices.Equal(p.writes, []string{"a"}) || len(p.findings) > 0 {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	if _, marked := member.MarkOf(r.get(t, "a")); !marked || r.value(t, "a", "/data/a") != "1" || r.value(t, "a", "/data/more") != "theirs" {
		t.Errorf("the member holds %v", r.get(t, "a").Object)
	}
	if _, marked := member.MarkOf(r.get(t, "b")); marked {
		t.Error("the copy without drift is written too")
	}
	r.empty(t)
	r.patch(t, "b", `{data: {a: theirs}}`)
	r.refresh(t, w.run(t))
	r.patch(t, "b", `{data: {a: "1"}}`)
	r.empty(t)
}

func TestDriftOfAnImportedSecretShowsNoValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: `+w.namespace+`}, data: {password: aHVzaC1odXNo}}`)
	r, _ := w.imported(t, schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "s")
	r.patch(t, "a", `{data: {password: b3RoZXI=}}`)
	if o := r.refresh(t, w.run(t))["a"]; len(o.Drift) != 1 || o.Drift["/data/password"] != "(sensitive, changed)" {
		t.Errorf("drift is %v, error %v", o.Drift, o.Err)
	}
}

func TestAnImportWithoutAnyChangeHasNoDriftWhateverTheKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	role := kubetest.UniqueName(t, "fleet")
	t.Cleanup(func() { w.clusters["a"].Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", role) })
	pod := `template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: nginx, ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m, memory: 1024Mi}}, args: []}]}}`
	for _, text := range []string{
		`{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: x}}, ` + pod + `}}`,
		`{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: x, selector: {matchLabels: {app: x}}, ` + pod + `}}`,
		`{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "* * * * *", suspend: true, jobTemplate: {spec: {` + strings.Replace(pod, "spec: {", "spec: {restartPolicy: Never, ", 1) + `}}}}`,
		`{apiVersion: v1, kind: Service, spec: {type: NodePort, selector: {app: x}, ports: [{name: a, port: 80}, {name: b, port: 443, targetPort: 8443}]}}`,
		`{apiVersion: v1, kind: Secret, stringData: {a: b}}`,
		`{apiVersion: v1, kind: ServiceAccount}`,
		`{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, default: {cpu: "0.5"}}]}}`,
		`{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}`,
		`{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {rules: [{host: x.test, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: x, port: {number: 80}}}}]}}]}}`,
		`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, ingress: [{}]}}`,
		`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}}}`,
		`{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 50%, selector: {matchLabels: {app: x}}}}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ` + role + `}, rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]}`,
	} {
		tree, err := federation.DecodeOne(text)
		if err != nil {
			t.Fatal(err)
		}
		apiVersion, kind := tree["apiVersion"].(string), tree["kind"].(string)
		name, namespace := role, ""
		if kind != "ClusterRole" {
			name, namespace = "x", w.namespace
			tree["metadata"] = map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{"app": "x"}, "annotations": map[string]any{"a": ""}}
		}
		w.clusters["a"].Create(t, tree)
		r, found := w.importedFrom(t, schema.FromAPIVersionAndKind(apiVersion, kind), namespace, name)
		if len(found.Findings) > 0 {
			t.Errorf("%s: the import says %s", kind, texts(found.Findings))
		}
		if o := r.refresh(t, w.run(t))["a"]; o.Err != nil || o.Gone || len(o.Drift) > 0 {
			t.Errorf("%s: error %v, gone %v, drift %v", kind, o.Err, o.Gone, o.Drift)
		}
	}
}

func TestAnImportedObjectThatAnotherConfigurationTookIsNeitherWrittenNorDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, orphan := range []bool{false, true} {
		name := kubetest.UniqueName(t, "cm")
		w.existing(t, name)
		r, _ := w.imported(t, configMapKind, name)
		r.spec.Deletion.Orphan = orphan
		r.state.Deletion.Orphan = orphan
		other := r.another(t, kubetest.UniqueName(t, "other"))
		other.must(t)
		var foreign *fleet.ForeignError
		if o := r.refresh(t, w.run(t))["a"]; !errors.As(o.Err, &foreign) || foreign.Owner != other.w.owner || o.Gone {
			t.Errorf("the refresh says %v, gone %v", o.Err, o.Gone)
		}
		r.write(t, strings.ReplaceAll(configMap, "name: cm", "name: "+name+", labels: {l: ours}"))
		p := r.plan(t)
		tells(t, p.findings, "a error: Object exists already")
		says(t, p.findings, other.w.owner)
		tells(t, r.apply(t).Findings, "a error: Object exists already")
		outcome := r.destroy(t)
		tells(t, outcome.Findings, "a warning: "+r.id(t)+" is left behind")
		says(t, outcome.Findings, `belongs to the configuration with owner "`+other.w.owner)
		if len(r.record.Members()) > 0 {
			t.Errorf("left in the state are %v", r.record.Members())
		}
		other.empty(t)
	}
}

func TestAnImportedObjectThatAnotherResourceTookIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.existing(t, "cm")
	r, _ := w.imported(t, configMapKind, "cm")
	other := r.another(t, w.owner)
	other.must(t)
	var twice *fleet.DeclaredTwiceError
	if o := r.refresh(t, w.run(t))["a"]; !errors.As(o.Err, &twice) {
		t.Errorf("the refresh says %v", o.Err)
	}
	tells(t, r.destroy(t).Findings, "a warning: "+r.id(t)+" is left behind")
	other.empty(t)
}

func TestAnImportTakesAnObjectOverFromAnotherConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	first := w.declare(t, configMap)
	first = first.another(t, kubetest.UniqueName(t, "other"))
	first.must(t)
	r, found := w.imported(t, configMapKind, "cm")
	tells(t, found.Findings, "a warning: core/ConfigMap/"+w.namespace+"/cm is taken over")
	says(t, found.Findings, first.w.owner, "destroy = false")
	r.unchanged(t)
	untouched := *r
	untouched.record = restored(t, r.record)
	tells(t, untouched.destroy(t).Findings, "a warning: "+r.id(t)+" is left behind")

	r.write(t, strings.Replace(configMap, `a: "1", b: "1"`, `a: "2"`, 1))
	if p := r.plan(t); len(p.findings) > 0 || !slices.Equal(p.writes, []string{"a"}) {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	if mark, _ := member.MarkOf(r.get(t, "a")); mark != (member.Mark{Owner: w.owner, Resource: r.record.Resource}) || r.value(t, "a", "/data/b") != nil {
		t.Errorf("the first change leaves the mark %v, and b %v", mark, r.value(t, "a", "/data/b"))
	}
	r.empty(t)
	var foreign *fleet.ForeignError
	if o := first.refresh(t, first.w.run(t))["a"]; !errors.As(o.Err, &foreign) || foreign.Owner != w.owner {
		t.Errorf("the refresh of the former owner says %v", o.Err)
	}
	r.destroy(t)
	if there := r.there(t); len(there) > 0 {
		t.Errorf("the object is still on %v", there)
	}
}

func TestWhatAStateLetGoOfIsImportedAgainWithItsOldMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	first := w.declare(t, configMap)
	first.must(t)
	r, _ := w.imported(t, configMapKind, "cm")
	r.unchanged(t)
	onB := *r
	onB.record = restored(t, r.record)
	delete(onB.record.Copies, "a")
	if outcome := onB.destroy(t); len(outcome.Findings) > 0 || !slices.Equal(r.there(t), []string{"a"}) {
		t.Errorf("deleted before the first update: on %v, %s", r.there(t), texts(outcome.Findings))
	}
	delete(r.record.Copies, "b")
	r.spec.Placement = on("a")
	r.must(t)
	if mark, _ := member.MarkOf(r.get(t, "a")); mark.Resource != r.record.Resource {
		t.Errorf("the first update leaves the mark %v", mark)
	}
	r.empty(t)
}

// TestAnImportedCopyWhoseFirstWriteWasNotAnsweredIsOurs: it carries our mark although the record still has it as imported.
func TestAnImportedCopyWhoseFirstWriteWasNotAnsweredIsOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.existing(t, "cm")
	r, _ := w.imported(t, configMapKind, "cm")
	before := restored(t, r.record)
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	state := r.state
	r.must(t)
	r.record, r.state = before, state
	p := r.plan(t)
	if r.record.Copies["a"].Foreign || len(p.findings) > 0 || !slices.Equal(p.writes, []string{"a"}) {
		t.Errorf("imported still: %v; the plan writes %v and says %s", r.record.Copies["a"].Foreign, p.writes, texts(p.findings))
	}
	r.must(t)
	r.empty(t)
}
