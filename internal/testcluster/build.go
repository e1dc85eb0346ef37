package testcluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// signOfLife is how often a long build says that it goes on.
const signOfLife = 15 * time.Second

// Binaries are the absolute paths of what [Build] makes.
type Binaries struct {
	Kube        string // the control plane
	Testcluster string // the command that runs it
}

// Build makes the binaries in dir unless they are there already. module is the
// directory of this module's go.mod. The first build of Kubernetes takes
// minutes; progress goes to log. Builds of several programs at once take turns.
//
// The name of a binary ends in a digest of its sources, so that work trees on
// different commits can share a directory. Binaries not asked for in a week are
// removed.
func Build(ctx context.Context, module, dir string, log io.Writer) (Binaries, error) {
	fail := func(err error) (Binaries, error) {
		return Binaries{}, fmt.Errorf("build the test clusters: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(err)
	}
	version, err := kubernetesVersion(ctx, module)
	if err != nil {
		return fail(err)
	}
	unlock, err := lockBuild(ctx, dir, log)
	if err != nil {
		return fail(err)
	}
	defer unlock()
	kube, err := target{
		name: "kube", sources: []string{"go.mod", "go.sum", "cmd/kube/*.go"}, ldflags: versionFlags(version),
		notice: "Building Kubernetes " + version + ", etcd and KWOK. The first time this takes some minutes (about six on two cores).",
	}.build(ctx, module, dir, log)
	if err != nil {
		return fail(err)
	}
	command, err := target{
		name: "testcluster", sources: []string{"*.go", "cmd/testcluster/*.go"}, ldflags: "-s -w",
	}.build(ctx, module, dir, log)
	if err != nil {
		return fail(err)
	}
	return Binaries{Kube: kube, Testcluster: command}, removeUnused(dir)
}

// target is one binary: package ./cmd/<name> of the module.
type target struct {
	name    string
	sources []string // globs, relative to the module, of what it is made from
	ldflags string
	notice  string // said before a build that may take long
}

// build makes the binary unless it is there, and returns its path. It appears
// under its name only when it is complete.
func (t target) build(ctx context.Context, module, dir string, log io.Writer) (string, error) {
	digest, err := t.digest(module)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, t.name+"-"+digest)
	now := time.Now()
	if err := os.Chtimes(binary, now, now); err == nil {
		return binary, nil
	}
	if t.notice != "" {
		_, _ = fmt.Fprintln(log, t.notice)
	}
	unfinished := filepath.Join(dir, "unfinished-"+t.name)
	defer func() { _ = os.Remove(unfinished) }()
	if err := t.compile(ctx, module, unfinished, log); err != nil {
		return "", fmt.Errorf("compile %s: %w", t.name, err)
	}
	return binary, os.Rename(unfinished, binary)
}

// removeUnused removes binaries that were not asked for in a week.
func removeUnused(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, "kube-") && !strings.HasPrefix(name, "testcluster-") {
			continue
		}
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < 7*24*time.Hour {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// compile runs go build and says every now and then that it still does.
func (t target) compile(ctx context.Context, module, output string, log io.Writer) error {
	var messages bytes.Buffer
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", t.ldflags, "-o", output, "./cmd/"+t.name)
	command.Dir = module
	command.Env = append(os.Environ(), "GOWORK=off")
	command.Stdout, command.Stderr = &messages, &messages
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	begin := time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	tick := time.NewTicker(signOfLife)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%w\n%s", err, messages.String())
			}
			return nil
		case <-tick.C:
			_, _ = fmt.Fprintf(log, "  still building %s (%s)\n", t.name, time.Since(begin).Round(time.Second))
		}
	}
}

// digest is one of everything the binary is made from.
func (t target) digest(module string) (string, error) {
	digest := sha256.New()
	_, _ = fmt.Fprintln(digest, runtime.Version(), runtime.GOOS, runtime.GOARCH, t.ldflags)
	for _, pattern := range t.sources {
		files, err := filepath.Glob(filepath.Join(module, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			_, _ = fmt.Fprintf(digest, "%s %d\n%s", filepath.Base(file), len(text), text)
		}
	}
	return fmt.Sprintf("%x", digest.Sum(nil))[:16], nil
}

// kubernetesVersion reads from go.mod which Kubernetes is built, as v1.37.2.
func kubernetesVersion(ctx context.Context, module string) (string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	command.Dir = module
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("read the version of Kubernetes: %w: %s", err, failed.Stderr)
	}
	return strings.TrimSpace(string(output)), err
}

// versionFlags makes the binary report its version as a release does. Without
// them clients cannot parse what the server says it is.
func versionFlags(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	flags := "-s -w"
	for _, setting := range []string{
		"gitVersion=" + version, "gitMajor=" + parts[0], "gitMinor=" + parts[1],
		"gitTreeState=clean", "gitCommit=" + version, "buildDate=1970-01-01T00:00:00Z",
	} {
		flags += " -X k8s.io/component-base/version." + setting
	}
	return flags
}

// lockBuild waits for its turn to build into dir.
func lockBuild(ctx context.Context, dir string, log io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	begin, said := time.Now(), time.Duration(0)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(err, file.Close())
		}
		if waited := time.Since(begin); waited >= said {
			_, _ = fmt.Fprintf(log, "  waiting for another build of the same binaries (%s)\n", waited.Round(time.Second))
			said += signOfLife
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		case <-time.After(poll):
		}
	}
}
