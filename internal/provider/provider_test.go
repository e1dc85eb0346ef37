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

// block is a provider block with these attributes.
func block(attributes ...string) string {
	return "provider \"kubefed\" {\n  " + strings.Join(attributes, "\n  ") + "\n}\n"
}

// everyCluster reads the members, which configures the provider and dials.
const everyCluster = "data \"kubefed_clusters\" \"all\" {}\n"

func TestAccProviderRefusesABadConfigurationAtTheAttributeAtFaultAndDialsNobody(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t)
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	good := fmt.Sprintf("{ a = { config_path = %q } }", proxy.Kubeconfig())
	absent := filepath.Join(t.TempDir(), "absent")
	member := func(attributes string) []string {
		return []string{"owner = \"x\"", "member_clusters = { eu = { " + attributes + " } }"}
	}
	for name, c := range map[string]struct {
		attributes []string
		words      []string // of the diagnostic and of the line that it points at
	}{
		"no clusters":        {[]string{"owner = \"x\""}, []string{"host_cluster", "member_clusters"}},
		"an empty owner":     {[]string{"owner = \"\"", "member_clusters = " + good}, []string{"owner = \"\""}},
		"no such kubeconfig": {member(fmt.Sprintf("config_path = %q", absent)), []string{"config_path", `member "eu"`, absent, "no such file"}},
		"a default without its file": {[]string{"owner = \"x\"", fmt.Sprintf("config_path = %q", absent), "member_clusters = { eu = { config_context = \"a\" }, us = { config_context = \"b\" } }"},
			[]string{"Unreadable kubeconfig (", ": config_path = ", "`config_path` of the provider: ", absent, "no such file"}},
		"no such context":              {member(fmt.Sprintf("config_path = %q, config_context = \"prd\"", proxy.Kubeconfig())), []string{"config_context", `member "eu"`, `"prd"`, proxy.Name}},
		"a context with a blank":       {member(fmt.Sprintf("config_path = %q, config_context = \" %s\"", proxy.Kubeconfig(), proxy.Name)), []string{"config_context", `member "eu"`, `" ` + proxy.Name + `"`}},
		"an empty host":                {member(`host = ""`), []string{"host", "at least 1"}},
		"a context and no kubeconfig":  {member(`config_context = "x"`), []string{"config_context", `member "eu"`, "config_path"}},
		"nothing to connect with":      {member(`labels = { a = "b" }`), []string{"Missing connection", `member "eu"`}},
		"two ways":                     {member(fmt.Sprintf("config_path = %q, host = \"https://a\"", proxy.Kubeconfig())), []string{"host", `member "eu"`, "exclude"}},
		"insecure and a CA":            {member(`host = "https://a", insecure = true, cluster_ca_certificate = "x"`), []string{"insecure", `member "eu"`}},
		"a proxy of another scheme":    {member(`host = "https://a", proxy_url = "ftp://user:hunter2@p"`), []string{"proxy_url", `member "eu"`, "socks5"}},
		"a name that is no label":      {[]string{"owner = \"x\"", fmt.Sprintf("member_clusters = { EU = { config_path = %q } }", proxy.Kubeconfig())}, []string{`"EU"`, "DNS label"}},
		"an availability nobody knows": {member(fmt.Sprintf("config_path = %q, availability = \"away\"", proxy.Kubeconfig())), []string{"availability", "draining"}},
		"a host without its file":      {[]string{"owner = \"x\"", fmt.Sprintf("host_cluster = { config_path = %q }", absent)}, []string{"host_cluster", "the host cluster", absent}},
		"a duration without unit":      {[]string{"owner = \"x\"", "member_clusters = " + good, "health_check = { timeout = \"3\" }"}, []string{"timeout", "3s"}},
		"no attempts":                  {[]string{"owner = \"x\"", "member_clusters = " + good, "health_check = { attempts = 0 }"}, []string{"attempts"}},
		"a mistyped policy":            {[]string{"owner = \"x\"", "member_clusters = " + good, "policy = { on_exist = \"adopt\" }"}, []string{"policy", "misspelt"}},
		"an unknown value of a policy": {[]string{"owner = \"x\"", "member_clusters = " + good, "policy = { on_existing = \"take\" }"}, []string{"on_existing", "adopt"}},
	} {
		tf.configure(block(c.attributes...), everyCluster)
		words := c.words
		found := tf.plan().fails(words...)
		if strings.Contains(found.Detail, "hunter2") {
			t.Errorf("%s: the error quotes a password", name)
		}
	}
	if n := proxy.Connections(); n > 0 {
		t.Errorf("somebody dialled %d times", n)
	}
}

func TestAccProviderTriesNoClusterThatIsNotNamed(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t)
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	tf.setenv("KUBECONFIG", proxy.Kubeconfig())
	tf.setenv("KUBE_CONFIG_PATH", proxy.Kubeconfig())
	tf.configure(block("owner = \"x\"", "member_clusters = { eu = { labels = { a = \"b\" } } }"), everyCluster)
	tf.plan().fails("Missing connection", `member "eu"`)
	if n := proxy.Connections(); n > 0 {
		t.Errorf("the cluster of $KUBECONFIG was dialled %d times", n)
	}
}

func TestAccProviderUsesItsConfigPathForContextsThatNameNone(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t)
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	tf.configure(block("owner = \"x\"", fmt.Sprintf("config_path = %q", proxy.Kubeconfig()), fmt.Sprintf("member_clusters = { eu = { config_context = %q } }", proxy.Name)),
		everyCluster, "output \"ready\" { value = data.kubefed_clusters.all.clusters[\"eu\"].ready }")
	tf.apply().succeeds().quiet()
	if text, err := tf.output("output", "-raw", "ready"); err != nil || text != "true" {
		t.Errorf("ready is %q, %v", text, err)
	}
}

func TestAccProviderReachesAMemberByAnExplicitConnection(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t)
	proxy, other := kubetest.NewProxy(t, kubetest.Member(t, 1)), kubetest.NewProxy(t, kubetest.Member(t, 2))
	tf.write("ca.pem", string(proxy.CA()))
	plugin := filepath.Join(tf.dir, "plugin.sh")
	script := "#!/bin/sh\nprintf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}' \"$TOKEN\"\n"
	if err := os.WriteFile(plugin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tf.configure(block("owner = \"x\"", fmt.Sprintf(`member_clusters = {
    token  = { host = %[1]q, cluster_ca_certificate = file("ca.pem"), token = %[2]q }
    plugin = { host = %[4]q, insecure = true, exec = { api_version = "client.authentication.k8s.io/v1", command = %[3]q, env = { TOKEN = %[5]q } } }
    stranger = { host = %[1]q, cluster_ca_certificate = file("ca.pem"), token = "stranger" }
  }`, proxy.Host(), proxy.Token(), plugin, other.Host(), other.Token())), everyCluster, "output \"all\" { value = { for name, c in data.kubefed_clusters.all.clusters : name => coalesce(c.reason, \"ready\") } }")
	tf.apply().succeeds().quiet()
	var outputs map[string]struct{ Value map[string]string }
	tf.decode(&outputs, "output", "-json")
	all := outputs["all"].Value
	if all["token"] != "ready" || all["plugin"] != "ready" || !strings.Contains(all["stranger"], "401") {
		t.Errorf("the members are %v", all)
	}
}

func TestAccProviderWhoseClustersAreNotKnownYetPlansAndThenApplies(t *testing.T) {
	t.Parallel()
	h, tf := newHosted(t, 1), newTerraform(t)
	proxy := h.host.proxy
	later := func(attribute, value string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"later\" { input = %q }\n", value) +
			block(fmt.Sprintf("owner = %q", h.owner), fmt.Sprintf("namespace = %q", h.namespace), fmt.Sprintf("host_cluster = { %s = terraform_data.later.output }", attribute))
	}
	tf.configure(later("config_path", proxy.Kubeconfig()), controlPlane, h.cluster("eu", 0), named("x", `template = { apiVersion = "v1", kind = "Namespace", metadata = { name = "`+h.namespace+`-x" } }`,
		"placement = { clusters = [kubefed_cluster.eu.name] }", "deletion = { protection = false }"))
	before := proxy.Connections()
	tf.plan().does(map[string]string{"terraform_data.later": "create", "kubefed_control_plane.this": "create", eu: "create", x: "create"}).quiet()
	if n := proxy.Connections() - before; n > 0 {
		t.Errorf("the plan dialled the host %d times", n)
	}
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()

	// The value turns unknown again: nothing is dialled, nothing leaves the state, nothing is replaced.
	other := filepath.Join(t.TempDir(), "kubeconfig")
	text, err := os.ReadFile(proxy.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, text, 0o600); err != nil {
		t.Fatal(err)
	}
	tf.configure(later("config_path", other), controlPlane, h.cluster("eu", 0), named("x", `template = { apiVersion = "v1", kind = "Namespace", metadata = { name = "`+h.namespace+`-x" } }`,
		"placement = { clusters = [kubefed_cluster.eu.name] }", "deletion = { protection = false }"))
	planned := tf.plan().succeeds()
	for address, action := range planned.changes {
		if action != "update" {
			t.Errorf("%s is planned to %s", address, action)
		}
	}
	tf.applySaved().succeeds()
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
}

func TestAccMemberWhoseConnectionIsNotKnownYetKeepsNobodyElseFromBeingPlanned(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	us := f.sites["us"].proxy
	later := "resource \"terraform_data\" \"later\" { input = " + fmt.Sprintf("%q", us.Kubeconfig()) + " }\n"
	members := fmt.Sprintf("member_clusters = {\n    eu = { config_path = %q }\n    us = { config_path = terraform_data.later.output }\n  }", f.sites["eu"].proxy.Kubeconfig())
	tf.configure(later, block(fmt.Sprintf("owner = %q", f.owner), members), resource(f.settings("{a: one}"), everywhere))
	before := us.Connections()
	tf.plan().does(map[string]string{"terraform_data.later": "create", x: "create"}).quiet()
	if got := tf.planned(x).After.names("placed_clusters"); !reflect.DeepEqual(got, []string{"eu", "us"}) {
		t.Errorf("planned are %v", got)
	}
	if n := us.Connections() - before; n > 0 {
		t.Errorf("us was dialled %d times", n)
	}
	if n := f.sites["eu"].proxy.Count(func(r kubetest.Request) bool { return r.DryRun }); n == 0 {
		t.Error("eu has not been asked whether it would take the object")
	}
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")
	tf.plan().empty().quiet()
}
