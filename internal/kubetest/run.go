package kubetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// modulePath is where the module that builds and runs clusters lies.
const modulePath = "internal/testcluster"

// testcluster builds the test clusters' binaries, once per test binary, and
// returns the path of the command that runs them.
var testcluster = sync.OnceValues(func() (string, error) {
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "run", "-C", filepath.Join(root, modulePath), "./cmd/testcluster", "build")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	build.Stderr = os.Stderr
	output, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("build the test clusters: %w", err)
	}
	return strings.TrimSpace(string(output)), nil
})

// repositoryRoot is the nearest directory above the tests that holds the
// testcluster module.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, modulePath, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the root of the repository: no directory above holds " + modulePath)
		}
		dir = parent
	}
}

// runner is a `testcluster run` process. The clusters end with its standard
// input, which the kernel closes even if this test binary is killed.
type runner struct {
	command *exec.Cmd
	stdin   io.Closer
	stderr  *bytes.Buffer
}

// start starts one cluster in a directory of its own and waits until it is
// ready.
func start(options Options) (*Cluster, error) {
	program, err := testcluster()
	if err != nil {
		return nil, err
	}
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	parent := filepath.Join(root, ".kube", "test")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, options.Name+"-")
	if err != nil {
		return nil, err
	}
	args := []string{"run", "--dir", dir, "--name", options.Name}
	if options.Lean {
		args = append(args, "--lean")
	}
	if options.Nodes > 0 {
		args = append(args, "--nodes", strconv.Itoa(options.Nodes))
	}
	r, err := startRunner(program, args)
	if err != nil {
		return nil, err
	}
	c, err := find(dir, options.Name)
	if err != nil {
		return nil, errors.Join(err, r.stop())
	}
	c.runner = r
	return c, nil
}

func startRunner(program string, args []string) (*runner, error) {
	r := &runner{command: exec.Command(program, args...), stderr: &bytes.Buffer{}}
	r.command.Stderr = r.stderr
	stdin, err := r.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := r.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.command.Start(); err != nil {
		return nil, err
	}
	r.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ready ") {
		return nil, fmt.Errorf("testcluster did not get ready: %w", errors.Join(err, r.stop()))
	}
	return r, nil
}

// stop ends the clusters and waits until nothing of them is left.
func (r *runner) stop() error {
	_ = r.stdin.Close()
	if err := r.command.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, r.stderr)
	}
	return nil
}
