package provider_test

import (
	"reflect"
	"testing"
)

// wantDifference fails the test unless the plan changes what differences say of a path on a member from before to after.
func wantDifference(t *testing.T, c change, member, pointer string, before, after any) {
	t.Helper()
	if b, a := c.Before.at("differences", member, pointer), c.After.at("differences", member, pointer); b != before || a != after {
		t.Errorf("%s on %s is planned as %v -> %v, want %v -> %v; before %v, after %v", pointer, member, b, a, before, after, c.Before["differences"], c.After["differences"])
	}
}

func TestAccWhatOthersChangeIsShownByMemberAndPathAndMended(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(3, "nginx:1.27"), everywhere))
	tf.apply().succeeds()

	f.sites["us"].MergePatch(t, "apps/v1", "Deployment", f.namespace, "web", `{"spec": {"replicas": 9}, "metadata": {"labels": {"app": "evil"}}}`)
	f.sites["eu"].MergePatch(t, "apps/v1", "Deployment", f.namespace, "web", `{"metadata": {"labels": {"tier": null}}}`)
	f.sites["asia"].MergePatch(t, "apps/v1", "Deployment", f.namespace, "web",
		`{"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}], "args": ["--two", "--one"]}]}}}}`)
	f.reset()
	plan := tf.plan().does(map[string]string{x: "update"})
	plan.warns("apps/Deployment/"+f.namespace+"/web was changed outside of Terraform", "Members asia, eu, us:\n", "\n  eu: /metadata/labels/tier", "\n  us: /metadata/labels/app, /spec/replicas, last written by ", "last written by kubetest at ")
	f.wantNoWrites()
	c := tf.planned(x)
	wantDifference(t, c, "us", "/spec/replicas", "9", "3")
	wantDifference(t, c, "us", "/metadata/labels/app", "evil", "web")
	wantDifference(t, c, "eu", "/metadata/labels/tier", "null", "front")
	wantDifference(t, c, "asia", "/spec/template/spec/containers/0/args", `["--two","--one"]`, `["--one","--two"]`)

	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"asia": 1, "eu": 1, "us": 1})
	us, eu := f.get("us", "apps/v1", "Deployment", "web"), f.get("eu", "apps/v1", "Deployment", "web")
	if field(t, us, "spec", "replicas") != int64(3) || us.GetLabels()["app"] != "web" || eu.GetLabels()["tier"] != "front" {
		t.Errorf("not mended: us %v, eu %v", us.Object, eu.Object)
	}
	containers, _ := field(t, f.get("asia", "apps/v1", "Deployment", "web"), "spec", "template", "spec", "containers").([]any)
	if container, _ := containers[0].(map[string]any); !reflect.DeepEqual(container["args"], []any{"--one", "--two"}) {
		t.Errorf("the order of arguments is not mended: %v", container["args"])
	}
	tf.plan().empty().quiet()
}

func TestAccWhatOthersAddIsNoDrift(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(3, "nginx:1.27"), everywhere), named("s", f.settings("{a: one}"), everywhere))
	tf.apply().succeeds()

	us := f.sites["us"]
	us.MergePatch(t, "apps/v1", "Deployment", f.namespace, "web", `{"metadata": {"annotations": {"autoscaling.example.com/last": "9"}, "labels": {"extra": "yes"}}}`)
	us.Apply(t, "injector", false, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "`+f.namespace+`"},
		"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"spec": {"containers": [{"name": "sidecar", "image": "proxy:1"}]}}}}`)
	us.MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", `{"data": {"theirs": "1"}}`)
	f.reset()
	tf.plan().empty().quiet()
	f.wantNoWrites()

	tf.configure(f.provider(), resource(f.webDeployment(4, "nginx:1.27"), everywhere), named("s", f.settings("{a: two}"), everywhere))
	tf.apply().succeeds().quiet()
	containers, _ := field(t, f.get("us", "apps/v1", "Deployment", "web"), "spec", "template", "spec", "containers").([]any)
	if len(containers) != 2 {
		t.Errorf("an update takes away what others added: %v", containers)
	}
	if got := field(t, f.get("us", "v1", "ConfigMap", "settings"), "data"); !reflect.DeepEqual(got, map[string]any{"a": "two", "theirs": "1"}) {
		t.Errorf("the ConfigMap holds %v", got)
	}
	tf.plan().empty().quiet()
}

// TestAccTextThatTerraformSpellsOtherwiseIsNoChange: Terraform brings all text into Unicode's composed form, and a patch in escapes keeps what
// it says out of that.
func TestAccTextThatTerraformSpellsOtherwiseIsNoChange(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one, b: two}"), everywhere, `overrides = [{ clusters = ["us"], merge_patch = "{\"data\": {\"a\": \"e\\u0301\"}}" }]`))
	tf.apply().succeeds()
	settled := func() {
		t.Helper()
		before := tf.stateOf(x)
		tf.plan().empty().quiet()
		if _, refreshed := tf.savedPlan(); !reflect.DeepEqual(refreshed[0].Values, before) {
			t.Errorf("the refresh has changed %v to %v", before, refreshed[0].Values)
		}
		if a := field(t, f.get("us", "v1", "ConfigMap", "settings"), "data", "a"); a != "e\u0301" {
			t.Errorf("a is %q", a)
		}
	}
	settled()
	f.sites["us"].MergePatch(t, "v1", "ConfigMap", f.namespace, "settings", "{data: {a: three, b: \"e\\u0301\"}}")
	tf.plan().does(map[string]string{x: "update"}).warns("/data/a, /data/b")
	tf.applySaved().succeeds().quiet()
	settled()
}

func TestAccADeletedObjectComesBackWhereItWasDeleted(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds()

	f.sites["eu"].Delete(t, "v1", "ConfigMap", f.namespace, "settings")
	f.absent("v1", "ConfigMap", "settings", "eu")
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).warns("gone", "eu")
	if got := tf.planned(x).Before.at("versions", "eu"); got != nil {
		t.Errorf("the state still has a version for eu: %v", got)
	}
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"eu": 1})
	tf.plan().empty().quiet()

	for _, site := range f.sites {
		site.Delete(t, "v1", "ConfigMap", f.namespace, "settings")
	}
	f.absent("v1", "ConfigMap", "settings", f.names()...)
	tf.plan().does(map[string]string{x: "create"})
	tf.applySaved().succeeds().quiet()
	f.wantOn("v1", "ConfigMap", "settings", "asia", "eu", "us")
	tf.plan().empty().quiet()
}

func TestAccAFieldThatAnotherManagerTookByForceIsTakenBack(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(3, "nginx:1.27"), everywhere))
	tf.apply().succeeds().quiet()
	f.sites["us"].Apply(t, "argo", true, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "`+f.namespace+`"},
		"spec": {"replicas": 9, "selector": {"matchLabels": {"app": "web"}}}}`)
	tf.plan().does(map[string]string{x: "update"}).warns("Member us", "/spec/replicas", "argo")
	tf.applySaved().succeeds().quiet()
	if got := field(t, f.get("us", "apps/v1", "Deployment", "web"), "spec", "replicas"); got != int64(3) {
		t.Errorf("us has %v replicas", got)
	}
	tf.plan().empty().quiet()
}
