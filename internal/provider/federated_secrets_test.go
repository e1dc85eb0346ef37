package provider_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// hush is a value that must be seen nowhere, and how it looks in base64.
const (
	hush       = "hush-hush-0815"
	hushBase64 = "aHVzaC1odXNoLTA4MT" // whatever follows the value
)

// unseen fails the test if a text quotes a secret.
func unseen(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{hush, hushBase64, "louder-4711", "bG91ZGVyLTQ3MTE="} {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("%s shows a secret: …%s…", where, text[max(0, at-200):min(len(text), at+100)])
		}
	}
}

func TestAccSecretValuesAreSeenNowhereButInTheTemplate(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.setenv("TF_LOG", "TRACE")
	tf.setenv("TF_LOG_SDK", "TRACE")
	tf.setenv("TF_LOG_PATH", tf.dir+"/trace.log")
	tf.setenv("TF_VAR_password", hush)
	configuration := func(patch string) {
		tf.configure("variable \"password\" {\n  type = string\n  sensitive = true\n}\n", f.provider(),
			named("secret", `template = { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "`+f.namespace+`" }, stringData = { password = var.password, user = "shop" } }`,
				everywhere, `overrides = [{ clusters = ["eu"], json_patch = jsonencode([{ path = "/data/password", value = base64encode("${var.password}-eu") }]) }]`),
			named("config", "template = "+f.configMap(`"c"`, `{ password = var.password, open = "yes" }`), everywhere, `sensitive_fields = ["/data/password"]`, patch))
	}
	configuration("")
	planned := tf.plan().succeeds().quiet()
	unseen(t, "the plan", planned.text+tf.show()+tf.unwritten("saved"))
	applied := tf.applySaved().succeeds().quiet()
	unseen(t, "the apply", applied.text)
	tf.plan().empty().quiet()
	unseen(t, "the state", tf.unwritten())
	if got := tf.stateOf("kubefed_federated_resource.secret").at("differences", "eu", "/data/password"); got != "(sensitive)" {
		t.Errorf("the override of the Secret reads %v", got)
	}

	for _, kind := range []string{"Secret", "ConfigMap"} {
		name := strings.ToLower(kind[:1])
		value := map[string]string{"Secret": "bG91ZGVyLTQ3MTE=", "ConfigMap": "louder-4711"}[kind]
		f.sites["us"].MergePatch(t, "v1", kind, f.namespace, name, `{"data": {"password": "`+value+`"}}`)
	}
	drifted := tf.plan().does(map[string]string{"kubefed_federated_resource.secret": "update", "kubefed_federated_resource.config": "update"})
	unseen(t, "the plan of drift", drifted.text+tf.show()+tf.unwritten("saved"))
	for _, name := range []string{"secret", "config"} {
		wantDifference(t, tf.planned("kubefed_federated_resource."+name), "us", "/data/password", "(sensitive, changed)", "(sensitive)")
	}
	unseen(t, "the apply of drift", tf.applySaved().succeeds().text)
	tf.plan().empty().quiet()

	tf.setenv("TF_VAR_password", hush+"2")
	changed := tf.plan().does(map[string]string{"kubefed_federated_resource.secret": "update", "kubefed_federated_resource.config": "update"})
	unseen(t, "the plan of another password", changed.text+tf.show()+tf.unwritten("saved"))
	unseen(t, "the apply of another password", tf.applySaved().succeeds().quiet().text)
	tf.plan().empty().quiet()

	configuration(`overrides = [{ clusters = ["us"], json_patch = jsonencode([{ path = "/data/password", value = [var.password] }]) }]`)
	refused := tf.plan()
	unseen(t, "the refusal", refused.text)
	if len(refused.errors) == 0 {
		t.Error("a list as value of a ConfigMap key is accepted")
	}
	unseen(t, "the log", readLog(t, tf))
}

// unwritten is what Terraform shows in JSON of a plan, or of the state, without what the user wrote.
func (tf *terraform) unwritten(plan ...string) string {
	tf.t.Helper()
	var shown any
	tf.decode(&shown, append([]string{"show", "-json"}, plan...)...)
	dropWritten(shown)
	text, err := json.Marshal(shown)
	if err != nil {
		tf.t.Fatal(err)
	}
	return string(text)
}

func dropWritten(shown any) {
	switch node := shown.(type) {
	case map[string]any:
		for _, written := range []string{"template", "overrides", "variables", "configuration"} {
			delete(node, written)
		}
		for _, value := range node {
			dropWritten(value)
		}
	case []any:
		for _, value := range node {
			dropWritten(value)
		}
	}
}

// readLog is the log of all commands without what Terraform itself writes of configuration and state.
func readLog(t *testing.T, tf *terraform) string {
	t.Helper()
	text, err := os.ReadFile(tf.dir + "/trace.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	kept := slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "provider.terraform-provider-kubefed") })
	if len(kept) == 0 {
		t.Fatal("the provider has logged nothing")
	}
	return strings.Join(kept, "\n")
}

// TestAccASecretIsSentToNobodyButTheMembersThatGetIt: not to the host, and not to members that get something else.
func TestAccASecretIsSentToNobodyButTheMembersThatGetIt(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	makeKinds(t, kubetest.Host(t))
	host := kubetest.NewProxy(t, kubetest.Host(t))
	withHost := f.provider(fmt.Sprintf("host_cluster = { config_path = %q }", host.Kubeconfig()))
	secret := func(value string, overrides string) string {
		return named("secret", `template = { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "`+f.namespace+`" }, stringData = { password = "`+value+`" } }`, on("asia", "eu"), overrides) +
			named("config", "template = "+f.configMap(`"c"`, `{ password = "open" }`), everywhere, `sensitive_fields = ["/data/password"]`,
				`overrides = [{ clusters = ["eu"], merge_patch = "data: {password: `+value+`}" }]`)
	}
	louder := `overrides = [{ clusters = ["eu"], merge_patch = "stringData: {password: louder-4711}" }]`
	for _, configuration := range []string{secret(hush, ""), secret(hush, louder), secret(hush+"2", louder)} {
		tf.configure(withHost, configuration)
		tf.apply().succeeds().quiet()
		f.sites["eu"].MergePatch(t, "v1", "Secret", f.namespace, "s", `{"data": {"password": "ZWRpdGVk"}}`)
		tf.plan().does(map[string]string{"kubefed_federated_resource.secret": "update"})
		tf.applySaved().succeeds()
	}
	tf.destroy().succeeds()
	unsent(t, "the host", host, hush, hushBase64, "louder-4711", "bG91ZGVyLTQ3MTE=")
	unsent(t, "us", f.sites["us"].proxy, hush, hushBase64, "louder-4711", "bG91ZGVyLTQ3MTE=")
	unsent(t, "asia", f.sites["asia"].proxy, "louder-4711", "bG91ZGVyLTQ3MTE=")
	if len(host.Requests()) == 0 || !sent(f.sites["asia"].proxy, hushBase64) || !sent(f.sites["eu"].proxy, "bG91ZGVyLTQ3MTE=") {
		t.Error("the secrets were not sent where they belong, or the host was not asked")
	}
}

// unsent fails the test if a request that a proxy has seen holds one of the texts.
func unsent(t *testing.T, to string, proxy *kubetest.Proxy, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if sent(proxy, text) {
			t.Errorf("%s was sent %s", to, text)
		}
	}
}

// sent reports whether a text is anywhere in the requests that a proxy has seen.
func sent(proxy *kubetest.Proxy, text string) bool {
	return slices.ContainsFunc(proxy.Requests(), func(r kubetest.Request) bool {
		return strings.Contains(fmt.Sprint(r, r.Header)+string(r.Body), text)
	})
}
