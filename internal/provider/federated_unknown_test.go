package provider_test

import (
	"fmt"
	"testing"
)

// late makes values that are unknown while Terraform plans and known when it applies.
func late(values map[string]string) string {
	text := ""
	for _, name := range sortedKeys(values) {
		text += fmt.Sprintf("resource \"terraform_data\" %q {\n  input = %s\n}\n", name, values[name])
	}
	return text
}

// configMap is a ConfigMap as an HCL object; name and data are expressions.
func (f *federation) configMap(name, data string) string {
	return fmt.Sprintf("{ apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = %s, namespace = %q }, data = %s }", name, f.namespace, data)
}

// lateResources have something unknown, each somewhere else.
func (f *federation) lateResources() string {
	const value = "terraform_data.value.output"
	deployment := f.webDeployment(3, "nginx:1.27")
	return named("whole", "template = terraform_data.whole.output", everywhere) +
		named("text", fmt.Sprintf("template = yamlencode(%s)", f.configMap(`"text"`, "{ a = "+value+" }")), everywhere) +
		named("value", "template = "+f.configMap(`"value"`, "{ a = "+value+", b = \"known\" }"), everywhere) +
		named("name", "template = "+f.configMap("terraform_data.name.output", "{ a = \"known\" }"), everywhere) +
		named("namespace", `template = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "late-namespace" } }`,
			"default_namespace = terraform_data.namespace.output", everywhere) +
		named("placement", "template = "+f.configMap(`"placement"`, "{}"), "placement = { clusters = terraform_data.clusters.output }") +
		named("element", "template = "+f.configMap(`"element"`, "{}"), `placement = { clusters = ["us", terraform_data.cluster.output] }`) +
		named("patch", "template = "+f.configMap(`"patch"`, "{ a = \"one\" }"), everywhere,
			"overrides = [{ clusters = [\"eu\"], merge_patch = jsonencode({ data = { a = "+value+" } }) }]") +
		named("selection", "template = "+f.configMap(`"selection"`, "{ a = \"one\" }"), everywhere,
			"overrides = [{ clusters = [terraform_data.cluster.output], labels = { place = \"here\" } }]") +
		named("replicas", deployment, everywhere, "replicas = { eu = terraform_data.replicas.output }")
}

func (f *federation) lateValues(value, cluster, clusters, replicas string) map[string]string {
	return map[string]string{
		"whole": f.configMap(`"whole"`, fmt.Sprintf("{ a = %q }", value)), "value": fmt.Sprintf("%q", value), "name": `"named-late"`,
		"namespace": fmt.Sprintf("%q", f.namespace), "cluster": fmt.Sprintf("%q", cluster), "clusters": clusters, "replicas": replicas,
	}
}

func TestAccWhatIsUnknownAtPlanIsWrittenAtApplyAndConverges(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	f.sites["eu"].proxy.Reset()
	tf.configure(f.provider(), late(f.lateValues("one", "eu", `["eu"]`, "5")), f.lateResources())
	tf.plan().succeeds().quiet()
	f.wantNoWrites()
	if got := tf.planned("kubefed_federated_resource.patch"); got.After.at("versions", "us") == nil || got.Unknown.at("versions", "eu") != true {
		t.Errorf("an unknown patch for eu leaves the version of us open, or tells that of eu: %v", got.After["versions"])
	}
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	f.wantLate("one", 5)
	f.wantOn("v1", "ConfigMap", "placement", "eu")

	tf.configure(f.provider(), late(f.lateValues("two", "eu", `["eu", "us"]`, "6")), f.lateResources())
	tf.plan().succeeds().quiet()
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
	f.wantLate("two", 6)
	f.wantOn("v1", "ConfigMap", "placement", "eu", "us")
}

// wantLate fails the test unless what was unknown has reached the members.
func (f *federation) wantLate(value string, replicas int64) {
	f.t.Helper()
	for name, want := range map[string]string{"whole": value, "text": value, "value": value, "named-late": "known", "patch": value} {
		if got := field(f.t, f.get("eu", "v1", "ConfigMap", name), "data", "a"); got != want {
			f.t.Errorf("ConfigMap %s holds %v, want %s", name, got, want)
		}
	}
	for _, name := range []string{"late-namespace", "element", "selection"} {
		f.wantOn("v1", "ConfigMap", name, "eu", "us")
	}
	if got := field(f.t, f.get("eu", "apps/v1", "Deployment", "web"), "spec", "replicas"); got != replicas {
		f.t.Errorf("eu has %v replicas, want %d", got, replicas)
	}
}

func TestAccANameThatTurnsOutChangedAtApplyIsRefusedAndThenReplaces(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	object := named("x", "template = "+f.configMap("terraform_data.name.output", "{ a = \"known\" }"), everywhere)
	tf.configure(f.provider(), late(map[string]string{"name": `"first"`}), object)
	tf.apply().succeeds().quiet()

	tf.configure(f.provider(), late(map[string]string{"name": `"second"`}), object)
	tf.plan().does(map[string]string{x: "update", "terraform_data.name": "update"})
	f.reset()
	tf.applySaved().fails("Identity has changed", "core/ConfigMap/"+f.namespace+"/second", "core/ConfigMap/"+f.namespace+"/first")
	f.wantNoWrites()
	tf.plan().does(map[string]string{x: "replace"})
	tf.applySaved().succeeds()
	f.wantOn("v1", "ConfigMap", "second", "eu")
	f.wantOn("v1", "ConfigMap", "first")
	tf.plan().empty().quiet()
}

func TestAccVariablesWithoutDefaultAreNoFaultWhenTheConfigurationIsValidated(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	variables := map[string]string{"template": "any", "name": "string", "clusters": "set(string)", "patch": "string", "replicas": "number", "members": "any", "policy": "string"}
	text := ""
	for _, name := range sortedKeys(variables) {
		text += fmt.Sprintf("variable %q {\n  type = %s\n}\n", name, variables[name])
	}
	tf.configure(text, fmt.Sprintf("provider \"kubefed\" {\n  owner = %q\n  member_clusters = var.members\n}", f.owner),
		named("whole", "template = var.template", "placement = { clusters = var.clusters }", "overrides = [{ clusters = var.clusters, merge_patch = var.patch }]",
			"policy = { on_existing = var.policy }"),
		named("parts", "template = "+f.configMap("var.name", "{ a = var.patch }"), everywhere, "deletion = { policy = var.policy == \"error\" ? \"delete\" : \"orphan\" }"),
		named("count", f.webDeployment(3, "nginx:1.27"), "placement = { clusters = var.clusters }", "replicas = { \"*\" = var.replicas }"))
	if text, err := tf.output("validate", "-no-color"); err != nil {
		t.Fatalf("validate: %v\n%s", err, text)
	}
	connection := func(name string) string {
		proxy := f.sites[name].proxy
		return fmt.Sprintf("%s = { config_path = %q, config_context = %q }", name, proxy.Kubeconfig(), proxy.Name)
	}
	tf.write("terraform.tfvars", "template = "+f.configMap(`"whole"`, "{ a = \"one\" }")+"\nname = \"parts\"\nclusters = [\"eu\"]\npatch = \"{data: {b: two}}\"\nreplicas = 2\npolicy = \"error\"\n"+
		"members = {\n  "+connection("eu")+"\n  "+connection("us")+"\n}\n")
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	f.wantOn("v1", "ConfigMap", "whole", "eu")
	f.wantOn("v1", "ConfigMap", "parts", "eu", "us")
}

func TestAccWhatIsUnknownForOneMemberLeavesTheOthersKnown(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), late(map[string]string{"replicas": "5"}), resource(f.webDeployment(3, "nginx:1.27"), everywhere, "replicas = { eu = terraform_data.replicas.output }"))
	tf.plan().succeeds().quiet()
	if c := tf.planned(x); c.After.at("versions", "us") == nil || c.Unknown.at("versions", "eu") != true {
		t.Errorf("planned are %v, unknown %v", c.After["versions"], c.Unknown["versions"])
	}
}

func TestAccAPolicyThatIsUnknownAtPlanIsHeededAtApply(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	f.sites["us"].Create(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": %q}, "data": {"a": "theirs"}}`, f.namespace))
	object := resource("template = "+f.configMap(`"x"`, `{ a = "ours" }`), everywhere, "policy = { on_existing = terraform_data.policy.output }")
	tf.configure(f.provider(), late(map[string]string{"policy": `"error"`}), object)
	tf.plan().succeeds()
	tf.applySaved().fails("Object exists already", "Member us")
	f.wantOn("v1", "ConfigMap", "x", "us")
	tf.configure(f.provider(), late(map[string]string{"policy": `"adopt"`}), object)
	tf.plan().succeeds()
	tf.applySaved().succeeds()
	f.wantOn("v1", "ConfigMap", "x", "eu", "us")
	tf.plan().empty().quiet()
}
