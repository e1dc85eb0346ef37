package provider_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

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
	kubetest.Eventually(t, func() error {
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

func TestAccClusterWhoseInputIsNotKnownYetIsPlannedAndThenJoined(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	tf.configure(h.provider(), controlPlane, `
variable "region" { type = string }
resource "terraform_data" "later" {
  input = { path = "`+h.sites[0].proxy.Kubeconfig()+`", labels = { tier = "x" }, scope = ["default"] }
}
resource "kubefed_cluster" "eu" {
  name               = "eu"
  cluster_connection = { config_path = terraform_data.later.output.path }
  labels             = terraform_data.later.output.labels
  region             = var.region
  scope              = { namespaces = terraform_data.later.output.scope }
  depends_on         = [kubefed_control_plane.this]
}
`)
	tf.setenv("TF_VAR_region", "r1")
	before := h.sites[0].proxy.Connections()
	tf.plan().does(map[string]string{"terraform_data.later": "create", "kubefed_control_plane.this": "create", eu: "create"}).quiet()
	if n := h.sites[0].proxy.Connections() - before; n > 0 {
		t.Errorf("the plan dialled the member %d times", n)
	}
	tf.applySaved().succeeds().quiet()
	if got := tf.stateOf(eu).at("labels", "tier"); got != "x" {
		t.Errorf("the label is %v", got)
	}
	tf.plan().empty().quiet()
	tf.run("validate", "-json").succeeds()
}

func TestAccClusterThatOthersChangedOrDamagedIsMended(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	config := []string{h.provider(), controlPlane, h.cluster("eu", 0, `labels = { tier = "x" }`)}
	tf.configure(config...)
	tf.apply().succeeds().quiet()

	h.host.MergePatch(t, "core.kubefed.io/v1beta1", "KubeFedCluster", h.namespace, "eu", map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": "y", "foreign": "1"}}})
	tf.plan().does(map[string]string{eu: "update"}).quiet()
	if got := tf.planned(eu).Before.at("labels"); !reflect.DeepEqual(got, map[string]any{"tier": "y"}) {
		t.Errorf("the drift is shown as %v", got)
	}
	tf.applySaved().succeeds().quiet()
	if l := h.host.Get(t, "core.kubefed.io/v1beta1", "KubeFedCluster", h.namespace, "eu").GetLabels(); l["tier"] != "x" || l["foreign"] != "1" {
		t.Errorf("the labels are %v", l)
	}
	tf.plan().empty().quiet()

	for _, role := range h.sites[0].List(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "terraform.kubefed.io/owner") {
		h.sites[0].Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", role.GetName())
	}
	kubetest.Eventually(t, func() error {
		if o := tf.plan().succeeds(); len(o.changes) != 1 {
			return fmt.Errorf("planned is %v", o.changes)
		}
		return nil
	})
	tf.plan().does(map[string]string{eu: "update"}).warns("Membership damaged", `"eu"`)
	tf.applySaved().succeeds()
	tf.plan().empty().quiet()

	h.host.Delete(t, "core.kubefed.io/v1beta1", "KubeFedCluster", h.namespace, "eu")
	tf.plan().does(map[string]string{eu: "create"}).quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
}

func TestAccClusterThatIsDownStaysInStateAndKeepsNobodyElseWaiting(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 2), newTerraform(t)
	two := func(labels string) {
		tf.configure(h.provider(), controlPlane, h.cluster("eu", 0), h.cluster("us", 1, `labels = { tier = "`+labels+`" }`))
	}
	two("x")
	tf.apply().succeeds().quiet()
	h.sites[0].proxy.Refuse()
	two("y")
	tf.plan().does(map[string]string{"kubefed_cluster.us": "update"}).warns("Member not readable", `"eu"`, "does not answer")
	tf.applySaved().succeeds()
	if tf.stateOf(eu) == nil {
		t.Error("eu has left the state")
	}
	tf.destroy("-target="+eu).fails("Unable to unjoin", `"eu"`, "forget")
	if tf.stateOf(eu) == nil || !h.registered("eu") {
		t.Error("eu was forgotten")
	}
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `on_destroy = { unreachable = "forget" }`), h.cluster("us", 1))
	tf.apply("-target=" + eu).succeeds()
	o := tf.destroy("-target=" + eu)
	o.succeeds()
	if h.registered("eu") {
		t.Error("eu is still registered")
	}
	h.sites[0].proxy.Heal()
}

func TestAccUnreadableHostKeepsTheStateAndIsNoEmptyRegistry(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	name := kubetest.UniqueName(t, "cm")
	config := []string{h.provider(), controlPlane, h.cluster("eu", 0), named("x", fmt.Sprintf("template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = %q, namespace = \"default\" } }", name),
		"placement = { cluster_selector = {} }\n  depends_on = [kubefed_cluster.eu]")}
	tf.configure(config...)
	tf.apply().succeeds().quiet()
	h.host.proxy.Refuse()
	if o := tf.plan().succeeds(); len(o.changes) > 0 || len(o.warnings) == 0 {
		t.Errorf("with the host away planned is %v, with%s", o.changes, list(o.warnings))
	}
	h.host.proxy.Heal()
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
}

func TestAccClusterOfAnotherOwnerIsNotTakenButImported(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	config := []string{h.provider(), controlPlane, h.cluster("eu", 0, `labels = { tier = "x" }`, `zones = ["z"]`, `scope = { rules = [{ api_groups = ["*"], resources = ["*"], verbs = ["*"] }] }`)}
	tf.configure(config...)
	tf.apply().succeeds().quiet()

	other := newTerraform(t)
	theirs := append([]string{strings.Replace(config[0], h.owner, h.owner+"-other", 1)}, config[1:]...)
	other.configure(theirs...)
	h.reset()
	other.apply().fails("Unable to join", "KubeFedCluster "+h.namespace+"/eu", h.owner, "import")
	if n := len(h.sites[0].proxy.Writes()); n > 0 {
		t.Errorf("the member was written %d times", n)
	}
	other.untainted()
	if _, err := other.output("import", "kubefed_cluster.eu", "eu"); err != nil {
		t.Fatal(err)
	}
	h.reset()
	other.plan().empty().quiet()
	other.configure(append(theirs[:2:2], h.cluster("eu", 0, `labels = { tier = "z" }`, `zones = ["z"]`, `scope = { rules = [{ api_groups = ["*"], resources = ["*"], verbs = ["*"] }] }`))...)
	other.apply().does(map[string]string{eu: "update"}).quiet()
	other.plan().empty().quiet()
	other.destroy("-target=" + eu).succeeds()
	if h.registered("eu") {
		t.Error("it is still registered")
	}
}

func TestAccClusterGetsANewOwnerWithItsNextChange(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0))
	tf.apply().succeeds().quiet()
	h.owner += "-new"
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0))
	tf.plan().empty().quiet()
	tf.destroy("-target="+eu).fails("Unable to unjoin", "owner", "an annotation")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `annotations = { owner = "new" }`))
	tf.apply().does(map[string]string{eu: "update"}).quiet()
	tf.destroy().succeeds().quiet()
	if h.registered("eu") {
		t.Error("it is still registered")
	}
}

func TestAccUnjoinIsRefusedWhileAnObjectIsThere(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	name := kubetest.UniqueName(t, "cm")
	object := named("x", fmt.Sprintf("template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = %q, namespace = \"default\" } }", name), "placement = { clusters = [\"eu\"] }\n  depends_on = [kubefed_cluster.eu]")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0), object)
	tf.apply().succeeds().quiet()
	tf.write("elsewhere.txt", "")
	if _, err := tf.output("state", "rm", x); err != nil {
		t.Fatal(err)
	}
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0))
	tf.destroy("-target="+eu).fails("Unable to unjoin", h.owner, "ConfigMap default/"+name, "create_before_destroy", "draining", "on_destroy")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `on_destroy = { objects = "delete" }`))
	tf.apply().does(map[string]string{eu: "update"}).quiet()
	tf.destroy().succeeds().quiet()
	if _, there := h.sites[0].Find(t, "v1", "ConfigMap", "default", name); there {
		t.Error("the object is still there")
	}
}

func TestAccJoinThatBrokeOffIsFinishedByTheNextApply(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0))
	tf.apply("-target=kubefed_control_plane.this").succeeds()
	h.sites[0].proxy.CutAfterWrites(3)
	tf.apply().fails("Unable to join", `"eu"`, "completed by the next apply")
	h.sites[0].proxy.Heal()
	h.host.proxy.CutAfterWrites(2)
	tf.apply().fails("Unable to join", `"eu"`)
	h.host.proxy.Heal()
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
}

func TestAccClusterPlannedAfterAPlacementThatChoosesItIsAnError(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	tf.configure(h.provider(), controlPlane)
	tf.apply().succeeds().quiet()
	object := named("x", "template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"order\", namespace = \"default\" } }", "placement = { cluster_selector = {} }")
	late := strings.Replace(h.cluster("eu", 0), "depends_on = [", "depends_on = [kubefed_federated_resource.x, ", 1)
	tf.configure(h.provider(), controlPlane, late, object)
	tf.plan().fails("planned too late", "ConfigMap/default/order", "depends_on")
}

func TestAccClusterRefusesABadConfigurationAtTheAttributeAtFault(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 0), newTerraform(t)
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	cluster := func(attributes ...string) string {
		return "resource \"kubefed_cluster\" \"eu\" {\n  " + strings.Join(attributes, "\n  ") + "\n}\n"
	}
	name, there := `name = "eu"`, fmt.Sprintf("cluster_connection = { config_path = %q }", proxy.Kubeconfig())
	for what, c := range map[string]struct {
		attributes []string
		words      []string
	}{
		"a name that is no label":       {[]string{`name = "EU.west"`, there}, []string{`name = "EU.west"`, "DNS label"}},
		"no connection":                 {[]string{name}, []string{"cluster_connection", "to join"}},
		"no such context":               {[]string{name, fmt.Sprintf("cluster_connection = { config_path = %q, config_context = \"prd\" }", proxy.Kubeconfig())}, []string{"config_context", `cluster "eu"`, proxy.Name}},
		"an empty connection":           {[]string{name, "cluster_connection = {}"}, []string{"Missing connection", `cluster "eu"`}},
		"a label that is none":          {[]string{name, there, `labels = { tier = "a b" }`}, []string{"tier", "a b"}},
		"a label of the provider":       {[]string{name, there, `labels = { "terraform.kubefed.io/owner" = "x" }`}, []string{"terraform.kubefed.io/", "Reserved"}},
		"an availability nobody knows":  {[]string{name, there, `availability = "away"`}, []string{"availability", "draining"}},
		"an empty scope":                {[]string{name, there, `scope = { namespace = ["x"] }`}, []string{"scope", "misspelt"}},
		"a TLS check nobody knows":      {[]string{name, there, `disabled_tls_validations = ["Name"]`}, []string{"disabled_tls_validations", "SubjectName"}},
		"all TLS checks and one":        {[]string{name, there, `disabled_tls_validations = ["*", "SubjectName"]`}, []string{"disabled_tls_validations", "alone"}},
		"an unknown word on destroying": {[]string{name, there, `on_destroy = { objects = "keep" }`}, []string{"objects", "orphan"}},
	} {
		t.Log(what)
		tf.configure(h.provider(), controlPlane, cluster(c.attributes...))
		tf.plan().fails(c.words...)
	}
	if n := h.writes() + len(proxy.Writes()); n > 0 {
		t.Errorf("%d writes", n)
	}
}

func TestAccPlanWithNothingToDoAsksAJoinedMemberFiveTimesAtMost(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	objects := `
resource "kubefed_federated_resource" "x" {
  count     = 10
  template  = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "cm-${count.index}", namespace = "default" } }
  placement = { clusters = [kubefed_cluster.eu.name] }
}
`
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, "lifecycle { create_before_destroy = true }"), objects)
	tf.apply().succeeds().quiet()
	h.reset()
	tf.plan().empty().quiet()
	requests := h.sites[0].proxy.Requests()
	lists := h.sites[0].proxy.Count(func(r kubetest.Request) bool { return r.Verb == kubetest.List })
	if lists != 1 || len(requests)-lists > 5 {
		t.Errorf("%d requests, %d of them LISTs: %v", len(requests), lists, requests)
	}
	if n := h.host.proxy.Count(func(r kubetest.Request) bool { return r.Verb == kubetest.List }); n != 2 {
		t.Errorf("the host got %d LISTs, one of KubeFedClusters and one of Secrets are enough", n)
	}
	tf.destroy().succeeds().quiet()
}

func TestAccSelectorFollowsTheLabelsOfJoinedClusters(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 2), newTerraform(t)
	name := kubetest.UniqueName(t, "cm")
	object := named("x", fmt.Sprintf("template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = %q, namespace = \"default\" } }", name),
		"placement = { cluster_selector = { match_labels = { tier = \"x\" } } }", "depends_on = [kubefed_cluster.eu, kubefed_cluster.us]")
	on := func(want ...string) {
		t.Helper()
		if got := tf.planned(x).After.names("placed_clusters"); !reflect.DeepEqual(got, want) {
			t.Errorf("planned are %v, want %v", got, want)
		}
		tf.applySaved().succeeds().quiet()
		var there []string
		for i, member := range []string{"eu", "us"} {
			if _, ok := h.sites[i].Find(t, "v1", "ConfigMap", "default", name); ok {
				there = append(there, member)
			}
		}
		if !reflect.DeepEqual(there, want) {
			t.Errorf("the object is on %v, want %v", there, want)
		}
		tf.plan().empty().quiet()
	}
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `labels = { tier = "x" }`), h.cluster("us", 1, `labels = { tier = "y" }`), object)
	tf.plan().succeeds().quiet()
	on("eu")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, `labels = { tier = "x" }`), h.cluster("us", 1, `labels = { tier = "x" }`), object)
	tf.plan().does(map[string]string{"kubefed_cluster.us": "update", x: "update"}).quiet()
	on("eu", "us")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0), h.cluster("us", 1, `labels = { tier = "x" }`), object)
	tf.plan().does(map[string]string{eu: "update", x: "update"}).quiet()
	on("us")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0), h.cluster("us", 1, `labels = { tier = "x" }`, `availability = "draining"`), object)
	tf.plan().does(map[string]string{"kubefed_cluster.us": "update", x: "update"}).warns("No member is selected")
	tf.applySaved().succeeds()
	tf.destroy().succeeds().quiet()
}

func TestAccCredentialsAreInNoStatePlanMessageOrLog(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	proxy, log := h.sites[0].proxy, filepath.Join(t.TempDir(), "log")
	tf.write("ca.pem", string(proxy.CA()))
	tf.setenv("TF_LOG", "TRACE")
	tf.setenv("TF_LOG_PATH", log)
	tf.setenv("TF_VAR_token", proxy.Token())
	tf.configure(h.provider(), controlPlane, "variable \"token\" {\n  type = string\n  sensitive = true\n  ephemeral = true\n}\n", fmt.Sprintf(`
resource "kubefed_cluster" "eu" {
  name               = "eu"
  cluster_connection = { host = %q, cluster_ca_certificate = file("ca.pem"), token = var.token }
  depends_on         = [kubefed_control_plane.this]
}
`, proxy.Host()))
	texts := map[string]string{"plan": tf.plan().succeeds().text, "saved plan": tf.show(), "apply": tf.applySaved().succeeds().text}
	proxy.Refuse()
	texts["refresh"] = tf.plan().succeeds().text
	proxy.Heal()
	for name, file := range map[string]string{"state": filepath.Join(tf.dir, "terraform.tfstate"), "log": log} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	account := field(t, h.host.Get(t, "v1", "Secret", h.namespace, tf.stateOf(eu)["secret_name"].(string)), "data", "token").(string)
	joined, err := base64.StdEncoding.DecodeString(account)
	if err != nil || len(joined) == 0 {
		t.Fatalf("the token of the account: %v", err)
	}
	for name, text := range texts {
		for what, secret := range map[string]string{"the connection's token": proxy.Token(), "the account's token": string(joined), "the account's token in base64": account} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in the %s", what, name)
			}
		}
	}
	tf.destroy().succeeds()
}

func TestAccAWiderScopeAndWhatNeedsItComeInOneRun(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	object := named("x", "template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"wide\", namespace = \"default\" } }", "placement = { clusters = [kubefed_cluster.eu.name] }")
	narrow := `scope = { rules = [{ api_groups = [""], resources = ["configmaps", "namespaces"], verbs = ["get", "list"] }] }`
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, narrow))
	tf.apply().succeeds().quiet()
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0, narrow), object)
	tf.plan().fails("API server refuses", "scope")
	tf.configure(h.provider(), controlPlane, h.cluster("eu", 0), object)
	tf.plan().does(map[string]string{eu: "update", x: "create"})
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
}
