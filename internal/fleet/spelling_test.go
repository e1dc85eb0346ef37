package fleet_test

import (
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

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
