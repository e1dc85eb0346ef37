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

// Build makes two binaries in dir unless they are there and up to date: kube,
// the control plane, and testcluster, the command that runs it. module is the
// directory of this module's go.mod. The first build of kube takes minutes;
// progress goes to log. Builds of several programs at once take turns.
func Build(ctx context.Context, module, dir string, log io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := lockBuild(ctx, dir, log)
	if err != nil {
		return fmt.Errorf("build the test clusters: %w", err)
	}
	defer unlock()
	version, err := kubernetesVersion(ctx, module)
	if err != nil {
		return fmt.Errorf("build the test clusters: %w", err)
	}
	kube := target{
		name: "kube", sources: []string{"go.mod", "go.sum", "cmd/kube/*.go"}, ldflags: versionFlags(version),
		notice: "Building Kubernetes " + version + ", etcd and KWOK. The first time this takes some minutes (about six on two cores).",
	}
	command := target{name: "testcluster", sources: []string{"*.go", "cmd/testcluster/*.go"}, ldflags: "-s -w"}
	for _, t := range []target{kube, command} {
		if err := t.build(ctx, module, dir, log); err != nil {
			return fmt.Errorf("build %s: %w", t.name, err)
		}
	}
	return nil
}

// target is one binary: package ./cmd/<name> of the module.
type target struct {
	name    string
	sources []string // globs, relative to the module, of what it is made from
	ldflags string
	notice  string // said before a build that may take long
}

// build makes the binary unless the stamp beside it says that it was made from
// the same sources. It appears under its name only when it is complete.
func (t target) build(ctx context.Context, module, dir string, log io.Writer) error {
	stamp, err := t.stamp(module)
	if err != nil {
		return err
	}
	binary, stampFile := filepath.Join(dir, t.name), filepath.Join(dir, t.name+".stamp")
	if _, err := os.Stat(binary); err == nil {
		if made, err := os.ReadFile(stampFile); err == nil && string(made) == stamp {
			return nil
		}
	}
	if t.notice != "" {
		_, _ = fmt.Fprintln(log, t.notice)
	}
	unfinished := binary + ".unfinished"
	defer func() { _ = os.Remove(unfinished) }()
	if err := t.compile(ctx, module, unfinished, log); err != nil {
		return err
	}
	if err := os.Rename(unfinished, binary); err != nil {
		return err
	}
	return os.WriteFile(stampFile, []byte(stamp), 0o600)
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

// stamp is a digest of everything the binary is made from.
func (t target) stamp(module string) (string, error) {
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
	return fmt.Sprintf("%x", digest.Sum(nil)), nil
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
