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

func TestAccTheSameTemplateWrittenOtherwiseWritesNothing(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource("template = "+f.configMap(`"settings"`, `{ a = "one", gone = null }`), everywhere))
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	f.reset()
	tf.configure(f.provider(), resource(fmt.Sprintf("template = \"{kind: ConfigMap, apiVersion: v1, data: {a: one}, metadata: {namespace: %s, name: settings}}\"", f.namespace), everywhere))
	tf.plan().does(map[string]string{x: "update"}).quiet()
	c := tf.planned(x)
	if !reflect.DeepEqual(c.Before["versions"], c.After["versions"]) {
		t.Errorf("versions change from %v to %v", c.Before["versions"], c.After["versions"])
	}
	tf.applySaved().succeeds().quiet()
	f.wantNoWrites()
	tf.plan().empty().quiet()
}

func TestAccWhatIsNullIsAsIfItWereNotThere(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	template := func(labels, data, env string) string {
		return named("x", fmt.Sprintf("template = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"n\", namespace = %q%s }, data = { k = \"v\"%s } }", f.namespace, labels, data), everywhere) +
			named("d", strings.Replace(f.webDeployment(0, "nginx"), "args =", "env = [{ name = \"A\""+env+" }], args =", 1), everywhere)
	}
	tf.configure(f.provider(), template(", labels = null", ", gone = null", ", value = null"))
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	for _, write := range f.sites["eu"].proxy.Writes() {
		if strings.Contains(string(write.Body), "null") || strings.Contains(string(write.Body), "gone") {
			t.Errorf("sent is %s", write.Body)
		}
	}
	versions := map[string]any{}
	for _, address := range []string{x, "kubefed_federated_resource.d"} {
		versions[address] = tf.stateOf(address)["versions"]
	}
	tf.configure(f.provider(), template("", "", ""))
	f.reset()
	tf.apply().succeeds().quiet()
	f.wantNoWrites()
	for address, before := range versions {
		if after := tf.stateOf(address)["versions"]; !reflect.DeepEqual(before, after) {
			t.Errorf("the versions of %s were %v and are %v", address, before, after)
		}
	}
	tf.plan().empty().quiet()
}

func TestAccAnotherVersionOfTheAPIUpdatesInPlaceAndAnotherNamespaceReplaces(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	scaler := func(version, namespace string) string {
		return resource(fmt.Sprintf("template = { apiVersion = \"autoscaling/%s\", kind = \"HorizontalPodAutoscaler\", metadata = { name = \"web\", namespace = %q }\n"+
			"spec = { maxReplicas = 3, scaleTargetRef = { apiVersion = \"apps/v1\", kind = \"Deployment\", name = \"web\" } } }", version, namespace), everywhere)
	}
	tf.configure(f.provider(), scaler("v1", f.namespace))
	tf.apply().succeeds().quiet()
	uid := f.get("us", "autoscaling/v2", "HorizontalPodAutoscaler", "web").GetUID()
	tf.configure(f.provider(), scaler("v2", f.namespace))
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	if f.get("us", "autoscaling/v2", "HorizontalPodAutoscaler", "web").GetUID() != uid {
		t.Error("the object was replaced")
	}
	tf.plan().empty().quiet()

	other := kubetest.UniqueName(t, "other")
	for _, site := range f.sites {
		makeNamespace(t, site.Cluster, other)
	}
	tf.configure(f.provider(), scaler("v2", other))
	tf.plan().does(map[string]string{x: "replace"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.absent("autoscaling/v2", "HorizontalPodAutoscaler", "web", "eu", "us")
	tf.plan().empty().quiet()
}

func TestAccDriftAndANewConfigurationAreMendedTogether(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one, b: two}"), everywhere))
	tf.apply().succeeds().quiet()
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", `{"data": {"a": "evil", "b": "evil"}}`)
	tf.configure(f.provider(), resource(f.settings("{a: two}"), everywhere))
	tf.plan().does(map[string]string{x: "update"})
	tf.applySaved().succeeds().quiet()
	for _, member := range f.names() {
		if got := field(t, f.get(member, "v1", "ConfigMap", "settings"), "data"); !reflect.DeepEqual(got, map[string]any{"a": "two"}) {
			t.Errorf("%s holds %v", member, got)
		}
	}
	tf.plan().empty().quiet()
}

func TestAccAMarkThatWasTakenAwayIsSetAgain(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds().quiet()
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", `{"metadata": {"labels": {"terraform.kubefed.io/owner": null}}}`)
	tf.plan().does(map[string]string{x: "update"})
	tf.applySaved().succeeds().quiet()
	if f.get("us", "v1", "ConfigMap", "settings").GetLabels()["terraform.kubefed.io/owner"] == "" {
		t.Error("the mark is not there")
	}
	tf.plan().empty().quiet()
}

func TestAccALabelOfAMemberMovesThePlacement(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	f.sites["eu"].labels["tier"], f.sites["us"].labels["tier"] = "prod", "prod"
	object := resource(f.settings("{a: one}"), `placement = { cluster_selector = { match_labels = { tier = "prod" } } }`)
	tf.configure(f.provider(), object)
	tf.apply().succeeds().quiet()
	for _, step := range []struct {
		member, tier string
		want         []string
	}{{"asia", "prod", []string{"asia", "eu", "us"}}, {"us", "test", []string{"asia", "eu"}}, {"eu", "", []string{"asia"}}} {
		f.sites[step.member].labels["tier"] = step.tier
		if step.tier == "" {
			delete(f.sites[step.member].labels, "tier")
		}
		tf.configure(f.provider(), object)
		tf.plan().does(map[string]string{x: "update"}).quiet()
		if got := tf.planned(x).After.names("placed_clusters"); !reflect.DeepEqual(got, step.want) {
			t.Errorf("planned are %v, want %v", got, step.want)
		}
		tf.applySaved().succeeds().quiet()
		f.wantOn("v1", "ConfigMap", "settings", step.want...)
	}
	tf.plan().empty().quiet()
}

func TestAccAPatchThatReplacesAWholeListWarns(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(0, "nginx"), everywhere,
		`overrides = [{ cluster_selector = {}, json_patch = "[{op: add, path: /spec/template/spec/containers/0/args, value: [--x]}]" }]`))
	tf.plan().succeeds().warns("replaces", "2", "/-")
}

func TestAccAPlanWithoutRefreshAndARefreshAlone(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds().quiet()
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", `{"data": {"a": "evil"}}`)
	f.reset()
	tf.plan("-refresh=false").empty().quiet()
	tf.apply("-refresh-only").succeeds()
	if got := tf.stateOf(x).at("differences", "us", "/data/a"); got != "evil" {
		t.Errorf("the state says %v of the drift", got)
	}
	f.wantNoWrites()
	tf.configure(f.provider(), resource(f.settings("{a: two}"), everywhere))
	tf.plan("-refresh=false").does(map[string]string{x: "update"})
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"eu": 1, "us": 1})
	tf.plan().empty().quiet()
}

func TestAccAKindThatAMemberNoLongerServesIsGoneThere(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	group := f.define("eu", "us")
	tf.configure(f.provider(), resource(f.widget(group, "x", 1), everywhere))
	tf.apply().succeeds().quiet()
	f.sites["us"].Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	f.gone("us", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets."+group)
	tf.plan().fails("Kind is not served", "Member us", "`terraform destroy` meets this error too, unless it is given -refresh=false.")
	tf.destroy().fails("Kind is not served")
	tf.destroy("-refresh=false").succeeds()
	f.absent(group+"/v1", "Widget", "x", "eu")
}

func TestAccWhatAnInterruptedRunLeftIsTakenOver(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds().quiet()
	if err := os.Remove(filepath.Join(tf.dir, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}
	tf.plan().does(map[string]string{x: "create"}).warns("interrupted run", "Members eu, us")
	tf.applySaved().succeeds()
	tf.plan().empty().quiet()
	tf.destroy().succeeds()
	f.absent("v1", "ConfigMap", "settings", "eu", "us")
}

func TestAccACreationWhoseTimeIsUpKeepsWhatItWroteAndIsFinishedByTheNextApply(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere, "timeouts {\n    create = \"2s\"\n  }"))
	f.sites["us"].proxy.BlackHole(kubetest.When(kubetest.Request.Write))
	if text := list(tf.apply().succeeds().warnings); !strings.Contains(text, "Time is up") || !strings.Contains(text, "Member us") {
		t.Errorf("no warning says so:%s", text)
	}
	tf.untainted()
	if got := tf.stateOf(x).names("pending_clusters"); !reflect.DeepEqual(got, []string{"us"}) {
		t.Errorf("pending_clusters are %v", got)
	}
	f.heal()
	f.reset()
	tf.apply().succeeds()
	f.wantWrites(map[string]int{"us": 1})
	tf.plan().empty().quiet()
}
