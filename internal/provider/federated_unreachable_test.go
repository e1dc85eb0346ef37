package provider_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// outages are ways in which a member does not answer, and what is said of each.
var outages = map[string]struct {
	start func(*kubetest.Proxy)
	says  string
}{
	"refused":          {func(p *kubetest.Proxy) { p.Refuse() }, "does not answer"},
	"black hole":       {func(p *kubetest.Proxy) { p.BlackHole() }, "does not answer"},
	"unknown CA":       {func(p *kubetest.Proxy) { p.BreakTLS(kubetest.UnknownAuthority) }, "certificate"},
	"expired":          {func(p *kubetest.Proxy) { p.BreakTLS(kubetest.Expired) }, "certificate"},
	"wrong host":       {func(p *kubetest.Proxy) { p.BreakTLS(kubetest.WrongHost) }, "certificate"},
	"401":              {func(p *kubetest.Proxy) { p.Status(401) }, "401"},
	"403":              {func(p *kubetest.Proxy) { p.Status(403) }, "403"},
	"429":              {func(p *kubetest.Proxy) { p.Status(429) }, "429"},
	"429 for an hour":  {func(p *kubetest.Proxy) { p.Status(429, kubetest.RetryAfter(time.Hour)) }, "429"},
	"500":              {func(p *kubetest.Proxy) { p.Status(500) }, "5xx"},
	"503":              {func(p *kubetest.Proxy) { p.Status(503) }, "5xx"},
	"503 on discovery": {func(p *kubetest.Proxy) { p.Status(503, kubetest.When(isDiscovery)) }, "5xx"},
	"bare 404":         {func(p *kubetest.Proxy) { p.BareNotFound() }, "unlike an API server"},
}

func isDiscovery(r kubetest.Request) bool { return r.Verb == kubetest.Discovery }

func TestAccACreationNeedsEveryMemberToAnswerAndARefreshForgetsNone(t *testing.T) {
	t.Parallel()
	f, tf, created := newFederation(t, "eu", "us"), newTerraform(t).isolate(), newTerraform(t).isolate()
	object := resource("template = "+f.configMap(`"x"`, "{}"), on("eu", "us"))
	tf.configure(f.provider(), object)
	created.configure(f.provider(), resource(f.settings("{a: one}"), on("eu", "us")))
	created.apply().succeeds().quiet()
	before := created.stateOf(x)
	for _, name := range sortedKeys(outages) {
		t.Run(name, func(t *testing.T) {
			f.reset()
			outages[name].start(f.sites["us"].proxy)
			defer f.heal()
			refusal := tf.plan().fails("Member cannot be reached", "us", outages[name].says, `policy.on_unreachable = "skip"`)
			if !strings.Contains(refusal.Snippet.Code, "placement") {
				t.Errorf("the error is bound to %q", refusal.Snippet.Code)
			}
			created.plan().empty().warns("Member cannot be read", "us", outages[name].says)
			f.wantNoWrites()
		})
	}
	created.apply().empty()
	if after := created.stateOf(x); !reflect.DeepEqual(before, after) {
		t.Errorf("the state has changed from %v to %v", before, after)
	}
}

func TestAccASkippedMemberIsPendingAndWrittenAloneWhenItIsBack(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(`policy = { on_unreachable = "skip" }`), resource(f.settings("{a: one}"), everywhere))
	f.sites["us"].proxy.Refuse()
	tf.plan().does(map[string]string{x: "create"}).warns("us", "does not answer", `policy.on_unreachable = "skip"`)
	if text := list(tf.applySaved().succeeds().warnings); !strings.Contains(text, "It is pending") {
		t.Errorf("the apply does not tell of the pending member:%s", text)
	}
	f.wantOn("v1", "ConfigMap", "settings", "eu")
	state := tf.stateOf(x)
	if got := state.names("pending_clusters"); !reflect.DeepEqual(got, []string{"us"}) {
		t.Errorf("pending_clusters are %v", got)
	}
	if got, _ := state.at("messages", "us").(string); !strings.Contains(got, "does not answer") {
		t.Errorf("messages are %v", state["messages"])
	}
	tf.plan().empty().warns("us", "pending")

	f.heal()
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).quiet()
	c := tf.planned(x)
	if !reflect.DeepEqual(c.Before["versions"], c.After["versions"]) || c.Unknown["pending_clusters"] != true {
		t.Errorf("more than the pending member is planned: %v -> %v", c.Before, c.After)
	}
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"us": 1})
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")
	if got := tf.stateOf(x).names("pending_clusters"); len(got) != 0 {
		t.Errorf("still pending: %v", got)
	}
	tf.plan().empty().quiet()
}

func TestAccAnUpdateWritesTheMembersThatAnswerAndThenNamesTheOneThatDoesNot(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds().quiet()

	tf.configure(f.provider(), resource(f.settings("{a: two}"), everywhere))
	f.sites["us"].proxy.Status(503, kubetest.When(isDiscovery))
	f.reset()
	plan := tf.plan().does(map[string]string{x: "update"})
	if text := list(plan.warnings); !strings.Contains(text, "The apply writes the other members and then ends in an error for this one") {
		t.Errorf("the plan does not say what the apply will do:%s", text)
	}
	tf.applySaved().fails("us", "5xx", "policy.on_unreachable")
	f.wantWrites(map[string]int{"asia": 1, "eu": 1})
	tf.untainted()
	state := tf.stateOf(x)
	if got := state.names("pending_clusters"); !reflect.DeepEqual(got, []string{"us"}) || state.at("versions", "us") == state.at("versions", "eu") {
		t.Errorf("pending_clusters are %v, versions %v", got, state["versions"])
	}

	f.heal()
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"us": 1})
	if got := field(t, f.get("us", "v1", "ConfigMap", "settings"), "data", "a"); got != "two" {
		t.Errorf("us holds %v", got)
	}
	tf.plan().empty().quiet()
}

func TestAccADestroyKeepsOnlyTheMemberThatDoesNotAnswerUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), everywhere))
	tf.apply().succeeds().quiet()

	f.sites["us"].proxy.Refuse()
	tf.destroy().fails("us", "does not answer", `policy.on_unreachable_delete = "forget"`)
	f.absent("v1", "ConfigMap", "settings", "eu")
	tf.untainted()
	if got := tf.stateOf(x); !reflect.DeepEqual(got.names("placed_clusters"), []string{"us"}) || got.at("versions", "eu") != nil {
		t.Errorf("the state says more than us: %v", got)
	}

	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("us"), `policy = { on_unreachable_delete = "forget" }`))
	tf.apply().succeeds()
	tf.destroy().succeeds()
	if got := tf.resources(); len(got) != 0 {
		t.Errorf("still in the state: %v", got)
	}
	f.heal()
	f.wantOn("v1", "ConfigMap", "settings", "us")
}

func TestAccAMemberThatLeavesWhileItIsDownStaysInStateUntilItCanBeDeletedFrom(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu", "us")))
	tf.apply().succeeds().quiet()

	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu")))
	f.sites["us"].proxy.Refuse()
	plan := tf.plan().does(map[string]string{x: "update"})
	if text := list(plan.warnings); !strings.Contains(text, "Member to delete from cannot be reached") {
		t.Errorf("the plan does not say so:%s", text)
	}
	tf.applySaved().fails("us", "does not answer", `policy.on_unreachable_delete = "forget"`)
	tf.untainted()

	f.heal()
	f.reset()
	tf.plan().does(map[string]string{x: "update"})
	tf.applySaved().succeeds()
	f.wantWrites(map[string]int{"us": 1})
	f.absent("v1", "ConfigMap", "settings", "us")
	tf.plan().empty().quiet()
}

func TestAccAnUpdateMaySkipAMemberThatIsDown(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(`policy = { on_unreachable = "skip" }`), resource(f.settings("{a: one, b: two}"), everywhere))
	tf.apply().succeeds().quiet()
	tf.configure(f.provider(`policy = { on_unreachable = "skip" }`), resource(f.settings("{a: two}"), everywhere))
	f.sites["us"].proxy.Refuse()
	if text := list(tf.apply().succeeds().warnings); !strings.Contains(text, "It is pending") {
		t.Errorf("no warning says that us is pending:%s", text)
	}
	if state := tf.stateOf(x); !reflect.DeepEqual(state.names("pending_clusters"), []string{"us"}) || state.at("versions", "us") != state.at("versions", "eu") {
		t.Errorf("the state says %v, %v", state["pending_clusters"], state["versions"])
	}
	tf.plan().empty().warns("us")

	tf.configure(f.provider(`policy = { on_unreachable = "skip" }`), resource(f.settings("{a: three}"), everywhere))
	if text := list(tf.apply().succeeds().warnings); !strings.Contains(text, "It is pending") {
		t.Errorf("no warning says that us is pending:%s", text)
	}
	f.heal()
	f.reset()
	tf.plan().does(map[string]string{x: "update"}).quiet()
	tf.applySaved().succeeds().quiet()
	f.wantWrites(map[string]int{"us": 1})
	if got := field(t, f.get("us", "v1", "ConfigMap", "settings"), "data"); !reflect.DeepEqual(got, map[string]any{"a": "three"}) {
		t.Errorf("us holds %v", got)
	}
	tf.plan().empty().quiet()
}

func TestAccAWriteWhoseAnswerIsLostIsNoVersionInStateAndFinishedByTheNextApply(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu")))
	tf.apply().succeeds().quiet()

	tf.configure(f.provider(), resource(f.settings("{a: one}"), on("eu", "us")))
	f.sites["us"].proxy.CutAfterWrites(1)
	tf.apply().fails("Member us", "does not answer")
	tf.untainted()
	if got := tf.stateOf(x).at("versions", "us"); got != nil {
		t.Errorf("the state has a version for us, and nobody knows what it holds: %v", got)
	}
	f.heal()
	tf.apply().succeeds()
	f.wantOn("v1", "ConfigMap", "settings", "eu", "us")
	tf.plan().empty().quiet()
}

func TestAccAnObjectIsNotReplacedWhileAMemberThatHasItIsDown(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	named := func(name, policy string) {
		tf.configure(f.provider(), resource("template = "+f.configMap(`"`+name+`"`, "{}"), everywhere, "policy = { on_unreachable = \"skip\""+policy+" }"))
	}
	named("old", "")
	tf.apply().succeeds().quiet()
	f.sites["us"].proxy.Refuse()
	f.reset()
	named("new", "")
	tf.plan().fails("Member with the object to be replaced cannot be reached", "us", `policy.on_unreachable_delete = "forget"`)
	f.wantNoWrites()

	named("old", `, on_unreachable_delete = "forget"`)
	tf.apply().succeeds()
	named("new", `, on_unreachable_delete = "forget"`)
	tf.apply().succeeds()
	f.wantOn("v1", "ConfigMap", "new", "eu")
	f.heal()
	tf.apply().succeeds()
	f.wantOn("v1", "ConfigMap", "new", "eu", "us")
	f.wantOn("v1", "ConfigMap", "old", "us")
	tf.plan().empty().quiet()
}
