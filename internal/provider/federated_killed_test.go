package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// victim is who is killed in the middle of an apply.
type victim string

const (
	theProvider victim = "the provider"
	terraformIt victim = "Terraform"
)

// applyKilled applies, and kills the victim with SIGKILL once it is time. It returns false if the apply was over before.
func (tf *terraform) applyKilled(who victim, isTime func() bool, options ...string) (killed bool) {
	tf.t.Helper()
	command := tf.command(append([]string{"apply", "-input=false", "-auto-approve", "-no-color"}, options...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		tf.t.Fatal(err)
	}
	// A provider whose Terraform was killed lives on.
	defer func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }()
	over := make(chan struct{})
	go func() {
		_ = command.Wait() // it ends in an error, being killed
		close(over)
	}()
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case <-over:
			return false
		case <-tick.C:
		}
		if isTime() && tf.kill(who, command.Process.Pid) {
			<-over
			return true
		}
	}
}

// kill kills Terraform, or the providers that it has started. Terraform is left alone in the middle of writing its state file: that it
// can be torn, or empty for a moment, is not the provider's to mend.
func (tf *terraform) kill(who victim, pid int) bool {
	tf.t.Helper()
	if who == theProvider {
		pids := children(tf.t, pid)
		for _, pid := range pids {
			tf.signal(pid, syscall.SIGKILL)
		}
		return len(pids) > 0
	}
	tf.signal(pid, syscall.SIGSTOP)
	tf.awaitStopped(pid)
	state, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	if err == nil && !json.Valid(state) {
		tf.signal(pid, syscall.SIGCONT)
		return false
	}
	tf.signal(pid, syscall.SIGKILL)
	return true
}

// awaitStopped waits until no thread of a process runs any more; the signal alone does not.
func (tf *terraform) awaitStopped(pid int) {
	tf.t.Helper()
	kubetest.Eventually(tf.t, func() error {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range threads {
			stat, _ := os.ReadFile(path) // a thread that has ended has none
			_, rest, _ := strings.Cut(string(stat), ") ")
			if rest != "" && !strings.ContainsAny(rest[:1], "TZX") {
				return fmt.Errorf("%s: %s", path, rest[:1])
			}
		}
		return err
	})
}

func (tf *terraform) signal(pid int, signal syscall.Signal) {
	tf.t.Helper()
	if err := syscall.Kill(pid, signal); err != nil && err != syscall.ESRCH {
		tf.t.Fatal(err)
	}
}

// children are the processes that a process has started.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lists {
		list, _ := os.ReadFile(path) // a thread that has ended has none
		for _, word := range strings.Fields(string(list)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, child)
		}
	}
	return pids
}

// herd are objects of three kinds, some of them with a Secret in them, on three members.
type herd struct {
	*federation
	tf     *terraform
	random *rand.Rand

	prefix, data string
	members      []string // none: everything is destroyed
}

// herdSize is how many objects a member holds.
const herdSize = 20

// herdKinds are the kinds of a herd, in turn: apiVersion, kind, and what is in the object.
var herdKinds = []struct{ apiVersion, kind, fields string }{
	{"v1", "ConfigMap", "data: {a: '%s'}"},
	{"v1", "Secret", "stringData: {a: '%s'}"},
	{"v1", "Service", "spec: {ports: [{port: 80}], externalName: '%s.example.com', type: ExternalName}"},
	{"batch/v1", "CronJob", "spec: {suspend: true, schedule: '@yearly', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: '%s'}]}}}}}"},
}

func (h *herd) configure() {
	h.t.Helper()
	var parts []string
	for i, kind := range herdKinds {
		parts = append(parts, named(strings.ToLower(kind.kind), fmt.Sprintf("count = %d", herdSize/len(herdKinds)), on(h.members...),
			fmt.Sprintf("template = \"{apiVersion: %s, kind: %s, metadata: {name: %s-%d-${count.index}, namespace: %s}, %s}\"",
				kind.apiVersion, kind.kind, h.prefix, i, h.namespace, fmt.Sprintf(kind.fields, h.data))))
	}
	h.tf.configure(append(parts, h.provider())...)
}

// step is a change of the whole herd.
func (h *herd) step(name string) (options []string) {
	switch name {
	case "create":
		h.members = h.names()
	case "update":
		h.data += "x"
	case "leave":
		h.members = []string{"asia", "eu"}
	case "return and update":
		h.data, h.members = h.data+"y", h.names()
	case "replace":
		h.prefix += "n"
	case "destroy":
		options = []string{"-destroy"}
	}
	h.configure()
	return options
}

// writes is how many writes of a step have reached members.
func (h *herd) writes() (n int) {
	for _, s := range h.sites {
		n += len(s.proxy.Writes())
	}
	return n
}

// writesOf is how many writes the steps take.
var writesOf = map[string]int{
	"create": 3 * herdSize, "update": 3 * herdSize, "leave": herdSize, "return and update": 3 * herdSize, "replace": 6 * herdSize, "destroy": 3 * herdSize,
}

// TestAccWhateverIsKilledTheNextApplyConverges: the provider or Terraform itself gets SIGKILL at a random moment of an apply. The next one
// finishes what was begun: every member holds every object once, as configured, and nothing else that is ours.
func TestAccWhateverIsKilledTheNextApplyConverges(t *testing.T) {
	t.Parallel()
	seed := setting("KUBEFED_KILL_SEED", 1)
	h := &herd{federation: newFederation(t, "asia", "eu", "us"), tf: newTerraform(t), random: rand.New(rand.NewPCG(seed, 0)), prefix: "h", data: "a"}
	for _, who := range []victim{theProvider, terraformIt} {
		for _, step := range []string{"create", "update", "leave", "return and update", "replace", "destroy"} {
			options := h.step(step)
			h.reset()
			after := 1 + h.random.IntN(writesOf[step]*4/5)
			killed := h.tf.applyKilled(who, func() bool { return h.writes() >= after }, options...)
			t.Logf("seed %d, %s: %s killed after %d writes: %v", seed, step, who, after, killed)
			if !killed {
				t.Errorf("the apply was over before %s was killed", who)
			}
			h.converges(step)
		}
	}
}

// converges wants one apply to bring all to what it shall be, without a word.
func (h *herd) converges(step string) {
	h.t.Helper()
	if step == "destroy" {
		h.tf.destroy().sound().succeeds()
		h.members = nil
	} else {
		h.tf.apply().sound().succeeds()
		h.tf.plan().empty().quiet()
		h.tf.untainted()
	}
	for _, member := range h.names() {
		h.holdsEach(step, member)
	}
	if h.t.Failed() {
		h.t.FailNow()
	}
}

// holdsEach wants a member to hold each object once, if it is to hold any. What the killed run was deleting may take a moment to go.
func (h *herd) holdsEach(step, member string) {
	h.t.Helper()
	for i, kind := range herdKinds {
		var want []string
		for n := range herdSize / len(herdKinds) {
			if slices.Contains(h.members, member) {
				want = append(want, fmt.Sprintf("%s-%d-%d", h.prefix, i, n))
			}
		}
		kubetest.Eventually(h.t, func() error {
			var got []string
			for _, o := range h.sites[member].List(h.t, kind.apiVersion, kind.kind, h.namespace, "terraform.kubefed.io/owner") {
				got = append(got, o.GetName())
				h.asConfigured(kind.kind, o.Object)
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("after %s, %s holds the %ss %v, want %v", step, member, kind.kind, got, want)
			}
			return nil
		})
	}
}

// asConfigured wants an object that is not of a former name to hold what is configured.
func (h *herd) asConfigured(kind string, object map[string]any) {
	h.t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		h.t.Fatal(err)
	}
	wanted := `"` + h.data
	if kind == "Secret" {
		wanted = `"` + base64.StdEncoding.EncodeToString([]byte(h.data)) + `"`
	}
	if strings.Contains(string(text), `"name":"`+h.prefix+"-") && !strings.Contains(string(text), wanted) {
		h.t.Errorf("not as configured, with %s in it: %s", wanted, text)
	}
}
