package provider_test

import "maps"

// randomKind is a kind of which the random test makes objects.
type randomKind struct {
	apiVersion, kind string
	clusterScoped    bool
	apart            bool               // lives in the namespace for what limits other objects
	skeleton         func(n names) tree // what every object of the kind has, besides its identity; nil = nothing
	knobs            []*knob            // what differs from object to object
	lists            []place            // lists told apart by key, whose order is ours
}

type tree = map[string]any

type seq = []any

// names are those that objects may refer to.
type names struct{ object, namespace, group string }

// id names the kind in texts.
func (k randomKind) id() string { return k.apiVersion + " " + k.kind }

// metadataKnobs are on objects of every kind.
func metadataKnobs() []*knob {
	return []*knob{
		turn("/metadata/labels/tier", labelValue, exact, as(byLabels)),
		turn("/metadata/labels/app.kubernetes.io~1part-of", labelValue, exact, as(byLabels)),
		texts("/metadata/annotations/on", as(byAnnotations)),
		texts("/metadata/annotations/example.com~1a.note_1", as(byAnnotations)),
	}
}

// plainKinds are those without pods in them.
func plainKinds(group string) []randomKind {
	kinds := []randomKind{
		{apiVersion: "v1", kind: "ConfigMap", knobs: []*knob{
			texts("/data/a"), texts("/data/b"), texts("/data/dotted.key_-1"), turn("/data/config.yaml", document, as(byEmbedded), func(k *knob) { k.same = sameYAML }),
			turn("/binaryData/bin", encoded, exact), turn("/immutable", of(false)),
		}},
		{apiVersion: "v1", kind: "Secret", skeleton: fields(tree{"type": "Opaque"}), knobs: []*knob{
			turn("/data/password", encoded, exact), turn("/data/tls.key", encoded, exact), turn("/data/none", encoded, exact), turn("/immutable", of(false)),
		}},
		service(),
		{apiVersion: "v1", kind: "ServiceAccount", knobs: []*knob{
			turn("/automountServiceAccountToken", of(true, false), exact),
			turn("/imagePullSecrets", of(seq{}, seq{tree{"name": "regcred"}}, seq{tree{"name": "other"}, tree{"name": "regcred"}})),
			turn("/secrets/[name=token-a]", of(tree{"name": "token-a"})), turn("/secrets/[name=token-b]", of(tree{"name": "token-b"})),
		}, lists: []place{at("/secrets")}},
		{apiVersion: "v1", kind: "PersistentVolumeClaim",
			skeleton: fields(tree{"spec": tree{"accessModes": seq{"ReadWriteOnce"}, "storageClassName": "none-such", "resources": tree{"requests": tree{"storage": "1024Mi"}}}}),
			knobs: []*knob{
				turn("/spec/volumeMode", of("Filesystem", "Block"), fixed, defaulted),
				turn("/spec/selector", of(tree{}, tree{"matchLabels": tree{"disk": "yes"}}), fixed),
			}},
		{apiVersion: "v1", kind: "ResourceQuota", apart: true, knobs: []*knob{
			turn("/spec/hard/pods", of(1000, "1000", "1k", "2000"), quantities), turn("/spec/hard/requests.cpu", of("1000", "1000000m", "2k", "0.5"), quantities),
			turn("/spec/hard/count~1widgets."+group, of(100000, "200k"), quantities),
		}},
		{apiVersion: "v1", kind: "LimitRange", apart: true, knobs: []*knob{
			turn("/spec/limits", of(seq{tree{"type": "Container", "default": tree{"cpu": "0.5"}}}, seq{tree{"type": "PersistentVolumeClaim", "max": tree{"storage": "1024Gi"}}},
				seq{tree{"type": "Container", "default": tree{"memory": "1024Mi"}, "defaultRequest": tree{"memory": "0.5Gi"}}, tree{"type": "Pod", "max": tree{"cpu": "1000"}}}), needed, quantitiesInside),
		}},
		{apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", knobs: networkPolicyKnobs()},
		{apiVersion: "networking.k8s.io/v1", kind: "Ingress", skeleton: fields(tree{"spec": tree{"defaultBackend": tree{"service": tree{"name": "web", "port": tree{"number": 80}}}}}), knobs: ingressKnobs()},
		{apiVersion: "policy/v1", kind: "PodDisruptionBudget", skeleton: fields(tree{"spec": tree{"selector": tree{"matchLabels": tree{"app": "none"}}}}), knobs: []*knob{
			turn("/spec/minAvailable", of(0, 1, "50%", "100%", 3), exact), turn("/spec/unhealthyPodEvictionPolicy", of("AlwaysAllow", "IfHealthyBudget")),
		}},
		{apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler",
			skeleton: fields(tree{"spec": tree{"scaleTargetRef": tree{"apiVersion": "apps/v1", "kind": "Deployment", "name": "none-such"}}}), knobs: autoscalerKnobs()},
		{apiVersion: "coordination.k8s.io/v1", kind: "Lease", knobs: []*knob{
			turn("/spec/holderIdentity", of("yes", "node-1", "ünïcödé", "1e3")), turn("/spec/leaseDurationSeconds", of(1, 30, 3600)),
			turn("/spec/renewTime", of("2024-02-29T12:00:00.000000Z", "2024-02-29T12:00:00.123456Z")), turn("/spec/leaseTransitions", of(0, 7), exact),
		}},
		{apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", skeleton: fields(tree{"addressType": "IPv4"}), knobs: []*knob{
			turn("/endpoints", of(seq{}, seq{tree{"addresses": seq{"10.1.2.3"}}}, seq{tree{"addresses": seq{"10.1.2.4"}, "conditions": tree{"ready": false}}, tree{"addresses": seq{"10.1.2.3"}, "hostname": "on"}}), needed),
			turn("/ports", of(seq{}, seq{tree{"name": "dns", "protocol": "UDP", "port": 53}}, seq{tree{"name": "", "port": 80, "appProtocol": "http"}})),
		}},
		{apiVersion: "v1", kind: "Namespace", clusterScoped: true},
	}
	return append(append(kinds, rbacKinds()...), clusterKinds()...)
}

// fields is a skeleton that is always the same.
func fields(t tree) func(names) tree {
	return func(names) tree { return copied(t).(tree) }
}

// merged is a map with more in it.
func merged(a, b tree) tree {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// quantitiesInside compares lists of limits by what they amount to: the API server spells quantities its own way.
func quantitiesInside(k *knob) { k.same = sameLimits }

func sameLimits(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, _ := b.(map[string]any)
		for key, value := range y {
			if have, there := x[key]; !there || !sameLimits(have, value) {
				return false
			}
		}
		return y != nil
	case []any:
		y, _ := b.([]any)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameLimits(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return a == b || sameQuantity(a, b)
}
