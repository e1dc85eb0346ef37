package provider_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// The health_check of the provider block: probing is how long a member that says nothing may hold up a run.
const (
	attempts = 2
	probing  = attempts * 2 * time.Second
)

// lasts is how long a run takes.
func lasts(run func() *outcome) (*outcome, time.Duration) {
	start := time.Now()
	o := run()
	return o, time.Since(start)
}

// crowd are n ConfigMaps on eu and us.
type crowd struct {
	*federation
	tf     *terraform
	block  string // of the provider
	leave  func()
	n      int
	policy string        // on_unreachable
	up     time.Duration // of a plan that changes all of them, with all members up
}

func newCrowd(t *testing.T, n int, policy string) *crowd {
	t.Helper()
	f := newFederation(t, "eu", "us")
	return &crowd{federation: f, tf: newTerraform(t).isolate(), block: f.provider(), leave: func() {}, n: n, policy: policy}
}

// newJoinedCrowd has its members from a registry: another configuration has joined them.
func newJoinedCrowd(t *testing.T, n int, policy string) *crowd {
	t.Helper()
	h, join := newHosted(t, 2), newTerraform(t)
	join.configure(h.provider(), controlPlane, h.cluster("eu", 0), h.cluster("us", 1))
	join.apply().succeeds().quiet()
	f := &federation{t: t, sites: map[string]*site{"eu": h.sites[0], "us": h.sites[1]}, namespace: kubetest.UniqueName(t, "shop"), owner: h.owner}
	for _, s := range h.sites {
		makeNamespace(t, s.Cluster, f.namespace)
	}
	unjoin := func() { join.destroy().succeeds().quiet() }
	return &crowd{federation: f, tf: newTerraform(t).isolate(), block: h.provider(), leave: unjoin, n: n, policy: policy}
}

// write configures what all of them hold.
func (c *crowd) write(data string) {
	c.t.Helper()
	c.tf.configure(c.block, named("x", fmt.Sprintf("count = %d", c.n), fmt.Sprintf("policy = { on_unreachable = %q }", c.policy), on("eu", "us"),
		fmt.Sprintf("template = \"{apiVersion: v1, kind: ConfigMap, metadata: {name: many-${count.index}, namespace: %s}, data: {a: '%s'}}\"", c.namespace, data)))
}

// does fails the test unless a plan does the same with all of them and nothing else.
func (c *crowd) does(o *outcome, action string) {
	c.t.Helper()
	want := map[string]string{}
	for i := range c.n {
		want[fmt.Sprintf("%s[%d]", x, i)] = action
	}
	o.does(want)
}

// tells fails the test unless each of the diagnostics is about us and holds the words, and there is one at least for each of them.
func (c *crowd) tells(diagnostics []diagnostic, words ...string) {
	c.t.Helper()
	if len(diagnostics) < c.n {
		c.t.Errorf("%d are told, want one for each of the %d:%s", len(diagnostics), c.n, list(diagnostics))
	}
	for _, d := range diagnostics {
		for _, word := range append(words, "us") {
			if !strings.Contains(d.String(), word) {
				c.t.Fatalf("what is told lacks %q:\n%s", word, d)
			}
		}
	}
}

// uids are those of all objects on a member.
func (c *crowd) uids(member string) (uids []types.UID) {
	c.t.Helper()
	for i := range c.n {
		uids = append(uids, c.get(member, "v1", "ConfigMap", fmt.Sprintf("many-%d", i)).GetUID())
	}
	return uids
}

// planInTime plans while us says nothing, and fails the test if that takes more than probing and a second longer than with all members up. What else
// this machine does disturbs the measurement: both are measured again, twice at most, when a plan is late.
func (c *crowd) planInTime() *outcome {
	c.t.Helper()
	for again := 2; ; again-- {
		c.sites["us"].proxy.BlackHole()
		o, down := lasts(func() *outcome { return c.tf.plan() })
		late := down - c.up - probing - time.Second
		c.t.Logf("a plan of %d takes %s, and %s with all members up", c.n, down.Round(time.Millisecond), c.up.Round(time.Millisecond))
		if late <= 0 {
			return o
		}
		if again == 0 {
			c.t.Errorf("the plan is %s late", late)
			return o
		}
		c.heal()
		c.measure()
	}
}

// measure measures a plan with all members up.
func (c *crowd) measure() {
	c.t.Helper()
	_, c.up = lasts(func() *outcome { return c.tf.plan().succeeds().quiet() })
}

// TestAccASilentMemberHoldsUpAPlanForItsAttemptsAlone measures time, so no other test runs beside it.
func TestAccASilentMemberHoldsUpAPlanForItsAttemptsAlone(t *testing.T) {
	for _, n := range []int{1, 50} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := newCrowd(t, n, "error")
			c.write("at first")
			c.measure()
			c.tells(c.planInTime().errors, "Member cannot be reached", "does not answer")
			c.heal()
			c.tf.apply().succeeds().quiet()
			c.write("another value")
			c.measure()
			plan := c.planInTime()
			c.does(plan, "update")
			c.tells(plan.warnings, "cannot be rea", "does not answer")
		})
	}
}

// TestAccAnOutageOfAMemberCostsItsAttemptsOnceAndTouchesNothingElse: for one resource as for many, whatever the outage.
func TestAccAnOutageOfAMemberCostsItsAttemptsOnceAndTouchesNothingElse(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]struct {
		build   func(t *testing.T, n int, policy string) *crowd
		n       int
		policy  string
		outages []string
	}{
		"one":           {newCrowd, 1, "error", sortedKeys(outages)},
		"one, skipped":  {newCrowd, 1, "skip", []string{"401", "503 on discovery", "bare 404", "black hole", "expired"}},
		"one, joined":   {newJoinedCrowd, 1, "error", sortedKeys(outages)},
		"many":          {newCrowd, 50, "error", []string{"401", "403", "429", "500", "503 on discovery", "bare 404", "black hole", "refused", "unknown CA"}},
		"many, skipped": {newCrowd, 50, "skip", []string{"black hole"}},
		"many, joined":  {newJoinedCrowd, 50, "error", []string{"black hole"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := world.build(t, world.n, world.policy)
			defer c.leave()
			c.create()
			eu, us := c.uids("eu"), c.uids("us")
			for _, outage := range world.outages {
				t.Run(outage, func(t *testing.T) { c.inside(t).during(outage) })
			}
			c.tf.apply().succeeds().quiet()
			c.tf.plan().empty().quiet()
			if !reflect.DeepEqual(c.uids("eu"), eu) || !reflect.DeepEqual(c.uids("us"), us) {
				t.Error("some objects were deleted and created anew")
			}
			c.destroy()
		})
	}
}

// create creates all objects, after a plan while us says nothing: that is an error for all of them, unless us may be skipped.
func (c *crowd) create() {
	c.t.Helper()
	c.write("at first")
	c.reset()
	c.sites["us"].proxy.BlackHole()
	plan := c.tf.plan()
	if c.policy == "skip" {
		c.does(plan, "create")
		c.tells(plan.warnings, "Member cannot be reached", "does not answer")
	} else {
		c.tells(plan.errors, "Member cannot be reached", "does not answer")
	}
	c.wantNoWrites()
	c.heal()
	c.tf.apply().succeeds().quiet()
}

// destroy deletes all objects while us says nothing, and those of us when it is back.
func (c *crowd) destroy() {
	c.t.Helper()
	c.sites["us"].proxy.BlackHole()
	c.tells(c.tf.destroy().errors, "does not answer", "policy.on_unreachable_delete")
	states := c.tf.resources()
	if len(states) != c.n {
		c.t.Errorf("%d resources are in the state", len(states))
	}
	for _, r := range states {
		if r.Tainted || !reflect.DeepEqual(r.Values.names("placed_clusters"), []string{"us"}) {
			c.t.Errorf("the state has %+v", r)
		}
	}
	c.heal()
	for i := range c.n {
		c.wantOn("v1", "ConfigMap", fmt.Sprintf("many-%d", i), "us")
	}
	c.tf.destroy().succeeds()
	for i := range c.n {
		c.wantOn("v1", "ConfigMap", fmt.Sprintf("many-%d", i))
	}
}

// inside is the same in a subtest.
func (c *crowd) inside(t *testing.T) *crowd {
	sub, f, tf := *c, *c.federation, *c.tf
	f.t, tf.t = t, t
	sub.federation, sub.tf = &f, &tf
	return &sub
}

// during changes all objects while us is out: those of the other member are written, and those of us stay as they are, here and in the state.
func (c *crowd) during(outage string) {
	defer c.heal()
	c.write(outage)
	c.reset()
	proxy := c.sites["us"].proxy
	before := proxy.Connections()
	outages[outage].start(proxy)
	plan := c.tf.plan()
	if requests, connections := len(proxy.Requests()), proxy.Connections()-before; requests > 2*attempts || connections > attempts {
		c.t.Errorf("a plan of %d made %d requests on %d connections to find that us is out: %v", c.n, requests, connections, proxy.Requests())
	}
	c.does(plan, "update")
	c.tells(plan.warnings, "cannot be rea", outages[outage].says)
	c.reset()
	apply := c.tf.applySaved()
	if c.policy == "skip" {
		c.tells(apply.succeeds().warnings, outages[outage].says, "It is pending")
	} else {
		c.tells(apply.errors, "Member cannot be reached", outages[outage].says, "policy.on_unreachable")
	}
	c.wantWrites(map[string]int{"eu": c.n})
	states := c.tf.resources()
	if len(states) != c.n {
		c.t.Errorf("%d resources are in the state", len(states))
	}
	for _, r := range states {
		if r.Tainted || !reflect.DeepEqual(r.Values.names("placed_clusters"), []string{"eu", "us"}) || !reflect.DeepEqual(r.Values.names("pending_clusters"), []string{"us"}) {
			c.t.Errorf("the state has %+v", r)
		}
	}
}
