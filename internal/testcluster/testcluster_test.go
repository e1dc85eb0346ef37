package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// build makes the binaries where everything in the repository shares them.
func build(t *testing.T) Binaries {
	t.Helper()
	module, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := Build(t.Context(), module, filepath.Join(module, "..", "..", ".kube", "bin"), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return binaries
}

func leanOptions(t *testing.T, dir string, names ...string) Options {
	t.Helper()
	return Options{Dir: dir, Kube: build(t).Kube, Names: names, Lean: true}
}

// up starts lean clusters and takes them down when the test ends.
func up(t *testing.T, dir string, names ...string) {
	t.Helper()
	if err := Up(t.Context(), leanOptions(t, dir, names...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Down(context.WithoutCancel(t.Context()), dir); err != nil {
			t.Error(err)
		}
	})
}

// recorded returns the processes of a cluster.
func recorded(t *testing.T, dir, cluster string) []*process {
	t.Helper()
	all, err := processes(filepath.Join(dir, cluster))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func aliveCount(all []*process) int {
	count := 0
	for _, p := range all {
		if p.alive() {
			count++
		}
	}
	return count
}

func noneAlive(all []*process) error {
	if n := aliveCount(all); n > 0 {
		return fmt.Errorf("%d processes are alive", n)
	}
	return nil
}

func TestDownStopsEverythingAndRemovesOnlyWhatUpMade(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	up(t, dir, "a", "b")
	if _, err := os.Stat(filepath.Join(dir, kubeconfigFile)); err != nil {
		t.Error(err)
	}
	all := append(recorded(t, dir, "a"), recorded(t, dir, "b")...)
	if len(all) != 4 || aliveCount(all) != 4 {
		t.Fatalf("%d of %d processes run, want 4 of 4", aliveCount(all), len(all))
	}
	if err := Down(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if n := aliveCount(all); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "mine.txt" {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}

func TestRunsDoNotDisturbEachOther(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	up(t, first, "same")
	up(t, second, "same")
	if err := Down(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	api, err := recorded(t, second, "same")[1].api()
	if err != nil {
		t.Fatal(err)
	}
	if err := api.ready(t.Context()); err != nil {
		t.Errorf("the other run has ended too: %v", err)
	}
}

func TestUpRefusesADirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	up(t, dir, "a")
	if err := Up(t.Context(), leanOptions(t, dir, "b")); err == nil {
		t.Error("a second run started in the same directory")
	}
	if n := aliveCount(recorded(t, dir, "a")); n != 2 {
		t.Errorf("%d processes of the first run are alive, want 2", n)
	}
}

func TestRunningKnowsWhatUpStarted(t *testing.T) {
	dir := t.TempDir()
	ask := func(o Options) (bool, error) { return Running(t.Context(), o) }
	asked := leanOptions(t, dir, "a")
	if running, err := ask(asked); running || err != nil {
		t.Errorf("before: %v, %v", running, err)
	}
	up(t, dir, "a")
	if running, err := ask(asked); !running || err != nil {
		t.Errorf("the same clusters again: %v, %v", running, err)
	}
	more, full := leanOptions(t, dir, "a", "b"), asked
	full.Lean = false
	for _, other := range []Options{more, full} {
		if running, err := ask(other); running || err == nil || !strings.Contains(err.Error(), "make clusters-down") {
			t.Errorf("others: %v, %v", running, err)
		}
	}
	if err := Signal(t.Context(), dir, "a", APIServer, Kill); err != nil {
		t.Fatal(err)
	}
	if running, err := ask(asked); running || err == nil || !strings.Contains(err.Error(), "make clusters-down") {
		t.Errorf("after their end: %v, %v", running, err)
	}
}

func TestUpRefusesADirectoryWithAForeignKubeconfig(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, kubeconfigFile), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Up(t.Context(), leanOptions(t, dir, "a")); err == nil {
		t.Error("the kubeconfig would have been overwritten")
	}
}

func TestFailedUpLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan []*process, 1)
	go func() { // interrupt it as soon as something runs
		for ctx.Err() == nil {
			if all, err := processes(filepath.Join(dir, "a")); err == nil && len(all) == 2 {
				cancel()
				started <- all
			}
		}
	}()
	if err := Up(ctx, leanOptions(t, dir, "a")); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if n := aliveCount(<-started); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

func TestDownSparesAProcessThatTookOverARecordedID(t *testing.T) {
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = stranger.Wait()
		close(ended)
	}()
	dir := t.TempDir()
	if err := claim(Options{Dir: dir, Names: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	p := &process{Component: Etcd, PID: stranger.Process.Pid, dir: filepath.Join(dir, "a")}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.record(); err != nil {
		t.Fatal(err)
	}
	if err := Down(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Error("a stranger was killed")
	default:
	}
	if err := stranger.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestRunEndsWithItsStarterHoweverThatEnds(t *testing.T) {
	for name, end := range map[string]func(*exec.Cmd, func() error) error{
		"standard input closes": func(_ *exec.Cmd, closeStdin func() error) error { return closeStdin() },
		"SIGTERM":               func(c *exec.Cmd, _ func() error) error { return c.Process.Signal(syscall.SIGTERM) },
		"SIGKILL":               func(c *exec.Cmd, _ func() error) error { return c.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			command := exec.Command(build(t).Testcluster, "run", "--dir", dir, "--name", "a", "--lean")
			stdin, err := command.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			line := make([]byte, len("ready"))
			if _, err := stdout.Read(line); err != nil || string(line) != "ready" {
				t.Fatalf("got %q, %v", line, err)
			}
			all := recorded(t, dir, "a")
			if err := end(command, stdin.Close); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := await(ctx, nil, func(context.Context) error { return noneAlive(all) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVersionFlagsComeFromTheVersion(t *testing.T) {
	flags := versionFlags("v1.37.2")
	for _, want := range []string{"gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37"} {
		if !strings.Contains(flags, "-X k8s.io/component-base/version."+want) {
			t.Errorf("%q lacks %s", flags, want)
		}
	}
}

func TestDigestChangesWithASource(t *testing.T) {
	module := t.TempDir()
	source := filepath.Join(module, "a.go")
	digest := func(text string) string {
		t.Helper()
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := target{name: "a", sources: []string{"*.go"}}.digest(module)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if first := digest("one"); first != digest("one") || first == digest("two") {
		t.Error("the digest must follow the text of the source, and nothing else")
	}
}

func TestBinariesUnusedForAWeekAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-8 * 24 * time.Hour)
	for name, age := range map[string]time.Time{"kube-old": old, "kube-new": time.Now(), "other": old} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeUnused(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "kube-new" || entries[1].Name() != "other" {
		t.Errorf("left: %v, %v", entries, err)
	}
}
