package provider_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

var errNotYet = errors.New("it is not yet time to interrupt")

// applyInterrupted applies, and interrupts Terraform, as Ctrl-C does, when it is time.
func (tf *terraform) applyInterrupted(isTime func() bool) {
	tf.t.Helper()
	command := tf.command("apply", "-input=false", "-auto-approve", "-no-color")
	var text bytes.Buffer
	command.Stdout, command.Stderr = &text, &text
	if err := command.Start(); err != nil {
		tf.t.Fatal(err)
	}
	kubetest.Eventually(tf.t, func() error {
		if !isTime() {
			return errNotYet
		}
		return nil
	})
	if err := command.Process.Signal(os.Interrupt); err != nil {
		tf.t.Fatal(err)
	}
	_ = command.Wait() // its exit code differs between Terraform and OpenTofu
	tf.t.Logf("the interrupted apply says:\n%s", &text)
}

func TestAccAnInterruptedApplyRecordsWhatItWroteAndTheNextOneFinishesIt(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	for _, data := range []string{"{a: one}", "{a: two}"} {
		tf.configure(f.provider(), resource(f.settings(data), everywhere))
		f.reset()
		held := f.sites["us"].proxy.BlackHole(kubetest.When(kubetest.Request.Write))
		answered := func(r kubetest.Request) bool { return r.Write() && r.Duration > 0 }
		tf.applyInterrupted(func() bool { return held.Hits() > 0 && f.sites["eu"].proxy.Count(answered) > 0 })
		tf.untainted()
		if state := tf.stateOf(x); state == nil || !reflect.DeepEqual(state.names("pending_clusters"), []string{"us"}) {
			t.Fatalf("the state after %s says %v", data, state)
		}
		f.wantOn("v1", "ConfigMap", "settings", map[string][]string{"{a: one}": {"eu"}, "{a: two}": {"eu", "us"}}[data]...)
		f.heal()
		f.reset()
		tf.apply().does(map[string]string{x: "update"})
		f.wantWrites(map[string]int{"us": 1})
		tf.plan().empty().quiet()
	}
}
