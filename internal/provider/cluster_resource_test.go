package provider_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

const eu = "kubefed_cluster.eu"

func TestAccClusterIsJoinedChangedAndUnjoined(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `labels = { tier = "x" }`, `region = "r1"`, `zones = ["z1", "z2"]`))
	tf.plan().does(map[string]string{eu: "create", "kubefed_control_plane.this": "create"}).quiet()
	if n := h.writes(); n > 0 {
		t.Errorf("the plan writes %d times", n)
	}
	tf.applySaved().succeeds().quiet()
	if !h.registered("eu") {
		t.Error("the cluster is not registered")
	}
	joined := tf.stateOf(eu)
	if uid := string(h.sites[0].Get(t, "v1", "Namespace", "", "kube-system").GetUID()); joined["cluster_uid"] != uid {
		t.Errorf("cluster_uid is %v, the cluster's %s", joined["cluster_uid"], uid)
	}
	if joined["api_endpoint"] != h.sites[0].proxy.Host() || joined["cluster_connection"] != nil {
		t.Errorf("the state holds %v", joined)
	}
	tf.plan().empty().quiet()

	h.reset()
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `labels = { tier = "y", more = "1" }`, `availability = "cordoned"`, `annotations = { note = "n" }`))
	tf.apply().does(map[string]string{eu: "update"}).quiet()
	if n := len(h.sites[0].proxy.Writes()); n > 0 {
		t.Errorf("a change of what the host says writes to the member %d times", n)
	}
	live := h.host.Get(t, "core.kubefed.io/v1beta1", "KubeFedCluster", h.namespace, "eu")
	if l := live.GetLabels(); l["tier"] != "y" || l["more"] != "1" {
		t.Errorf("the labels are %v", l)
	}
	if a := live.GetAnnotations(); a["terraform.kubefed.io/availability"] != "cordoned" || a["terraform.kubefed.io/region"] != "" || a["note"] != "n" {
		t.Errorf("the annotations are %v", a)
	}
	tf.plan().empty().quiet()

	tf.destroy().succeeds().quiet()
	if h.registered("eu") {
		t.Error("the cluster is still registered")
	}
	kubetest.Eventually(t, 30*time.Second, func() error {
		if _, there := h.sites[0].Find(t, "v1", "Namespace", "", h.namespace); there {
			return fmt.Errorf("the namespace %s is still on the member", h.namespace)
		}
		return nil
	})
}

func TestAccObjectsGoToAClusterThatIsJoinedInTheSameRun(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 2), newTerraform(t)
	name := kubetest.UniqueName(t, "cm")
	object := func(placement string) string {
		return named("x", fmt.Sprintf("template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = %q, namespace = \"default\" }, data = { k = \"v\" } }", name), placement)
	}
	both := "placement = { clusters = [kubefed_cluster.eu.name, kubefed_cluster.us.name] }"
	cbd := "lifecycle { create_before_destroy = true }"
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, cbd), object("placement = { clusters = [kubefed_cluster.eu.name] }"))
	tf.plan().does(map[string]string{eu: "create", "kubefed_control_plane.this": "create", x: "create"}).quiet()
	if got := tf.planned(x).After.names("placed_clusters"); !reflect.DeepEqual(got, []string{"eu"}) {
		t.Errorf("placed_clusters are planned as %v", got)
	}
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	has := func(site int) bool {
		_, there := h.sites[site].Find(t, "v1", "ConfigMap", "default", name)
		return there
	}
	if !has(0) {
		t.Error("eu has not got the object")
	}

	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, cbd), h.cluster("us", 1, cbd), object(both))
	tf.apply().does(map[string]string{"kubefed_cluster.us": "create", x: "update"}).quiet()
	if !has(0) || !has(1) {
		t.Error("not both have the object")
	}

	tf.configure(h.provider(), controlPlane, h.cluster("us", 1, cbd), object("placement = { clusters = [kubefed_cluster.us.name] }"))
	tf.apply().does(map[string]string{eu: "delete", x: "update"}).quiet()
	if has(0) || !has(1) || h.registered("eu") {
		t.Error("eu has not given up what it had")
	}
	tf.destroy().succeeds().quiet()
	if has(1) {
		t.Error("us still has the object")
	}
}
