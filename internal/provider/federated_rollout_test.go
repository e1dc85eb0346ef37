package provider_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// inOrder is a rollout over asia, then eu, then us. Members are waited for a time that is long enough, or for one that is not.
func inOrder(timeout string) string {
	return fmt.Sprintf(`rollout = { groups = [{ name = "first", clusters = ["asia"] }, { name = "second", clusters = ["eu"] }] }
  wait = { timeout = %q }`, timeout)
}

// full lets a member have so many pods in the test's namespace, and no more.
func (f *federation) full(member string, pods int) (quota string) {
	f.t.Helper()
	quota = kubetest.UniqueName(f.t, "full")
	f.sites[member].Create(f.t, fmt.Sprintf("{apiVersion: v1, kind: ResourceQuota, metadata: {name: %s, namespace: %s}, spec: {hard: {pods: %d}}}", quota, f.namespace, pods))
	return quota
}

// wantImages fails the test unless the Deployment has these images on asia, eu and us; "" where it is not.
func (f *federation) wantImages(images ...string) {
	f.t.Helper()
	var got []string
	for _, name := range f.names() {
		image := ""
		if live, there := f.sites[name].Find(f.t, "apps/v1", "Deployment", f.namespace, "web"); there {
			containers, _ := field(f.t, live, "spec", "template", "spec", "containers").([]any)
			image, _ = containers[0].(map[string]any)["image"].(string)
		}
		got = append(got, image)
	}
	if !reflect.DeepEqual(got, images) {
		f.t.Errorf("the images are %q, want %q", got, images)
	}
}

func TestAccARolloutStopsAtAMemberThatIsNotReadyAndResumesThere(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(2, "nginx:1"), everywhere, inOrder("2m")))
	tf.plan().does(map[string]string{x: "create"}).warns("Rollout in 3 steps", `group "first": asia, then group "second": eu, then us.`)
	tf.applySaved().succeeds().sound()
	tf.plan().empty().quiet()
	f.wantImages("nginx:1", "nginx:1", "nginx:1")

	f.full("eu", 2) // a third pod, which an update needs, does not fit
	tf.configure(f.provider(), resource(f.webDeployment(2, "nginx:2"), everywhere, inOrder("10s")))
	failed := tf.apply()
	failed.fails("apps/Deployment/"+f.namespace+"/web is not ready in time", "Member eu", "wait.timeout", "Updated: 0/2", "FailedCreate (ReplicaSet web-", "exceeded quota")
	failed.sound()
	f.wantImages("nginx:2", "nginx:2", "nginx:1")
	state := tf.stateOf(x)
	if pending := state.names("pending_clusters"); !reflect.DeepEqual(pending, []string{"eu", "us"}) {
		t.Errorf("pending are %v", pending)
	}
	if message := fmt.Sprint(state.at("messages", "us")); !strings.Contains(message, "keeps the former version") || !strings.Contains(message, "eu failed") {
		t.Errorf("the message of us is %q", message)
	}

	spread := strings.Replace(f.webDeployment(2, "nginx:3"), "replicas =", `strategy = { rollingUpdate = { maxUnavailable = 1 } }
      replicas =`, 1)
	tf.configure(f.provider(), resource(spread, everywhere, inOrder("2m")))
	tf.apply().does(map[string]string{x: "update"}).sound()
	f.wantImages("nginx:3", "nginx:3", "nginx:3")
	tf.plan().empty().quiet()
}

func TestAccACreationThatIsNotReadyIsKeptUntaintedAndResumes(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	quota := f.full("eu", 1)
	configure := func(timeout string) {
		tf.configure(f.provider(), resource(f.webDeployment(2, "nginx:1"), everywhere, inOrder(timeout)))
	}
	configure("10s")
	tf.plan().succeeds()
	created := tf.applySaved().succeeds().sound()
	for _, words := range []string{"is not ready in time", "Member eu", "exceeded quota", "Member is not written", "the rollout stopped before it: eu failed"} {
		if !strings.Contains(list(created.warnings), words) {
			t.Errorf("the warnings lack %q:%s", words, list(created.warnings))
		}
	}
	tf.untainted()
	f.wantImages("nginx:1", "nginx:1", "")
	if pending := tf.stateOf(x).names("pending_clusters"); !reflect.DeepEqual(pending, []string{"eu", "us"}) {
		t.Errorf("pending are %v", pending)
	}

	f.sites["eu"].Delete(t, "v1", "ResourceQuota", f.namespace, quota)
	f.reset()
	configure("2m")
	tf.apply().does(map[string]string{x: "update"}).succeeds().sound()
	f.wantWrites(map[string]int{"us": 1})
	f.wantImages("nginx:1", "nginx:1", "nginx:1")
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
}

func TestAccAMemberThatOnlyWasNotReadyIsWaitedForByTheNextApply(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	quota := f.full("us", 1)
	configure := func(timeout string) {
		tf.configure(f.provider(), resource(f.webDeployment(2, "nginx:1"), everywhere, fmt.Sprintf("wait = { ready = true, timeout = %q }", timeout)))
	}
	configure("5s")
	tf.apply().succeeds().sound().warns("is not ready in time", "Member us")
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).quiet()
	if c := tf.planned(x); c.After.at("versions", "us") == nil {
		t.Error("the plan does not know the versions")
	}
	tf.applySaved().fails("is not ready in time", "Member us", "exceeded quota")
	f.sites["us"].Delete(t, "v1", "ResourceQuota", f.namespace, quota)
	configure("2m")
	tf.apply().does(map[string]string{x: "update"}).sound().quiet()
	f.wantNoWrites()
	tf.plan().empty().quiet()
}

func TestAccAnInterruptWhileItIsWaitedRecordsWhatWasWritten(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	nowhere := strings.Replace(f.webDeployment(1, "nginx:1"), "spec     = {", "spec     = { nodeSelector = { no = \"where\" },", 1)
	tf.configure(f.provider(), resource(nowhere, everywhere, inOrder("5m")))
	looked := func(r kubetest.Request) bool { return r.Verb == kubetest.Get && r.Resource == "deployments" }
	tf.applyInterrupted(func() bool { return f.sites["asia"].proxy.Count(looked) > 2 })
	tf.untainted()
	state := tf.stateOf(x)
	if state == nil || !reflect.DeepEqual(state.names("pending_clusters"), []string{"asia", "eu", "us"}) {
		t.Fatalf("the state says %v", state)
	}
	f.wantImages("nginx:1", "", "")
	tf.configure(f.provider(), resource(f.webDeployment(1, "nginx:2"), everywhere, inOrder("2m")))
	tf.apply().does(map[string]string{x: "update"}).sound()
	f.wantImages("nginx:2", "nginx:2", "nginx:2")
	tf.plan().empty().quiet()
}

func TestAccWhatIsUnknownOfARolloutIsKnownAtApply(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	for first, image := range map[string]string{"us": "nginx:1", "eu": "nginx:2"} {
		tf.configure(f.provider(), late(map[string]string{"first": fmt.Sprintf("%q", first), "time": `"1m"`}), resource(f.webDeployment(1, image), everywhere,
			"rollout = { groups = [{ clusters = [terraform_data.first.output] }], min_ready_time = \"1s\", max_concurrency = 1 }", "wait = { timeout = terraform_data.time.output }"))
		tf.plan().succeeds()
		tf.applySaved().succeeds().sound()
		tf.plan().empty().quiet()
	}
}
