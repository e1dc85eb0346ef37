package fleet_test

import (
	"maps"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// driftCase is what somebody does to an object, and what a refresh says of it.
type driftCase struct {
	template string
	change   string // merge patch
	sub      string // to this subresource
	drift    map[string]string
}

const service = `{apiVersion: v1, kind: Service, metadata: {name: svc}, spec: {selector: {app: web}, ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53}]}}`

const balanced = `{apiVersion: v1, kind: Service, metadata: {name: svc}, spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}}`

const finalized = `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, finalizers: [demo.test/a, demo.test/b]}, data: {a: "1"}}`

const role = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]}`

const secret = `{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: hunter2}}`

var driftCases = map[string]driftCase{
	"nothing":                             {template: configMap},
	"a value of a ConfigMap":              {configMap, `{data: {a: "2"}}`, "", map[string]string{"/data/a": `"2"`}},
	"a key removed":                       {configMap, `{data: {a: null}}`, "", map[string]string{"/data/a": "null"}},
	"a foreign key":                       {configMap, `{data: {c: "2"}}`, "", nil},
	"a foreign label and annotation":      {configMap, `{metadata: {labels: {l: "1"}, annotations: {n: "1"}}}`, "", nil},
	"a value of a Deployment":             {deployment, `{spec: {template: {spec: {containers: [{name: web, image: "nginx:2", env: [{name: B, value: "2"}, {name: A, value: "1"}], ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}]}}}}`, "", map[string]string{"/spec/template/spec/containers/0/image": "nginx:2"}},
	"a list reordered":                    {deployment, `{spec: {template: {spec: {containers: [{name: web, image: "nginx:1", env: [{name: A, value: "1"}, {name: B, value: "2"}], ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}]}}}}`, "", map[string]string{"/spec/template/spec/containers/0/env": `[{"name":"A","value":"1"},{"name":"B","value":"2"}]`}},
	"a sidecar":                           {deployment, `{spec: {template: {spec: {containers: [{name: web, image: "nginx:1", env: [{name: B, value: "2"}, {name: A, value: "1"}], ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}, {name: mesh, image: "mesh:1"}]}}}}`, "", nil},
	"a label removed":                     {deployment, `{metadata: {labels: {team: null}}}`, "", map[string]string{"/metadata/labels/team": "null"}},
	"a label changed":                     {deployment, `{metadata: {labels: {team: z}}}`, "", map[string]string{"/metadata/labels/team": "z"}},
	"restarted":                           {deployment, `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}}}}`, "", nil},
	"scaled":                              {deployment, `{spec: {replicas: 5}}`, "scale", map[string]string{"/spec/replicas": "5"}},
	"status written":                      {deployment, `{status: {observedGeneration: 99}}`, "status", nil},
	"a Service's port":                    {service, `{spec: {ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}, {name: more, port: 80}]}}`, "", nil},
	"a Service's selector":                {service, `{spec: {selector: {app: other}}}`, "", map[string]string{"/spec/selector/app": "other"}},
	"a Service's status":                  {balanced, `{status: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}}`, "status", nil},
	"a finalizer removed":                 {finalized, `{metadata: {finalizers: [demo.test/a]}}`, "", map[string]string{"/metadata/finalizers": `["demo.test/a"]`}},
	"a foreign finalizer":                 {configMap, `{metadata: {finalizers: [demo.test/theirs]}}`, "", nil},
	"a rule of a Role":                    {role, `{rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, "", map[string]string{"/rules": `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`}},
	"a value of a Secret":                 {secret, `{data: {password: bmV3}}`, "", map[string]string{"/data/password": "(sensitive, changed)"}},
	"a foreign value of a Secret":         {secret, `{data: {other: bmV3}}`, "", nil},
	"a value changed and back":            {configMap, ``, "", nil},
	"another manager applies the same":    {configMap, ``, "", nil},
	"another manager applies something":   {configMap, ``, "", nil},
	"the same value written by an Update": {configMap, `{data: {a: "1"}}`, "", nil},
}

// beyond are the cases that take more than a patch.
var beyond = map[string]func(t *testing.T, r *resource){
	"a value changed and back": func(t *testing.T, r *resource) {
		r.patch(t, "a", `{data: {a: "2"}}`)
		r.patch(t, "a", `{data: {a: "1"}}`)
	},
	"another manager applies the same":  func(t *testing.T, r *resource) { r.applyAs(t, "another", `data: {a: "1"}`) },
	"another manager applies something": func(t *testing.T, r *resource) { r.applyAs(t, "another", `data: {x: "1"}`) },
}

// applyAs applies fields to the resource's ConfigMap on member a by another manager.
func (r *resource) applyAs(t *testing.T, manager, fields string) {
	t.Helper()
	name := r.get(t, "a").GetName()
	r.w.clusters["a"].Apply(t, manager, false, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: `+r.w.namespace+`}, `+fields+`}`)
}

func TestDriftIsWhatOthersChangedOfOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, c := range driftCases {
		t.Run(name, func(t *testing.T) {
			r := w.declare(t, c.template)
			r.spec.Template["metadata"].(map[string]any)["name"] = kubetest.UniqueName(t, "x")
			r.must(t)
			r.drifts(t, c.drift, func() {
				if more, ok := beyond[name]; ok {
					more(t, r)
				} else if c.change != "" && c.sub != "" {
					r.patch(t, "a", c.change, c.sub)
				} else if c.change != "" {
					r.patch(t, "a", c.change)
				}
			})
		})
	}
}

// drifts checks what plan and apply make of a change: that it is told exactly, also by the second refresh, and that the apply mends it.
func (r *resource) drifts(t *testing.T, want map[string]string, change func()) {
	t.Helper()
	change()
	defer func() {
		if live, there := r.find(t, "a"); there && len(live.GetFinalizers()) > 0 {
			r.patch(t, "a", `{metadata: {finalizers: null}}`)
		}
	}()
	for range 2 {
		o := r.refresh(t, r.w.run(t))["a"]
		if o.Err != nil || o.Gone || !maps.Equal(o.Drift, want) {
			t.Fatalf("error %v, gone %v, drift %v, want %v", o.Err, o.Gone, o.Drift, want)
		}
		r.record = restored(t, r.record)
	}
	if p := r.plan(t); len(p.findings) > 0 || (len(p.writes) > 0) != (len(want) > 0) {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	if len(want) > 0 {
		r.must(t)
	}
	r.empty(t)
}
