package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// manyKinds are objects of more than ten kinds, some in a namespace and some not; the namespace is one of them.
const manyKinds = `
apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: NAME}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: NAME}
data: {mode: "0400", yes: "on"}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: NAME}
stringData: {password: hush}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAME}
spec:
  selector: {app: web}
  ports: [{name: tcp, port: 53, protocol: TCP}, {name: udp, port: 53, protocol: UDP}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: web, namespace: NAME}
spec: {hard: {pods: "50", requests.memory: 1Gi}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: NAME}
spec:
  serviceName: web
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx, resources: {requests: {cpu: 0.5, memory: 1024Mi}}}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: NAME}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: job, image: busybox}]}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: NAME}
spec:
  rules: [{host: web.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 53}}}}]}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: NAME}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: NAME}
spec: {minAvailable: 50%, selector: {matchLabels: {app: web}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: NAME}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: NAME}
value: 1000
`

func TestAccTenKindsAndTheirNamespaceComeAndGoInOneRun(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	name := kubetest.UniqueName(t, "kinds")
	for _, site := range f.sites {
		t.Cleanup(func() {
			for _, kind := range []string{"v1 Namespace", "rbac.authorization.k8s.io/v1 ClusterRole", "scheduling.k8s.io/v1 PriorityClass"} {
				version, kind, _ := strings.Cut(kind, " ")
				site.Delete(t, version, kind, "", name)
			}
		})
	}
	tf.write("kinds.yaml", strings.ReplaceAll(manyKinds, "NAME", name))
	tf.configure(f.provider(), `locals {
  objects   = provider::kubefed::manifests_by_id([file("kinds.yaml")])
  namespace = { for id, object in local.objects : id => object if object.kind == "Namespace" }
}
resource "kubefed_federated_resource" "namespace" {
  for_each  = local.namespace
  template  = each.value
  placement = { cluster_selector = {} }
}
resource "kubefed_federated_resource" "all" {
  for_each   = { for id, object in local.objects : id => object if object.kind != "Namespace" }
  template   = each.value
  placement  = { cluster_selector = {} }
  depends_on = [kubefed_federated_resource.namespace]
}
`)
	if plan := tf.plan().succeeds().quiet(); len(plan.changes) != 14 {
		t.Errorf("planned are %v", plan.changes)
	}
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
	for _, site := range f.sites {
		if _, there := site.Find(t, "v1", "Namespace", "", name); there {
			t.Errorf("%s still has the namespace", site.Name)
		}
		if _, there := site.Find(t, "scheduling.k8s.io/v1", "PriorityClass", "", name); there {
			t.Errorf("%s still has the PriorityClass", site.Name)
		}
	}
}

// fleetVariable gives the provider its members as data.
func (f *federation) fleetVariable(tf *terraform, names ...string) {
	f.t.Helper()
	text := "members = {\n"
	for _, name := range names {
		proxy := f.sites[name].proxy
		text += fmt.Sprintf("  %s = { config_path = %q, config_context = %q, labels = { tier = \"prod\" } }\n", name, proxy.Kubeconfig(), proxy.Name)
	}
	tf.write("terraform.tfvars", text+"}\n")
}

func TestAccAFleetThatIsDataGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	selector := `placement = { cluster_selector = { match_labels = { tier = "prod" } }, exclude = var.leaving }`
	configure := func(leaving string) {
		tf.configure("variable \"members\" {}\nvariable \"leaving\" {\n  type = set(string)\n  default = "+leaving+"\n}\n",
			fmt.Sprintf("provider \"kubefed\" {\n  owner = %q\n  member_clusters = var.members\n}\n", f.owner), resource(f.settings("{a: one}"), selector))
	}
	configure("[]")
	f.fleetVariable(tf, "eu", "us")
	tf.apply().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")

	f.reset()
	f.fleetVariable(tf, "asia", "eu", "us")
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"asia": 1})
	tf.plan().empty().quiet()

	f.reset()
	configure(`["us"]`)
	tf.apply().does(map[string]string{x: "update"}).quiet()
	f.wantWrites(map[string]int{"us": 1})
	f.fleetVariable(tf, "asia", "eu")
	configure("[]")
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "asia", "eu")
}

func TestAccAMemberTakenOutOfTheFleetWithItsObjectIsToldAndForgottenOnDemand(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu", "us")))
	tf.apply().succeeds().quiet()

	tf.configure(f.providerOf([]string{"eu"}), resource(f.settings("{a: one}"), on("eu", "us")))
	tf.plan().succeeds().warns("Member is registered no longer", "Member us", "core/ConfigMap/"+f.namespace+"/settings", "put the member's connection back")
	tf.apply().fails("registered no longer", "us", `policy.on_unreachable_delete = "forget"`)
	tf.untainted()
	tf.configure(f.providerOf([]string{"eu"}), resource(f.settings("{a: one}"), on("eu"), `policy = { on_unreachable_delete = "forget" }`))
	tf.apply().succeeds()
	tf.plan().empty().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")
}

func TestAccMembersThatAreUnknownAtPlanAreReachedAtApply(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	proxy := f.sites["us"].proxy
	tf.configure(late(map[string]string{"path": fmt.Sprintf("%q", proxy.Kubeconfig())}),
		fmt.Sprintf("provider \"kubefed\" {\n  owner = %q\n  member_clusters = {\n    eu = { config_path = %q, config_context = %q }\n    us = { config_path = terraform_data.path.output, config_context = %q }\n  }\n}\n",
			f.owner, f.sites["eu"].proxy.Kubeconfig(), f.sites["eu"].proxy.Name, proxy.Name),
		resource(f.settings("{a: one}"), everywhere), named("named", "template = "+f.configMap(`"named"`, "{}"), on("us")))
	tf.plan().succeeds().quiet()
	f.wantNoWrites()
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")
	f.wantOn("v1", "ConfigMap", "named", "us")
	tf.plan().empty().quiet()
}

func TestAccTheAvailabilityOfAMemberSaysWhatItGets(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	configure := func(availability map[string]string, data string) {
		block := f.provider()
		for name, value := range availability {
			block = strings.Replace(block, name+" = { ", fmt.Sprintf("%s = { availability = %q, ", name, value), 1)
		}
		tf.configure(block, resource(f.settings(data), everywhere))
	}
	configure(map[string]string{"us": "cordoned"}, "{a: one}")
	tf.apply().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "asia", "eu")

	configure(map[string]string{"eu": "cordoned", "asia": "draining"}, "{a: one}")
	tf.apply().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")
	tf.plan().empty().quiet()

	f.reset()
	configure(map[string]string{"asia": "draining", "us": "offline"}, "{a: two}")
	tf.plan().does(map[string]string{x: "update"})
	tf.applySaved().fails("Member us", "is set offline")
	if requests := f.sites["us"].proxy.Requests(); len(requests) > 0 {
		t.Errorf("us is offline and was dialled: %v", requests)
	}
	configure(map[string]string{"asia": "draining"}, "{a: two}")
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
}

func TestAccSelectorsKnowNameRegionAndZones(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	block := f.provider()
	for name, place := range map[string]string{"asia": `region = "ap", zones = ["ap-1", "ap-2"]`, "eu": `region = "eu", zones = ["eu-1"]`, "us": `region = "us"`} {
		block = strings.Replace(block, name+" = { ", name+" = { "+place+", ", 1)
	}
	expression := func(key, operator, values string) string {
		return fmt.Sprintf("placement = { cluster_selector = { match_expressions = [{ key = %q, operator = %q, values = %s }] } }", key, operator, values)
	}
	tf.configure(block, named("region", "template = "+f.configMap(`"region"`, "{}"), expression("topology.kubernetes.io/region", "In", `["eu", "us"]`)),
		named("zone", "template = "+f.configMap(`"zone"`, "{}"), expression("topology.kubernetes.io/zone", "In", `["ap-2"]`)),
		named("name", "template = "+f.configMap(`"name"`, "{}"), expression("kubernetes.io/metadata.name", "NotIn", `["us"]`)))
	tf.apply().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "region", "eu", "us")
	f.wantOn("v1", "ConfigMap", "zone", "asia")
	f.wantOn("v1", "ConfigMap", "name", "asia", "eu")
	tf.plan().empty().quiet()
}
