package provider_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

const plane = "kubefed_control_plane.this"

func TestAccControlPlaneIsInstalledMendedImportedAndRemoved(t *testing.T) {
	t.Parallel()
	host, tf := kubetest.Fresh(t, kubetest.Options{Name: "host"}), newTerraform(t)
	proxy := kubetest.NewProxy(t, host)
	provider := block(`owner = "planes"`, fmt.Sprintf("host_cluster = { config_path = %q }", proxy.Kubeconfig()), `health_check = { attempts = 2, timeout = "2s", interval = "200ms" }`)
	tf.configure(provider, everyCluster)
	tf.plan().fails("Unable to read the members", "kubefed_control_plane")

	tf.configure(provider, controlPlane)
	tf.plan().does(map[string]string{plane: "create"}).quiet()
	if got := tf.planned(plane).After["namespace"]; got != "kube-federation-system" {
		t.Errorf("the namespace is planned as %v", got)
	}
	proxy.CutAfterWrites(2)
	tf.apply().fails("Unable to install", "completed by the next apply")
	proxy.Heal()
	tf.apply().succeeds().quiet()
	want := map[string]any{"kubefedclusters.core.kubefed.io": "created", "federatedtypeconfigs.core.kubefed.io": "created"}
	if got := tf.stateOf(plane).at("crds"); !reflect.DeepEqual(got, want) {
		t.Errorf("crds are %v", got)
	}
	tf.plan().empty().quiet()

	host.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "federatedtypeconfigs.core.kubefed.io")
	kubetest.Eventually(t, func() error { return wantChanges(tf.plan(), map[string]string{plane: "update"}) })
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()

	proxy.Refuse()
	tf.plan().empty().warns("Host cluster not readable")
	proxy.Heal()

	if _, err := tf.output("state", "rm", plane); err != nil {
		t.Fatal(err)
	}
	if _, err := tf.output("import", plane, "elsewhere"); err == nil {
		t.Error("a namespace that is not the provider's can be imported")
	}
	if _, err := tf.output("import", plane, "kube-federation-system"); err != nil {
		t.Fatal(err)
	}
	tf.plan().empty().quiet()

	host.Create(t, map[string]any{
		"apiVersion": "core.kubefed.io/v1beta1", "kind": "KubeFedCluster", "metadata": map[string]any{"name": "eu", "namespace": "kube-federation-system"},
		"spec": map[string]any{"apiEndpoint": "https://a.example", "secretRef": map[string]any{"name": "eu"}},
	})
	tf.destroy().fails("Control plane in use", "KubeFedCluster kube-federation-system/eu")
	host.Delete(t, "core.kubefed.io/v1beta1", "KubeFedCluster", "kube-federation-system", "eu")

	moved := block(`owner = "planes"`, `namespace = "moved"`, fmt.Sprintf("host_cluster = { config_path = %q }", proxy.Kubeconfig()))
	tf.configure(moved, controlPlane)
	tf.plan().does(map[string]string{plane: "replace"}).quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	if _, there := host.Find(t, "v1", "Namespace", "", "kube-federation-system"); there {
		t.Error("the former namespace is still there")
	}
	tf.destroy().succeeds().quiet()
	if crds := host.List(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", ""); len(crds) > 0 {
		t.Errorf("left are %d definitions", len(crds))
	}
}

func wantChanges(o *outcome, want map[string]string) error {
	if o.failed || !reflect.DeepEqual(o.changes, want) {
		return fmt.Errorf("planned is %v", o.changes)
	}
	return nil
}

func TestAccControlPlaneAndClusterNeedAHost(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t)
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	provider := block(`owner = "x"`, fmt.Sprintf("member_clusters = { a = { config_path = %q } }", proxy.Kubeconfig()))
	tf.configure(provider, controlPlane)
	tf.plan().fails("No host cluster", "host_cluster")
	tf.configure(provider, fmt.Sprintf("resource \"kubefed_cluster\" \"eu\" {\n  name = \"eu\"\n  cluster_connection = { config_path = %q }\n}\n", proxy.Kubeconfig()))
	tf.plan().fails("No host cluster", "host_cluster", "member_clusters")
}
