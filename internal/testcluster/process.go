package testcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// poll is how often the state of a process or an API is looked at.
const poll = 50 * time.Millisecond

// process is one component of one cluster, as recorded beside its log. The
// record is enough to find, stop and start it again from another program.
type process struct {
	Component string   `json:"component"`
	Program   string   `json:"program"`
	Args      []string `json:"args"`
	Env       []string `json:"env,omitempty"`
	PID       int      `json:"pid"`

	dir    string        // the cluster's directory, which every command line names
	exited chan struct{} // closed when a process started here has ended
}

func recordPath(dir, component string) string { return filepath.Join(dir, component+".json") }
func logPath(dir, component string) string    { return filepath.Join(dir, component+".log") }

// start runs the process in its cluster's directory, detached from the
// terminal, and records it.
func (p *process) start() error {
	log, err := os.OpenFile(logPath(p.dir, p.Component), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	command := exec.Command(p.Program, append([]string{p.Component}, p.Args...)...) //nolint:noctx // it outlives its starter
	command.Dir = p.dir
	command.Env = append(os.Environ(), p.Env...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Component, err)
	}
	p.PID = command.Process.Pid
	exited := make(chan struct{})
	p.exited = exited
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	if err := p.record(); err != nil {
		return errors.Join(err, command.Process.Kill())
	}
	return nil
}

func (p *process) record() error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(recordPath(p.dir, p.Component), text, 0o600)
}

// readProcess returns the record of a component, or an error that is
// fs.ErrNotExist if it was never started.
func readProcess(dir, component string) (*process, error) {
	text, err := os.ReadFile(recordPath(dir, component))
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("read record of %s: %w", component, err)
	}
	return p, nil
}

// alive says whether the recorded id still belongs to the recorded process and
// not to another one that the kernel gave the id to since. A zombie is dead.
func (p *process) alive() bool {
	return p.PID > 0 && strings.Contains(commandLine(p.PID), p.dir+string(filepath.Separator))
}

// commandLine returns the command line of a process, "" if there is none.
func commandLine(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err == nil {
		return string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
	}
	if _, err := os.Stat("/proc/self/cmdline"); err == nil {
		return "" // there is a /proc, and the process is not in it
	}
	text, err = exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // it ends at once
	if err != nil {
		return ""
	}
	return string(text)
}

// signal sends a signal to the process if it is alive.
func (p *process) signal(s syscall.Signal) error {
	if !p.alive() {
		return fmt.Errorf("signal %s: %w", p.Component, os.ErrProcessDone)
	}
	if err := syscall.Kill(p.PID, s); err != nil {
		return fmt.Errorf("signal %s: %w", p.Component, err)
	}
	return nil
}

// kill ends the process at once and waits until it is gone. Nothing a test
// cluster holds is worth a graceful end. A process already gone is no error.
func (p *process) kill(ctx context.Context) error {
	err := p.signal(syscall.SIGKILL)
	if err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	for p.alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of %s (process %d): %w", p.Component, p.PID, ctx.Err())
		case <-time.After(poll):
		}
	}
	return nil
}

// lastLines returns the end of the component's log, for an error message.
func (p *process) lastLines() string {
	const keep = 15
	text, err := os.ReadFile(logPath(p.dir, p.Component))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-keep):], "\n")
}

// processes returns all recorded processes of a cluster.
func processes(dir string) ([]*process, error) {
	var all []*process
	for _, component := range Components {
		p, err := readProcess(dir, component)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
