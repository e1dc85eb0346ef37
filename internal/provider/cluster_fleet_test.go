package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// fleet are clusters as data, joined by one resource block, and an object on all of them.
func (h *hosted) fleet(object, lifecycle string, members ...int) string {
	text := "variable \"fleet\" {\n  type = map(object({ kubeconfig = string }))\n  default = {\n"
	for _, member := range members {
		text += fmt.Sprintf("    m%d = { kubeconfig = %q }\n", member, h.sites[member].proxy.Kubeconfig())
	}
	return text + fmt.Sprintf(`  }
}
resource "kubefed_cluster" "m" {
  for_each           = var.fleet
  name               = each.key
  cluster_connection = { config_path = each.value.kubeconfig }
  depends_on         = [kubefed_control_plane.this]
  %s
}
resource "kubefed_federated_resource" "x" {
  template  = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = %q, namespace = "default" }, data = { k = "v" } }
  placement = { clusters = [for c in kubefed_cluster.m : c.name] }
}
`, lifecycle, object)
}

func TestAccAFleetOfClustersThatIsDataGrowsAndShrinksInOneApplyEach(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 3), newTerraform(t)
	name := kubetest.UniqueName(t, "cm")
	has := func(site int) bool {
		_, there := h.sites[site].Find(t, "v1", "ConfigMap", "default", name)
		return there
	}
	tf.configure(h.provider(), controlPlane, h.fleet(name, "", 0, 1))
	tf.apply().succeeds().quiet()

	// Terraform destroys what has left for_each before it updates what refers to it: nothing may be lost or left behind by that.
	tf.configure(h.provider(), controlPlane, h.fleet(name, "", 0))
	tf.apply().fails("Unable to unjoin", "ConfigMap default/"+name, "create_before_destroy")
	if !has(0) || !has(1) || !h.registered("m1") {
		t.Error("a refused unjoin has deleted something")
	}

	before := "lifecycle {\n    create_before_destroy = true\n  }"
	tf.configure(h.provider(), controlPlane, h.fleet(name, before, 0, 1))
	tf.apply().succeeds().quiet()
	h.reset()
	tf.configure(h.provider(), controlPlane, h.fleet(name, before, 0, 1, 2))
	tf.plan().does(map[string]string{`kubefed_cluster.m["m2"]`: "create", x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	if n := len(h.sites[0].proxy.Writes()) + len(h.sites[1].proxy.Writes()); n > 0 || !has(2) {
		t.Errorf("the new member has the object: %v; the others were written %d times", has(2), n)
	}
	tf.plan().empty().quiet()

	tf.configure(h.provider(), controlPlane, h.fleet(name, before, 0, 2))
	tf.plan().does(map[string]string{`kubefed_cluster.m["m1"]`: "delete", x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	if !has(0) || has(1) || !has(2) || h.registered("m1") {
		t.Errorf("the object is on 0 %v, 1 %v, 2 %v; 1 is registered: %v", has(0), has(1), has(2), h.registered("m1"))
	}
	kubetest.Eventually(t, func() error {
		if _, there := h.sites[1].Find(t, "v1", "Namespace", "", h.namespace); there {
			return fmt.Errorf("the namespace %s is left behind", h.namespace)
		}
		return nil
	})
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
}

func TestAccMemberWhoseConnectionTurnsUnknownIsKeptAndNotDialled(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	us := f.sites["us"].proxy
	configure := func(path, data string) {
		tf.configure(late(map[string]string{"path": fmt.Sprintf("%q", path)}),
			block(fmt.Sprintf("owner = %q", f.owner), fmt.Sprintf("member_clusters = {\n    eu = { config_path = %q }\n    us = { config_path = terraform_data.path.output }\n  }", f.sites["eu"].proxy.Kubeconfig())),
			resource(f.settings(data), on("eu", "us")))
	}
	configure(us.Kubeconfig(), "{a: one}")
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()

	text, err := os.ReadFile(us.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		file, data, action string
	}{{"moved", "{a: one}", ""}, {"moved-again", "{a: two}", "update"}} {
		moved := filepath.Join(t.TempDir(), step.file)
		if err := os.WriteFile(moved, text, 0o600); err != nil {
			t.Fatal(err)
		}
		configure(moved, step.data)
		f.reset()
		before := us.Connections()
		plan := tf.plan().succeeds()
		if got := plan.changes[x]; got != step.action {
			t.Errorf("%s: planned is %v", step.file, plan.changes)
		}
		if n := us.Connections() - before; n > 0 {
			t.Errorf("%s: us was dialled %d times", step.file, n)
		}
		if got := tf.planned(x).After.names("placed_clusters"); !reflect.DeepEqual(got, []string{"eu", "us"}) {
			t.Errorf("%s: placed_clusters are planned as %v", step.file, got)
		}
		tf.applySaved().succeeds()
		tf.plan().empty().quiet()
		want := strings.Trim(strings.TrimPrefix(step.data, "{a: "), "}")
		for _, name := range f.names() {
			if got := field(t, f.get(name, "v1", "ConfigMap", "settings"), "data", "a"); got != want {
				t.Errorf("%s: %s holds %v, want %s", step.file, name, got, want)
			}
		}
	}
}
