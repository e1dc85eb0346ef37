package provider_test

import (
	"fmt"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// parallelism is how many resources Terraform works on at once.
const parallelism = 10

// manyObjects are n ConfigMaps and n Deployments without replicas.
func (f *federation) manyObjects(n int) string {
	return fmt.Sprintf(`resource "kubefed_federated_resource" "settings" {
  count     = %[1]d
  template  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: many-${count.index}, namespace: %[2]s}, data: {a: one}}"
  placement = { cluster_selector = {} }
}
resource "kubefed_federated_resource" "web" {
  count     = %[1]d
  template  = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: "many-${count.index}", namespace: %[2]s}
    spec:
      replicas: 0
      selector: {matchLabels: {app: many}}
      template:
        metadata: {labels: {app: many}}
        spec: {containers: [{name: web, image: nginx}]}
  YAML
  placement = { cluster_selector = {} }
}
`, n, f.namespace)
}

func TestAccRequestsPerMemberGrowOnlyWithWhatIsWritten(t *testing.T) {
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	had := 0
	for _, objects := range []int{4, 60} {
		tf.configure(f.provider(), f.manyObjects(objects/2))
		f.reset()
		tf.apply().succeeds().quiet()
		added := objects - had
		for _, name := range f.names() {
			proxy := f.sites[name].proxy
			if writes := len(proxy.Writes()); writes != added {
				t.Errorf("%s got %d writes for %d new objects", name, writes, added)
			}
			all := len(proxy.Requests())
			t.Logf("%s: %d requests for %d new objects", name, all, added)
			if bar := added*21/10 + parallelism + 10; all > bar {
				t.Errorf("%s got %d requests for %d new objects, more than %d: %v", name, all, added, bar, summary(proxy.Requests()))
			}
		}
		f.reset()
		tf.plan().empty().quiet()
		for _, name := range f.names() {
			requests := f.sites[name].proxy.Requests()
			t.Logf("%s: %d requests for a plan of %d objects", name, len(requests), objects)
			if bar := 5 + 2; len(requests) > bar {
				t.Errorf("%s got %d requests for a plan with nothing to do, more than %d: %v", name, len(requests), bar, summary(requests))
			}
		}
		had = objects
	}
}

// summary counts requests of the same sort.
func summary(requests []kubetest.Request) map[string]int {
	counts := map[string]int{}
	for _, r := range requests {
		sort := fmt.Sprintf("%s %s", r.Verb, r.Resource)
		if r.DryRun {
			sort += " (dry run)"
		}
		counts[sort]++
	}
	return counts
}
