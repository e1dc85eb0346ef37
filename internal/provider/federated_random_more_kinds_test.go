package provider_test

// service has several ports, of which two differ in nothing but the protocol.
func service() randomKind {
	return randomKind{apiVersion: "v1", kind: "Service", skeleton: fields(tree{"spec": tree{
		"selector": tree{"app": "web"}, // API servers want two families of addresses for a headless Service without one
		"ports":    seq{tree{"name": "web", "port": 80}}}}), knobs: []*knob{
		turn("/spec/ports/[port=80,protocol=TCP]/targetPort", of("web", 8080, "http-alt", 9090), defaulted),
		turn("/spec/ports/[port=80,protocol=TCP]/appProtocol", of("http", "kubernetes.io/h2c")),
		turn("/spec/ports/[port=53,protocol=UDP]", of(tree{"name": "dns-udp", "port": 53, "protocol": "UDP"}, tree{"name": "dns-udp", "port": 53, "protocol": "UDP", "targetPort": 5353})),
		turn("/spec/ports/[port=53,protocol=TCP]", of(tree{"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": "dns"}, tree{"name": "dns", "port": 53, "protocol": "TCP", "targetPort": 53})),
		turn("/spec/ports/[port=8080,protocol=TCP]", of(tree{"name": "alt", "port": 8080}, tree{"name": "on", "port": 8080, "targetPort": "yes"})),
		turn("/spec/selector/on", of("yes", "")),
		turn("/spec/selector/example.com~1app", of("")),
		turn("/spec/publishNotReadyAddresses", of(true, false)),
		turn("/spec/internalTrafficPolicy", of("Cluster", "Local"), defaulted),
		turn("/spec/clusterIP", of("None"), fixed, defaulted),
	}, lists: []place{at("/spec/ports")}}
}

func networkPolicyKnobs() []*knob {
	rules := func(peers string) drawing {
		return of(seq{}, seq{tree{}}, seq{tree{peers: seq{tree{"namespaceSelector": tree{}}}}},
			seq{tree{"ports": seq{tree{"port": 53, "protocol": "UDP"}, tree{"port": 53, "protocol": "TCP"}}}, tree{peers: seq{tree{"ipBlock": tree{"cidr": "10.0.0.0/8", "except": seq{"10.1.0.0/16"}}}}}})
	}
	return []*knob{
		turn("/spec/podSelector", of(tree{}, tree{"matchLabels": tree{"app": "web"}}, tree{"matchExpressions": seq{tree{"key": "app", "operator": "In", "values": seq{"yes", "on"}}}}), needed),
		turn("/spec/ingress", rules("from")), turn("/spec/egress", rules("to")),
		turn("/spec/policyTypes", of(seq{"Ingress"}, seq{"Egress"}, seq{"Ingress", "Egress"}), defaulted),
	}
}

func ingressKnobs() []*knob {
	backend := func(port tree) tree { return tree{"service": tree{"name": "web", "port": port}} }
	return []*knob{
		turn("/spec/ingressClassName", of("nginx", "on")),
		turn("/spec/defaultBackend/service/name", of("web", "yes", "fallback"), needed),
		turn("/spec/rules", of(seq{}, seq{tree{"host": "example.com"}}, seq{tree{"http": tree{"paths": seq{tree{"path": "/a~b", "pathType": "Prefix", "backend": backend(tree{"name": "http"})},
			tree{"path": "/", "pathType": "Exact", "backend": backend(tree{"number": 8080})}}}}})),
		turn("/spec/tls", of(seq{}, seq{tree{"hosts": seq{"example.com", "a.example.com"}, "secretName": "tls"}}, seq{tree{"secretName": "on"}})),
	}
}

func autoscalerKnobs() []*knob {
	resource := func(value int) tree {
		return tree{"type": "Resource", "resource": tree{"name": "cpu", "target": tree{"type": "Utilization", "averageUtilization": value}}}
	}
	return []*knob{
		turn("/spec/minReplicas", of(1, 2), defaulted), turn("/spec/maxReplicas", of(3, 10), needed),
		turn("/spec/metrics", of(seq{resource(50)}, seq{resource(80), tree{"type": "Resource", "resource": tree{"name": "memory", "target": tree{"type": "AverageValue", "averageValue": "1Gi"}}}}), defaulted),
		turn("/spec/behavior/scaleDown/stabilizationWindowSeconds", of(0, 60, 300), defaulted, exact),
	}
}

func rbacKinds() []randomKind {
	rules := of(seq{}, seq{tree{"apiGroups": seq{""}, "resources": seq{"pods", "pods/log"}, "verbs": seq{"get", "list"}}},
		seq{tree{"apiGroups": seq{"", "apps"}, "resources": seq{"*"}, "verbs": seq{"*"}}, tree{"apiGroups": seq{""}, "resources": seq{"secrets"}, "resourceNames": seq{"yes", "on"}, "verbs": seq{"get"}}})
	subjects := of(seq{}, seq{tree{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ann:on/yes"}},
		seq{tree{"kind": "ServiceAccount", "name": "default", "namespace": "default"}, tree{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:masters~1"}})
	binding := fields(tree{"roleRef": tree{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "none-such"}})
	const version = "rbac.authorization.k8s.io/v1"
	return []randomKind{
		{apiVersion: version, kind: "Role", knobs: []*knob{turn("/rules", rules)}},
		{apiVersion: version, kind: "RoleBinding", skeleton: binding, knobs: []*knob{turn("/subjects", subjects)}},
		{apiVersion: version, kind: "ClusterRole", clusterScoped: true, knobs: []*knob{turn("/rules", rules)}},
		{apiVersion: version, kind: "ClusterRoleBinding", clusterScoped: true, skeleton: binding, knobs: []*knob{turn("/subjects", subjects)}},
	}
}

// clusterKinds live in no namespace, and are such that nothing else heeds them.
func clusterKinds() []randomKind {
	toleration := tree{"key": "on", "operator": "Exists", "effect": "NoSchedule"}
	return []randomKind{
		{apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", clusterScoped: true, knobs: []*knob{
			turn("/value", of(0, -1000, 1000000000), needed, fixed, exact), turn("/description", text), turn("/globalDefault", of(false)),
			turn("/preemptionPolicy", of("Never", "PreemptLowerPriority"), fixed, defaulted),
		}},
		{apiVersion: "storage.k8s.io/v1", kind: "StorageClass", clusterScoped: true, skeleton: fields(tree{"provisioner": "example.com/none"}), knobs: []*knob{
			turn("/allowVolumeExpansion", of(true, false), exact), turn("/mountOptions", of(seq{}, seq{"ro", "on"}, seq{"on", "ro"})),
			turn("/parameters/type", labelValue, fixed), turn("/reclaimPolicy", of("Retain", "Delete"), fixed, defaulted),
		}},
		{apiVersion: "networking.k8s.io/v1", kind: "IngressClass", clusterScoped: true, skeleton: fields(tree{"spec": tree{"controller": "example.com/none"}}), knobs: []*knob{
			// All of one scope: with a namespace left by others, the API server refuses the other one.
			turn("/spec/parameters", of(tree{"apiGroup": "example.com", "kind": "On", "name": "yes", "scope": "Cluster"}, tree{"kind": "ConfigMap", "name": "x", "scope": "Cluster"})),
		}},
		{apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", clusterScoped: true, skeleton: fields(tree{"handler": "none"}), knobs: []*knob{
			turn("/overhead/podFixed/cpu", cpu, quantities), turn("/overhead/podFixed/memory", memory, quantities),
			turn("/scheduling/nodeSelector", of(tree{}, tree{"on": "yes"}, tree{"on": "no", "x": ""})), turn("/scheduling/tolerations", of(seq{}, seq{toleration})),
		}},
		{apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", clusterScoped: true, skeleton: func(n names) tree {
			return tree{"spec": tree{"matchConstraints": tree{"resourceRules": seq{tree{"apiGroups": seq{"none." + n.group}, "apiVersions": seq{"v1"}, "operations": seq{"CREATE"}, "resources": seq{"nothings"}}}}}}
		}, knobs: []*knob{
			turn("/spec/validations", of(seq{tree{"expression": "true"}}, seq{tree{"expression": "1 < 2", "message": "on"}, tree{"expression": "true", "messageExpression": "'yes'"}}), needed),
			turn("/spec/failurePolicy", of("Fail", "Ignore"), defaulted),
			turn("/spec/variables/[name=a]", of(tree{"name": "a", "expression": "1"}, tree{"name": "a", "expression": "'on'"})), turn("/spec/variables/[name=b]", of(tree{"name": "b", "expression": "true"})),
			turn("/spec/matchConditions/[name=first]", of(tree{"name": "first", "expression": "true"}, tree{"name": "first", "expression": "1 == 1"})),
		}, lists: []place{at("/spec/variables")}},
		{apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration", clusterScoped: true, skeleton: func(n names) tree {
			return tree{"webhooks": seq{webhook("a", n)}}
		}, knobs: []*knob{
			turn("/webhooks/[name=a.example.com]/timeoutSeconds", of(1, 5, 30), defaulted), turn("/webhooks/[name=a.example.com]/failurePolicy", of("Ignore", "Fail"), defaulted),
			turn("/webhooks/[name=a.example.com]/objectSelector", of(tree{}, tree{"matchLabels": tree{"on": "yes"}}), defaulted),
			turn("/webhooks/[name=b.example.com]", of(webhook("b", names{group: "example.org"}), merged(webhook("b", names{group: "example.org"}), tree{"matchPolicy": "Exact"}))),
		}, lists: []place{at("/webhooks")}},
	}
}

// webhook is one that is never called: nobody serves the kind it asks for.
func webhook(name string, n names) tree {
	return tree{"name": name + ".example.com", "sideEffects": "None", "admissionReviewVersions": seq{"v1"}, "clientConfig": tree{"url": "https://127.0.0.1:9/"},
		"rules": seq{tree{"apiGroups": seq{"none." + n.group}, "apiVersions": seq{"v1"}, "operations": seq{"CREATE"}, "resources": seq{"nothings"}}}}
}

// customKinds are served by the definitions below: one with a schema, one with none.
func customKinds(group string) []randomKind {
	widget := []*knob{
		texts("/spec/title"), turn("/spec/count", integer, exact), turn("/spec/ratio", fraction), turn("/spec/enabled", of(true, false), exact),
		turn("/spec/port", of(0, 80, "80", "http", "yes"), exact), turn("/spec/nullable", of("", "null", "on"), exact), turn("/spec/defaulted", of("d", "yes", ""), defaulted, exact),
		turn("/spec/open", of(tree{}, tree{"on": "yes"}), shared), texts("/spec/open/a~1b~0c"), turn("/spec/whole", of(tree{}, tree{"a": "1"}, tree{"a": "1", "b": ""}, tree{"c": "null"})),
		turn("/spec/args", of(seq{}, seq{"on"}, seq{"yes", "no"}, seq{"no", "yes"}, seq{"", ""})),
		turn("/spec/tags/[=red]", of("red")), turn("/spec/tags/[=on]", of("on")), turn("/spec/tags/[=blue]", of("blue")),
		turn("/spec/rules/[name=a]/weight", of(0, 1, 5), defaulted, exact), texts("/spec/rules/[name=a]/note"),
		turn("/spec/rules/[name=b]", of(tree{"name": "b"}, tree{"name": "b", "weight": 7}, tree{"name": "b", "note": ""})), turn("/spec/rules/[name=c]", of(tree{"name": "c", "note": "c"})),
		turn("/spec/pairs/[host=a,port=80]", of(tree{"host": "a", "port": 80}, tree{"host": "a", "port": 80, "to": "x"})), turn("/spec/pairs/[host=a,port=81]", of(tree{"host": "a", "port": 81, "to": "yes"})),
		texts("/spec/deep/a/b/c"), turn("/spec/raw", of(tree{}, tree{"any": seq{1, "1", true, tree{"x": seq{}}}}, tree{"on": tree{"yes": 0.5}})),
	}
	gadget := []*knob{
		texts("/spec/text"), turn("/spec/number", integer, exact), turn("/spec/fraction", fraction), turn("/spec/false", of(false, true), exact),
		turn("/spec/list", of(seq{}, seq{1, "1", 0.5, false}, seq{tree{"name": "a", "x": 1}}, seq{tree{"name": "a", "x": 2}, tree{"name": "b"}}, seq{seq{}, seq{seq{"deep"}}}), exact),
		texts("/spec/map/a~1b"), turn("/spec/map/c~0d", integer, exact), turn("/spec/empty", of(tree{}), shared, exact), texts("/extra/on"),
		turn("/status/phase", of("yes", "on", ""), exact), texts("/data/a"),
	}
	return []randomKind{
		{apiVersion: group + "/v1", kind: "Widget", knobs: widget, skeleton: fields(tree{"spec": tree{"rules": seq{tree{"name": "a"}}}}), lists: []place{at("/spec/rules"), at("/spec/pairs")}},
		{apiVersion: group + "/v1", kind: "Gadget", knobs: gadget},
	}
}

// definition is the CustomResourceDefinition of a kind.
func definition(group, kind, plural string, schema tree, subresources tree) tree {
	version := tree{"name": "v1", "served": true, "storage": true, "schema": tree{"openAPIV3Schema": schema}, "subresources": subresources}
	return tree{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": tree{"name": plural + "." + group}, "spec": tree{
		"group": group, "scope": "Namespaced", "names": tree{"kind": kind, "plural": plural, "singular": plural[:len(plural)-1]}, "versions": seq{version}}}
}

func definitions(group string) []tree {
	text, whole := tree{"type": "string"}, tree{"type": "integer", "format": "int64"}
	object := func(properties tree) tree { return tree{"type": "object", "properties": properties} }
	items := func(of tree, extra tree) tree { return merged(tree{"type": "array", "items": of}, extra) }
	spec := object(tree{
		"title": text, "count": whole, "ratio": tree{"type": "number"}, "enabled": tree{"type": "boolean"}, "port": tree{"x-kubernetes-int-or-string": true},
		"nullable": tree{"type": "string", "nullable": true}, "defaulted": tree{"type": "string", "default": "d"},
		"open": tree{"type": "object", "additionalProperties": text}, "whole": tree{"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic"},
		"args": items(text, nil), "tags": items(text, tree{"x-kubernetes-list-type": "set"}),
		"rules": items(merged(object(tree{"name": text, "weight": tree{"type": "integer", "default": 1}, "note": text}), tree{"required": seq{"name"}}),
			tree{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": seq{"name"}}),
		"pairs": items(merged(object(tree{"host": text, "port": tree{"type": "integer", "default": 80}, "to": text}), tree{"required": seq{"host"}}),
			tree{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": seq{"host", "port"}}),
		"deep": object(tree{"a": object(tree{"b": object(tree{"c": text})})}), "raw": tree{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	})
	return []tree{
		definition(group, "Widget", "widgets", object(tree{"spec": spec, "status": tree{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}), tree{"status": tree{}}),
		definition(group, "Gadget", "gadgets", tree{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, nil),
	}
}
