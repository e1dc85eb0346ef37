package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// walk is a fleet to which things happen at random: its configuration changes, members fail in the middle of what is done, and others edit
// and delete objects. It is repeatable but for the order in which members answer.
type walk struct {
	*federation
	tf     *terraform
	random *rand.Rand
	log    []string

	data      map[string]string
	overrides map[string]map[string]any // member → merge patch of data
	placed    []string
	policy    map[string]string
	late      string // a value that is unknown in the plan in which it changes
}

// TestAccWhateverHappensOneApplyBringsAllToWhatTheyShallBe walks. After each few steps everything is healed; then one apply must succeed, the
// plan after it be empty, and every member hold what the configuration says. On the way nothing may be tainted, or called a bug by Terraform.
// KUBEFED_WALK_STEPS and KUBEFED_WALK_SEED walk further and elsewhere.
func TestAccWhateverHappensOneApplyBringsAllToWhatTheyShallBe(t *testing.T) {
	t.Parallel()
	w := &walk{
		federation: newFederation(t, "asia", "eu", "us"), tf: newTerraform(t), random: rand.New(rand.NewPCG(setting("KUBEFED_WALK_SEED", 1), 0)),
		data: map[string]string{"a": "1"}, overrides: map[string]map[string]any{}, placed: []string{"asia", "eu", "us"},
		policy: map[string]string{"on_unreachable": "error", "on_failure": "stop"}, late: "0",
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("since all was well:\n" + strings.Join(w.log, "\n"))
		}
	})
	for range setting("KUBEFED_WALK_STEPS", 6) {
		for range 1 + w.random.IntN(3) {
			w.change()
		}
		for range w.random.IntN(3) {
			w.disturb(w.names()[w.random.IntN(3)])
		}
		w.step()
		if w.random.IntN(3) == 0 {
			w.settle()
		}
	}
	w.settle()
}

func setting(variable string, fallback uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(variable), 10, 64); err == nil {
		return n
	}
	return fallback
}

func (w *walk) note(format string, arguments ...any) {
	w.log = append(w.log, fmt.Sprintf(format, arguments...))
}

// one picks one of a few.
func one[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// change changes one thing in the configuration.
func (w *walk) change() {
	key, value := one(w.random, "a", "b", "c"), one(w.random, "1", "2", "3")
	switch w.random.IntN(6) {
	case 0, 1:
		w.data[key] = value
		if w.random.IntN(3) == 0 {
			delete(w.data, key)
		}
	case 2:
		name := one(w.random, w.names()...)
		w.overrides[name] = one(w.random, nil, map[string]any{key: nil}, map[string]any{key: "of " + name})
	case 3:
		w.placed = slices.DeleteFunc(w.names(), func(string) bool { return w.random.IntN(4) == 0 })
	case 4:
		w.policy["on_unreachable"], w.policy["on_failure"] = one(w.random, "error", "skip"), one(w.random, "stop", "continue")
	case 5:
		w.late = value
	}
}

// write writes the configuration.
func (w *walk) write() {
	w.t.Helper()
	w.note("data %v, late %s, overrides %v, placed %v, policy %v", w.data, w.late, w.overrides, w.placed, w.policy)
	data := "{ late = terraform_data.late.output"
	for _, key := range sortedKeys(w.data) {
		data += fmt.Sprintf(", %s = %q", key, w.data[key])
	}
	overrides := ""
	for _, name := range sortedKeys(w.overrides) {
		patch, err := json.Marshal(map[string]any{"data": w.overrides[name]})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(w.overrides[name]) > 0 {
			overrides += fmt.Sprintf("{ clusters = [%q], merge_patch = %q },", name, patch)
		}
	}
	w.tf.configure(w.provider(), late(map[string]string{"late": strconv.Quote(w.late)}),
		resource("template = "+w.configMap(`"walk"`, data+" }"), on(w.placed...), "overrides = ["+overrides+"]",
			fmt.Sprintf("policy = { on_conflict = \"force\", on_unreachable = %q, on_failure = %q }", w.policy["on_unreachable"], w.policy["on_failure"])))
}

// disturb lets something happen to a member, or to what it holds.
func (w *walk) disturb(name string) {
	w.t.Helper()
	s := w.sites[name]
	happening := one(w.random, "refuses", "refuses writes", "loses an answer", "dies in a write", "lost its object", "was edited", "was edited", "lost our mark")
	w.note("%s %s", name, happening)
	held, there := s.Find(w.t, "v1", "ConfigMap", w.namespace, "walk")
	edit := func(patch string) {
		if there {
			s.MergePatch(w.t, "v1", "ConfigMap", w.namespace, "walk", patch)
		}
	}
	switch happening {
	case "refuses":
		s.proxy.Refuse()
	case "refuses writes":
		w.refuseWrites(name)
	case "loses an answer":
		s.proxy.LoseAnswer(kubetest.Times(1))
	case "dies in a write":
		s.proxy.CutAfterWrites(1)
	case "lost its object":
		s.Delete(w.t, "v1", "ConfigMap", w.namespace, "walk")
		w.absent("v1", "ConfigMap", "walk", name)
	case "was edited":
		if there {
			data, _ := field(w.t, held, "data").(map[string]any)
			keys := slices.Sorted(maps.Keys(data))
			if len(keys) > 0 {
				edit(fmt.Sprintf(`{"data": {%q: %s}}`, one(w.random, keys...), one(w.random, `"evil"`, "null")))
			}
		}
	case "lost our mark":
		edit(`{"metadata": {"labels": {"terraform.kubefed.io/owner": null}}}`)
	}
}

// step applies what is configured, in one command or two.
func (w *walk) step() {
	w.t.Helper()
	w.write()
	if one(w.random, true, false) {
		w.sound(w.tf.apply())
	} else if plan := w.sound(w.tf.plan()); !plan.failed {
		w.sound(w.tf.applySaved())
	}
	w.tf.untainted()
}

// sound notes what a command said, and fails the test if Terraform takes the provider for broken.
func (w *walk) sound(o *outcome) *outcome {
	w.t.Helper()
	w.note("%s: failed %v%s", o.command, o.failed, list(o.errors))
	return o.sound()
}

// settle heals everything and wants all to be well after one apply.
func (w *walk) settle() {
	w.t.Helper()
	w.heal()
	w.sound(w.tf.apply()).succeeds()
	w.tf.plan().empty().quiet()
	w.wantOn("v1", "ConfigMap", "walk", w.placed...)
	for _, name := range w.placed {
		want := map[string]any{"late": w.late}
		for key, value := range w.data {
			want[key] = value
		}
		maps.Copy(want, w.overrides[name])
		maps.DeleteFunc(want, func(_ string, value any) bool { return value == nil })
		if got := field(w.t, w.get(name, "v1", "ConfigMap", "walk"), "data"); fmt.Sprint(got) != fmt.Sprint(want) {
			w.t.Errorf("%s holds %v, want %v", name, got, want)
		}
	}
	if w.t.Failed() {
		w.t.FailNow()
	}
	w.log = nil
}
