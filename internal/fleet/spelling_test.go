package fleet_test

import (
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// TestWhatTheServerSpellsOtherwiseIsNoChange: quantities, defaults, empty maps and lists, ports without protocol, whole and keyed lists.
func TestWhatTheServerSpellsOtherwiseIsNoChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, template := range map[string]string{
		"quantities":           strings.Replace(deployment, `image: "nginx:1"`, `image: "nginx:1", resources: {requests: {cpu: 0.5, memory: 1024Mi}, limits: {cpu: "1000m", memory: "2147483648"}}`, 1),
		"empty maps and lists": `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: n, labels: {}}, spec: {podSelector: {}, ingress: [{}], egress: [], policyTypes: [Ingress]}}`,
		"false and zero":       `{apiVersion: v1, kind: Secret, metadata: {name: s}, immutable: false, data: {}}`,
		"ports of a Service":   service,
		"stringData":           secret,
		"a quota":              `{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {requests.cpu: "1.20", pods: 10, count/configmaps: 1000}}}`,
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
	t.Parallel()
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

// TestAnnotationsOfControllersOutliveAnUpdate: what others wrote beside ours is neither drift nor lost; what they made of ours is drift.
func TestAnnotationsOfControllersOutliveAnUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	annotated := strings.Replace(deployment, "labels: {team: x}", "annotations: {team: x}", 1)
	r := w.declare(t, annotated)
	r.must(t)
	r.patch(t, "a", `{metadata: {annotations: {deployment.kubernetes.io/revision: "4"}}, spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}}}}`)
	r.empty(t)
	r.write(t, strings.Replace(annotated, "nginx:1", "nginx:2", 1))
	r.must(t)
	if got := r.value(t, "a", "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"); got != "now" {
		t.Errorf("restartedAt is %v", got)
	}
	if got := r.value(t, "a", "/metadata/annotations/deployment.kubernetes.io~1revision"); got == nil {
		t.Error("the revision is gone")
	}
	r.empty(t)
	r.drifts(t, map[string]string{"/metadata/annotations/team": "theirs"}, func() { r.patch(t, "a", `{metadata: {annotations: {team: theirs}}}`) })
}

// TestAQuantityInOtherWordsIsNoDriftAndAnotherQuantityIs: the version follows from what is written, which the server rewrites.
func TestAQuantityInOtherWordsIsNoDriftAndAnotherQuantityIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	limited := strings.Replace(deployment, `image: "nginx:1"`, `image: "nginx:1", resources: {requests: {cpu: 0.5, memory: 1024Mi}, limits: {cpu: "1000m", memory: "2147483648"}}`, 1)
	r := w.declare(t, limited)
	r.must(t)
	version := r.record.Copies["a"].Version
	if got := r.value(t, "a", limit); got != "1" {
		t.Errorf("the server spells it %v", got)
	}
	r.empty(t)
	limits := func(cpu string) {
		r.editContainer(t, "a", func(container map[string]any) {
			container["resources"].(map[string]any)["limits"].(map[string]any)["cpu"] = cpu
		})
	}
	r.drifts(t, nil, func() { limits("1000m") })
	r.drifts(t, map[string]string{limit: `"2"`}, func() { limits("2") })
	if again := r.record.Copies["a"].Version; again != version {
		t.Errorf("the version was %s and is %s", version, again)
	}
	r.write(t, strings.Replace(limited, "1000m", "2", 1))
	if p := r.plan(t); len(p.writes) != 1 || len(p.findings) > 0 {
		t.Errorf("for another quantity the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	r.empty(t)
}

// TestEmptyMapsAndListsAndFalseAreSentAndAreNoChange: also where the server does not give them back.
func TestEmptyMapsAndListsAndFalseAreSentAndAreNoChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	w.undefine(t, "gadgets."+group)
	for template, sent := range map[string][]string{
		`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: deny}, spec: {podSelector: {}, policyTypes: [Ingress], ingress: []}}`: {`"podSelector":{}`, `"ingress":[]`},
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: empties}, spec: {replicas: 0, paused: false, selector: {matchLabels: {app: e}}, template: {metadata: {labels: {app: e}},
			spec: {volumes: [{name: t, emptyDir: {}}], tolerations: [], containers: [{name: c, image: x, env: [], volumeMounts: [{name: t, mountPath: /t, readOnly: false}]}]}}}}`: {
			`"emptyDir":{}`, `"env":[]`, `"readOnly":false`, `"paused":false`, `"tolerations":[]`, `"replicas":0`,
		},
		strings.Replace(definition(group), "{name: v1, ", "{name: v1, subresources: {status: {}}, additionalPrinterColumns: [], ", 1): {`"status":{}`, `"additionalPrinterColumns":[]`},
	} {
		r := w.declare(t, template)
		w.reset()
		r.must(t)
		writes := w.proxies["a"].Writes()
		for _, part := range sent {
			if len(writes) != 1 || !strings.Contains(string(writes[0].Body), part) {
				t.Errorf("%s is not in what was sent: %s", part, writes)
			}
		}
		r.empty(t)
		r.patch(t, "a", `{metadata: {annotations: {somebody: touched it}}}`) // so that the object is looked at
		r.empty(t)
	}
}

// TestWhatEachClusterAllocatesToAServiceIsNoDifference: nor does it keep the type from being changed.
func TestWhatEachClusterAllocatesToAServiceIsNoDifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const web = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}}`
	r := w.declare(t, web)
	r.must(t)
	allocated := map[any]bool{}
	for _, name := range w.names {
		allocated[r.value(t, name, "/spec/clusterIP")], allocated[r.value(t, name, "/spec/ports/0/nodePort")] = true, true
	}
	if len(allocated) < 4 || allocated[nil] {
		t.Errorf("allocated are %v", allocated)
	}
	r.empty(t)
	r.write(t, strings.Replace(web, "LoadBalancer", "ClusterIP", 1))
	if p := r.plan(t); len(p.findings) > 0 {
		t.Errorf("for another type the plan says %s", texts(p.findings))
	}
	r.must(t)
	for _, name := range w.names {
		if kind, port := r.value(t, name, "/spec/type"), r.value(t, name, "/spec/ports/0/nodePort"); kind != "ClusterIP" || port != nil {
			t.Errorf("member %s: type %v, node port %v", name, kind, port)
		}
	}
	r.empty(t)

	exported := w.declare(t, `{apiVersion: v1, kind: Service, metadata: {name: exported}, spec: {type: NodePort, clusterIP: 10.0.0.7, selector: {app: web}, ports: [{port: 80, nodePort: 31999}]}}`)
	resolution, _, _ := exported.resolve(t, w.run(t))
	says(t, resolution.Findings, "/spec/clusterIP", "/spec/ports/0/nodePort", "each cluster")
	if merged := fleet.Merge(resolution.Findings); len(merged) != 1 {
		t.Errorf("told is %s", texts(merged))
	}
}
