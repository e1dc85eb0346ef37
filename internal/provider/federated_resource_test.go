package provider_test

import (
	"fmt"
	"reflect"
	"testing"
)

// webDeployment is a Deployment as a user writes it in HCL.
func (f *federation) webDeployment(replicas int, image string) string {
	return fmt.Sprintf(`template = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web", namespace = %q, labels = { app = "web", tier = "front" } }
    spec = {
      replicas = %d
      selector = { matchLabels = { app = "web" } }
      template = {
        metadata = { labels = { app = "web" } }
        spec     = { containers = [{ name = "web", image = %q, ports = [{ containerPort = 80 }], args = ["--one", "--two"] }] }
      }
    }
  }`, f.namespace, replicas, image)
}

// settings is a ConfigMap as text.
func (f *federation) settings(data string) string {
	return fmt.Sprintf("template = <<-YAML\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: settings\n      namespace: %s\n      labels: {app: shop}\n    data: %s\n  YAML",
		f.namespace, data)
}

const x = "kubefed_federated_resource.x"

func TestAccACreationReachesEveryMemberAndADestroyLeavesNothing(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	overrides := `overrides = [{ clusters = ["eu"], merge_patch = jsonencode({ spec = { replicas = 5 } }) }]`
	tf.configure(f.provider(), resource(f.webDeployment(3, "nginx:1.27"), everywhere, overrides), named("s", f.settings("{a: one, b: two}"), on("asia", "us")))
	tf.plan().does(map[string]string{x: "create", "kubefed_federated_resource.s": "create"}).quiet()
	f.wantNoWrites()
	planned := tf.planned(x).After
	if got := planned.names("placed_clusters"); !reflect.DeepEqual(got, []string{"asia", "eu", "us"}) {
		t.Errorf("placed_clusters are planned as %v", got)
	}
	if got := planned.at("differences", "eu", "/spec/replicas"); got != "5" {
		t.Errorf("the difference of eu is planned as %v", got)
	}
	tf.applySaved().succeeds().quiet()
	f.wantOn("apps/v1", "Deployment", "web", "asia", "eu", "us")
	f.wantOn("v1", "ConfigMap", "settings", "asia", "us")
	if got := field(t, f.get("eu", "apps/v1", "Deployment", "web"), "spec", "replicas"); got != int64(5) {
		t.Errorf("eu has %v replicas", got)
	}
	tf.plan().empty().quiet()

	f.reset()
	tf.configure(f.provider(), resource(f.webDeployment(4, "nginx:1.28"), everywhere, overrides), named("s", f.settings("{a: three}"), on("asia", "us")))
	tf.apply().does(map[string]string{x: "update", "kubefed_federated_resource.s": "update"}).quiet()
	if got := field(t, f.get("us", "apps/v1", "Deployment", "web"), "spec", "replicas"); got != int64(4) {
		t.Errorf("us has %v replicas", got)
	}
	if got := field(t, f.get("us", "v1", "ConfigMap", "settings"), "data"); !reflect.DeepEqual(got, map[string]any{"a": "three"}) {
		t.Errorf("the ConfigMap holds %v", got)
	}
	tf.plan().empty().quiet()

	tf.destroy().succeeds().quiet()
	f.absent("apps/v1", "Deployment", "web", "asia", "eu", "us")
	f.absent("v1", "ConfigMap", "settings", "asia", "eu", "us")
}
