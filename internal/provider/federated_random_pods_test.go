package provider_test

// podKinds are those with a pod template in them.
func podKinds() []randomKind {
	labels := tree{"app": "random"}
	pod := func(policy string) tree {
		spec := tree{"containers": seq{tree{"name": "app", "image": "nginx"}}, "volumes": seq{tree{"name": "scratch", "emptyDir": tree{}}}}
		if policy != "" {
			spec["restartPolicy"] = policy
		}
		return tree{"metadata": tree{"labels": labels}, "spec": spec}
	}
	workload := func(more tree) func(names) tree {
		return fields(tree{"spec": merged(tree{"selector": tree{"matchLabels": labels}, "template": pod("")}, more)})
	}
	replicas := turn("/spec/replicas", of(0, 1, 2), defaulted, exact)
	paused := turn("/spec/paused", of(true, false))
	ready := turn("/spec/minReadySeconds", of(0, 5))
	history := turn("/spec/revisionHistoryLimit", of(0, 2, 10), defaulted, exact)
	const template = "/spec/template"
	kinds := []randomKind{
		{apiVersion: "apps/v1", kind: "Deployment", skeleton: workload(nil), knobs: append(podKnobs(template, false), replicas, paused, ready, history,
			turn("/spec/progressDeadlineSeconds", of(60, 600), defaulted), turn("/spec/strategy/rollingUpdate/maxSurge", of(1, "25%", "100%", 3), defaulted, exact))},
		{apiVersion: "apps/v1", kind: "StatefulSet", skeleton: workload(tree{"serviceName": "none"}), knobs: append(podKnobs(template, false), replicas, ready, history,
			turn("/spec/podManagementPolicy", of("Parallel", "OrderedReady"), fixed, defaulted), turn("/spec/updateStrategy/rollingUpdate/partition", of(0, 1), defaulted, exact),
			turn("/spec/persistentVolumeClaimRetentionPolicy/whenDeleted", of("Retain", "Delete"), defaulted))},
		{apiVersion: "apps/v1", kind: "DaemonSet", skeleton: workload(nil), knobs: append(podKnobs(template, false), ready, history,
			turn("/spec/updateStrategy/rollingUpdate/maxUnavailable", of(1, "50%", 2), defaulted, exact))},
		{apiVersion: "apps/v1", kind: "ReplicaSet", skeleton: workload(nil), knobs: append(podKnobs(template, false), replicas, ready)},
		{apiVersion: "batch/v1", kind: "Job", skeleton: fields(tree{"spec": tree{"suspend": true, "template": pod("Never")}}), knobs: append(podKnobs(template, true),
			turn("/spec/parallelism", of(0, 1, 2), defaulted, exact), turn("/spec/backoffLimit", of(0, 6), defaulted, exact), turn("/spec/activeDeadlineSeconds", of(100, 86400)),
			turn("/spec/ttlSecondsAfterFinished", of(0, 86400), exact), turn("/spec/completions", of(1, 2), fixed, defaulted))},
		{apiVersion: "batch/v1", kind: "CronJob", skeleton: fields(tree{"spec": tree{"schedule": "0 0 29 2 *", "jobTemplate": tree{"spec": tree{"template": pod("OnFailure")}}}}),
			knobs: append(podKnobs("/spec/jobTemplate/spec/template", false), turn("/spec/suspend", of(true, false), defaulted), turn("/spec/schedule", of("0 0 29 2 *", "@yearly", "30 4 1 1 *"), needed),
				turn("/spec/timeZone", of("Etc/UTC", "Europe/Berlin")), turn("/spec/concurrencyPolicy", of("Allow", "Forbid"), defaulted), turn("/spec/successfulJobsHistoryLimit", of(0, 3), defaulted, exact),
				turn("/spec/startingDeadlineSeconds", of(0, 30), exact), turn("/spec/jobTemplate/metadata/labels/on", labelValue, exact))},
		{apiVersion: "v1", kind: "PodTemplate", skeleton: fields(tree{"template": pod("")}), knobs: podKnobs("/template", false)},
	}
	for i, k := range kinds {
		spec := template + "/spec"
		switch k.kind {
		case "CronJob":
			spec = "/spec/jobTemplate/spec/template/spec"
		case "PodTemplate":
			spec = "/template/spec"
		}
		if k.kind != "Job" {
			kinds[i].lists = []place{at(spec + "/containers"), at(spec + "/volumes"), at(spec + "/containers/[name=app]/env"), at(spec + "/containers/[name=app]/ports")}
		}
	}
	return kinds
}

// podKnobs are those of a pod template. That of a Job cannot be changed but for what says where it runs.
func podKnobs(template string, frozen bool) []*knob {
	app := template + "/spec/containers/[name=app]"
	knobs := []*knob{
		turn(app+"/image", of("nginx", "nginx:1.27", "localhost/team/app:on", "registry.example.com:5000/team/app:v1", "ghcr.io/yes/no@sha256:"+digest), needed, as(byImages), within("app")),
		turn(app+"/command", of(seq{}, seq{"sh", "-c", "echo on"}, seq{"yes"})),
		turn(app+"/args", of(seq{}, seq{"--on", "--two=2"}, seq{"--two=2", "--on"}, seq{"yes"}, seq{"", "multi\nline\n"}), as(byArgs), within("app")),
		turn(app+"/env/[name=ON]/value", text, as(byEnv), within("app")),
		turn(app+"/env/[name=yes_2.x-y]/value", text, as(byEnv), within("app")),
		turn(app+"/env/[name=POD]", of(tree{"name": "POD", "valueFrom": tree{"fieldRef": tree{"fieldPath": "metadata.name"}}}, tree{"name": "POD", "valueFrom": tree{"fieldRef": tree{"apiVersion": "v1", "fieldPath": "metadata.namespace"}}})),
		turn(app+"/ports/[containerPort=53,protocol=TCP]", of(tree{"containerPort": 53}, tree{"containerPort": 53, "protocol": "TCP", "name": "dns-tcp"})),
		turn(app+"/ports/[containerPort=53,protocol=UDP]", of(tree{"containerPort": 53, "protocol": "UDP"}, tree{"containerPort": 53, "protocol": "UDP", "name": "dns"})),
		turn(app+"/resources/limits/cpu", of("2", "2000m", "3", "2e0", 4, "2.5"), quantities), turn(app+"/resources/requests/memory", memory, quantities),
		turn(app+"/resources/requests/cpu", of("0.5", "500m", "1", "1000m", "0", "0.1", "100m"), quantities),
		turn(app+"/imagePullPolicy", of("Always", "Never"), defaulted), turn(app+"/workingDir", of("", "/on/yes")), turn(app+"/tty", of(true, false)),
		turn(app+"/securityContext/runAsUser", of(0, 1000), exact), turn(app+"/securityContext/readOnlyRootFilesystem", of(true, false), exact),
		turn(app+"/volumeMounts/[mountPath=~1on~1yes]", of(tree{"mountPath": "/on/yes", "name": "scratch"}, tree{"mountPath": "/on/yes", "name": "scratch", "readOnly": true, "subPath": "a/b"})),
		turn(template+"/spec/containers/[name=side]", of(tree{"name": "side", "image": "proxy:1"}, tree{"name": "side", "image": "proxy:1", "args": seq{}, "env": seq{}})),
		turn(template+"/spec/initContainers/[name=init]", of(tree{"name": "init", "image": "init:0.5"}, tree{"name": "init", "image": "init:on", "command": seq{"true"}})),
		turn(template+"/spec/volumes/[name=config]", of(tree{"name": "config", "configMap": tree{"name": "on", "optional": true}}, tree{"name": "config", "configMap": tree{"name": "on", "defaultMode": 256, "items": seq{tree{"key": "a", "path": "a/b", "mode": 0o400}}}})),
		turn(template+"/spec/hostAliases/[ip=10.1.2.3]", of(tree{"ip": "10.1.2.3", "hostnames": seq{"on.example.com"}}, tree{"ip": "10.1.2.3", "hostnames": seq{"b.example.com", "a.example.com"}})),
		turn(template+"/spec/imagePullSecrets/[name=regcred]", of(tree{"name": "regcred"})),
		turn(template+"/spec/hostNetwork", of(true, false)), turn(template+"/spec/priorityClassName", of("")), turn(template+"/spec/terminationGracePeriodSeconds", of(0, 1, 30), defaulted, exact),
		turn(template+"/spec/automountServiceAccountToken", of(true, false), exact), turn(template+"/spec/securityContext/fsGroup", of(0, 2000), exact), turn(template+"/spec/dnsPolicy", of("Default", "ClusterFirst"), defaulted),
	}
	if frozen {
		for _, k := range knobs {
			k.fixed = true
		}
	}
	return append(knobs,
		turn(template+"/spec/nodeSelector", of(tree{}, tree{"disk": "yes"}, tree{"disk": "", "example.com/on": "on"})),
		turn(template+"/spec/tolerations", of(seq{}, seq{tree{"operator": "Exists"}}, seq{tree{"key": "on", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 0}, tree{"key": "b", "operator": "Exists"}})),
		texts(template+"/metadata/annotations/example.com~1checksum"), turn(template+"/metadata/labels/version", labelValue, exact),
	)
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
