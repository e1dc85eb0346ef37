package fleet_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestCreateWritesEveryMemberOnceAndTheNextPlanIsEmpty(t *testing.T) {
	w := newWorld(t, 3)
	for _, template := range []string{configMap, deployment} {
		r := w.declare(t, template)
		p := r.plan(t)
		if len(p.findings) > 0 || !slices.Equal(p.writes, w.names) {
			t.Fatalf("the plan writes %v and says %s", p.writes, texts(p.findings))
		}
		w.reset()
		r.must(t)
		for _, name := range w.names {
			if asked := w.asked(name); len(asked) != 1 || !asked[0].Write() {
				t.Errorf("member %s: sent %v, want the write alone", name, asked)
			}
			mark, ok := member.MarkOf(r.get(t, name))
			if !ok || mark.Owner != w.owner || mark.Resource != r.record.Resource {
				t.Errorf("member %s: mark %+v", name, mark)
			}
		}
		r.empty(t)
	}
}

func TestOverridesAreWrittenToTheirMembersAlone(t *testing.T) {
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.spec.Overrides = []fleet.Override{only("b", map[string]any{"data": map[string]any{"a": "2", "b": nil}})}
	r.must(t)
	if a, b := r.value(t, "a", "/data/a"), r.value(t, "b", "/data/a"); a != "1" || b != "2" {
		t.Errorf("a has %v, b has %v", a, b)
	}
	if b := r.value(t, "b", "/data/b"); b != nil {
		t.Errorf("b still has %v", b)
	}
	r.empty(t)
}

func TestARefusedDryRunNamesTheMembersConcernedAndWritesNothing(t *testing.T) {
	w := newWorld(t, 3)
	r := w.declare(t, deployment)
	r.spec.Overrides = []fleet.Override{only("b", map[string]any{"spec": map[string]any{"replicas": int64(-3)}})}
	w.reset()
	p := r.plan(t)
	tells(t, p.findings, "b error: API server refuses apps/Deployment/"+w.namespace+"/web")
	says(t, p.findings, "spec.replicas")
	for _, name := range w.names {
		if writes := w.proxies[name].Writes(); len(writes) > 0 {
			t.Errorf("member %s: %v", name, writes)
		}
	}
}

func TestARefusedWriteUndoesTheCreation(t *testing.T) {
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if !outcome.Undone || !outcome.Failed() {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	says(t, outcome.Findings, "Member b", "was undone")
	if there := r.there(t); len(there) > 0 {
		t.Errorf("left on %v", there)
	}
	w.proxies["b"].Heal()
	r.must(t)
}

// timeless is an object as JSON, without what every write moves.
func timeless(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	o = o.DeepCopy()
	o.SetResourceVersion("")
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	o.SetManagedFields(entries)
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUndoPutsBackWhatWasTakenOver(t *testing.T) {
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	before := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, labels: {l: "1"}}, data: {a: theirs, z: theirs}}`)
	w.proxies["c"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	if outcome := r.apply(t); !outcome.Undone {
		t.Fatalf("not undone: %s", texts(outcome.Findings))
	}
	if there := r.there(t); !slices.Equal(there, []string{"a"}) {
		t.Errorf("the object is on %v", there)
	}
	if got, want := timeless(t, r.get(t, "a")), timeless(t, before); got != want {
		t.Errorf("put back is\n%s\nwas\n%s", got, want)
	}
}

func TestUndoThatCannotBeFinishedKeepsTheStateAndTaintsNothing(t *testing.T) {
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	w.proxies["a"].Status(http.StatusForbidden, kubetest.When(func(q kubetest.Request) bool { return q.Verb == kubetest.Delete }))
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if outcome.Undone || outcome.Failed() {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	says(t, outcome.Findings, "could not be taken back")
	if !slices.Equal(r.record.Members(), []string{"a"}) || outcome.Pending["b"] == "" {
		t.Errorf("the record has %v, pending is %v", r.record.Members(), outcome.Pending)
	}
	w.proxies["a"].Heal()
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

func TestContinueKeepsWhatWasWritten(t *testing.T) {
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	r.spec.Policy.OnFailure = fleet.PolicyContinue
	w.proxies["b"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	if outcome.Undone || outcome.Failed() || outcome.Pending["b"] == "" || !slices.Equal(r.there(t), []string{"a", "c"}) {
		t.Fatalf("undone %v, pending %v: %s", outcome.Undone, outcome.Pending, texts(outcome.Findings))
	}
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

func TestAMemberThatIsDownBeforeTheFirstWriteFailsTheCreationOrIsLeftForLater(t *testing.T) {
	w := newWorld(t, 3)
	w.health = member.HealthCheck{Attempts: 1, Timeout: time.Second}
	r := w.declare(t, configMap)
	w.proxies["b"].Refuse()
	w.reset()
	tells(t, r.plan(t).findings, "b error: Member cannot be reached")
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b error: Member cannot be reached")
	if !outcome.Undone || len(w.proxies["a"].Writes())+len(w.proxies["c"].Writes()) > 0 {
		t.Errorf("undone %v, and written", outcome.Undone)
	}
	r.spec.Policy.OnUnreachable = fleet.PolicySkip
	tells(t, r.plan(t).findings, "b warning: Member cannot be reached")
	outcome = r.apply(t)
	tells(t, outcome.Findings, "b warning: Member cannot be reached")
	if outcome.Pending["b"] == "" || !slices.Equal(r.there(t), []string{"a", "c"}) {
		t.Errorf("pending %v, written %v", outcome.Pending, r.there(t))
	}
	w.proxies["b"].Heal()
	r.must(t)
	r.empty(t)
}

// TestAMemberCutOffWhileItIsWritten: whatever reached the member before the line broke, the next run brings all to one state.
func TestAMemberCutOffWhileItIsWrittenConverges(t *testing.T) {
	for _, policy := range []string{fleet.PolicyStop, fleet.PolicyContinue} {
		for _, lost := range []bool{false, true} {
			w := newWorld(t, 2)
			r := w.declare(t, configMap)
			r.spec.Policy.OnFailure = policy
			fault := w.proxies["b"].CutAfterWrites(1)
			if !lost {
				fault.Heal()
				fault = w.proxies["b"].Refuse(kubetest.When(kubetest.Request.Write))
			}
			outcome := r.apply(t)
			if outcome.Failed() != outcome.Undone {
				t.Errorf("%s, lost %v: an error with a state taints it: %s", policy, lost, texts(outcome.Findings))
			}
			fault.Heal()
			p := r.plan(t)
			if fleet.HasError(p.findings) {
				t.Errorf("%s, lost %v: the next plan says %s", policy, lost, texts(p.findings))
			}
			if outcome = r.apply(t); outcome.Failed() || len(outcome.Pending) > 0 {
				t.Errorf("%s, lost %v: the next apply says %s", policy, lost, texts(outcome.Findings))
			}
			r.empty(t)
			if there := r.there(t); !slices.Equal(there, w.names) {
				t.Errorf("%s, lost %v: the object is on %v", policy, lost, there)
			}
		}
	}
}

func TestALostAnswerIsNoStranger(t *testing.T) {
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	w.proxies["a"].LoseAnswer(kubetest.Times(1))
	outcome := r.apply(t)
	if !outcome.Undone {
		t.Fatalf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
	if there := r.there(t); len(there) > 0 {
		t.Errorf("what was written without an answer is left on %v", there)
	}
	r.must(t)
	r.empty(t)
}

func TestAWriteAnsweredByAServerErrorAfterItWasDoneIsOurs(t *testing.T) {
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.must(t)
	r.record, r.facts = nil, nil // as if nothing of the first answer had arrived
	tells(t, r.plan(t).findings, "a warning: Object of an interrupted run is taken over")
	tells(t, r.apply(t).Findings, "a warning: Object of an interrupted run is taken over")
	r.empty(t)
}

func TestAnInterruptedCreationIsRecordedAndGoesOn(t *testing.T) {
	w := newWorld(t, 3)
	r := w.declare(t, configMap)
	held := w.proxies["b"].Delay(time.Minute, kubetest.When(kubetest.Request.Write))
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		kubetest.Eventually(t, 20*time.Second, func() error {
			if held.Hits() == 0 || len(w.proxies["a"].Writes()) == 0 || len(w.proxies["c"].Writes()) == 0 {
				return errors.New("not all writes are under way")
			}
			return nil
		})
		kubetest.Eventually(t, 20*time.Second, func() error {
			for _, name := range []string{"a", "c"} {
				if w.proxies[name].Writes()[0].Status == 0 {
					return errors.New("not answered")
				}
			}
			return nil
		})
		interrupt()
	}()
	outcome := r.applyIn(ctx, t, w.run(t))
	if outcome.Undone || outcome.Failed() || !slices.Equal(r.there(t), []string{"a", "c"}) || outcome.Pending["b"] == "" {
		t.Fatalf("undone %v, record %v, pending %v: %s", outcome.Undone, r.record.Members(), outcome.Pending, texts(outcome.Findings))
	}
	says(t, outcome.Findings, "Interrupted")
	held.Heal()
	r.must(t)
	r.empty(t)
}

func TestAnObjectOfOthersIsRefusedAtThePlanOrAdopted(t *testing.T) {
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	w.clusters["b"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`}, data: {a: "9", theirs: "1"}}`)
	p := r.plan(t)
	tells(t, p.findings, "b error: Object exists already")
	says(t, p.findings, `"kubetest"`)
	outcome := r.apply(t)
	if !outcome.Undone || len(r.there(t)) != 1 || r.value(t, "b", "/data/a") != "9" {
		t.Fatalf("undone %v, on %v: %s", outcome.Undone, r.there(t), texts(outcome.Findings))
	}
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	p = r.plan(t)
	tells(t, p.findings, "b warning: Existing object is taken over")
	says(t, p.findings, `last written by "kubetest", and becomes ours; values change: /data/a "9" -> "1", /data/b null -> "1".`)
	r.must(t)
	if a, theirs := r.value(t, "b", "/data/a"), r.value(t, "b", "/data/theirs"); a != "1" || theirs != "1" {
		t.Errorf("a is %v, theirs is %v", a, theirs)
	}
	r.empty(t)
	r.write(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {b: "1"}}`)
	r.must(t)
	if a, theirs := r.value(t, "b", "/data/a"), r.value(t, "b", "/data/theirs"); a != nil || theirs != "1" {
		t.Errorf("after dropping a: a is %v, theirs is %v", a, theirs)
	}
}

func TestAnObjectThatOptsOutIsNeverTouched(t *testing.T) {
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	r.spec.Policy.OnExisting = fleet.PolicyAdopt
	before := w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, labels: {kubefed.io/managed: "false"}}}`)
	says(t, r.plan(t).findings, "kubefed.io/managed=false")
	if outcome := r.apply(t); !outcome.Undone {
		t.Errorf("not undone: %s", texts(outcome.Findings))
	}
	if after := r.get(t, "a"); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("the object was written")
	}
}

func TestAnotherConfigurationsObjectIsRefusedEvenWithAdopt(t *testing.T) {
	w := newWorld(t, 1)
	first := w.declare(t, configMap)
	first.must(t)
	other := *w
	other.owner = kubetest.UniqueName(t, "other")
	second := other.declare(t, configMap)
	second.spec.Policy.OnExisting, second.spec.Policy.OnConflict = fleet.PolicyAdopt, fleet.PolicyForce
	p := second.plan(t)
	tells(t, p.findings, "a error: Object exists already")
	says(t, p.findings, w.owner)
	if outcome := second.apply(t); !outcome.Undone {
		t.Errorf("not undone: %s", texts(outcome.Findings))
	}
	first.empty(t)
}

func TestAMissingNamespaceIsAnErrorOrIsMadeAndStays(t *testing.T) {
	w := newWorld(t, 2)
	r := w.declare(t, configMap)
	r.spec.DefaultNamespace = kubetest.UniqueName(t, "only-a")
	w.makeNamespace(t, "a", r.spec.DefaultNamespace)
	tells(t, r.plan(t).findings, "b error: Namespace is missing")
	if outcome := r.apply(t); !outcome.Undone {
		t.Fatalf("not undone: %s", texts(outcome.Findings))
	}
	r.spec.Policy.OnMissingNamespace = fleet.PolicyCreate
	t.Cleanup(func() { w.clusters["b"].Delete(t, "v1", "Namespace", "", r.spec.DefaultNamespace) })
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("with create, the plan says %s", texts(p.findings))
	}
	r.must(t)
	r.empty(t)
	if outcome := r.destroy(t); len(outcome.Findings) > 0 {
		t.Errorf("destroy says %s", texts(outcome.Findings))
	}
	if ns := w.clusters["b"].Get(t, "v1", "Namespace", "", r.spec.DefaultNamespace); ns.GetDeletionTimestamp() != nil {
		t.Error("destroy deleted the namespace")
	}
}

func TestCreationWaitsForATerminatingObject(t *testing.T) {
	w := newWorld(t, 1)
	r := w.declare(t, configMap)
	w.clusters["a"].Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+w.namespace+`, finalizers: [demo.test/hold]}}`)
	r.remove(t, "a")
	p := r.plan(t)
	tells(t, p.findings, "a warning: Object is being deleted")
	says(t, p.findings, "demo.test/hold", "waits")
	go func() {
		kubetest.Eventually(t, 20*time.Second, func() error {
			if len(w.proxies["a"].Writes()) == 0 {
				return errors.New("the apply has not begun")
			}
			return nil
		})
		r.patch(t, "a", `{metadata: {finalizers: null}}`)
	}()
	w.reset()
	r.must(t)
	r.empty(t)
}

func TestServerWarningsAreToldOnceAtThePlan(t *testing.T) {
	w := newWorld(t, 2)
	for _, name := range w.names {
		w.clusters[name].MergePatch(t, "v1", "Namespace", "", w.namespace, `{metadata: {labels: {pod-security.kubernetes.io/warn: restricted}}}`)
	}
	r := w.declare(t, deployment)
	merged := fleet.Merge(r.plan(t).findings)
	if len(merged) != 1 || merged[0].Error || !slices.Equal(merged[0].Members, w.names) || !strings.Contains(merged[0].Detail, "PodSecurity") {
		t.Errorf("told is %s", texts(merged))
	}
	r.must(t)
}

// TestWhatTheServerSpellsOtherwiseIsNoChange: quantities, defaults, empty maps and lists, ports without protocol, whole and keyed lists.
func TestWhatTheServerSpellsOtherwiseIsNoChange(t *testing.T) {
	w := newWorld(t, 1)
	for name, template := range map[string]string{
		"quantities":           strings.Replace(deployment, `image: "nginx:1"`, `image: "nginx:1", resources: {requests: {cpu: 0.5, memory: 1024Mi}, limits: {cpu: "1000m", memory: "2147483648"}}`, 1),
		"empty maps and lists": `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: n, labels: {}}, spec: {podSelector: {}, ingress: [{}], egress: [], policyTypes: [Ingress]}}`,
		"false and zero":       `{apiVersion: v1, kind: Secret, metadata: {name: s}, immutable: false, data: {}}`,
		"ports of a Service":   service,
		"stringData":           secret,
		"a quota":              `{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {requests.cpu: 1000m, pods: 10}}}`,
		"a Job":                `{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}`,
		"a headless Service":   `{apiVersion: v1, kind: Service, metadata: {name: h}, spec: {clusterIP: None, ports: [{port: 80, targetPort: web}]}}`,
		"an HPA":               `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}}`,
	} {
		r := w.declare(t, template)
		r.rename(t, kubetest.UniqueName(t, "x"))
		if p := r.plan(t); len(p.findings) > 0 {
			t.Errorf("%s: the plan says %s", name, texts(p.findings))
		}
		r.must(t)
		r.empty(t)
		r.patch(t, "a", `{metadata: {annotations: {somebody: touched it}}}`) // moves the resourceVersion, so that the object is looked at
		r.empty(t)
	}
}

// TestNodePortsAndHealthCheckPortsOfAServiceAreKept: the template names none, and may be reordered.
func TestNodePortsAndHealthCheckPortsOfAServiceAreKept(t *testing.T) {
	w := newWorld(t, 1)
	const web = `{apiVersion: v1, kind: Service, metadata: {name: lb}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{name: http, port: 80}, {name: https, port: 443}]}}`
	r := w.declare(t, web)
	r.must(t)
	before := r.get(t, "a").Object["spec"].(map[string]any)
	r.write(t, strings.Replace(web, "{name: http, port: 80}, {name: https, port: 443}", "{name: https, port: 443}, {name: http, port: 80}", 1))
	r.must(t)
	after := r.get(t, "a").Object["spec"].(map[string]any)
	ports := map[any]any{}
	for _, p := range before["ports"].([]any) {
		ports[p.(map[string]any)["name"]] = p.(map[string]any)["nodePort"]
	}
	for _, p := range after["ports"].([]any) {
		port := p.(map[string]any)
		if port["nodePort"] == nil || ports[port["name"]] != port["nodePort"] {
			t.Errorf("port %v had node port %v and has %v", port["name"], ports[port["name"]], port["nodePort"])
		}
	}
	if before["healthCheckNodePort"] == nil || before["healthCheckNodePort"] != after["healthCheckNodePort"] {
		t.Errorf("the health check had node port %v and has %v", before["healthCheckNodePort"], after["healthCheckNodePort"])
	}
	r.empty(t)
}

// TestAnnotationsOfControllersOutliveAnUpdate: what others wrote beside ours is neither drift nor lost.
func TestAnnotationsOfControllersOutliveAnUpdate(t *testing.T) {
	w := newWorld(t, 1)
	r := w.declare(t, deployment)
	r.must(t)
	r.patch(t, "a", `{metadata: {annotations: {deployment.kubernetes.io/revision: "4"}}, spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}}}}`)
	r.empty(t)
	r.write(t, strings.Replace(deployment, "nginx:1", "nginx:2", 1))
	r.must(t)
	if got := r.value(t, "a", "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"); got != "now" {
		t.Errorf("restartedAt is %v", got)
	}
	if got := r.value(t, "a", "/metadata/annotations/deployment.kubernetes.io~1revision"); got == nil {
		t.Error("the revision is gone")
	}
	r.empty(t)
}
