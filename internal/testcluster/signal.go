package testcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
)

// Action is what [Signal] does to a component.
type Action string

// The actions.
const (
	Stop     Action = "STOP"  // freeze it: connections are accepted and never answered
	Continue Action = "CONT"  // thaw it
	Kill     Action = "KILL"  // end it at once; its port refuses connections
	Start    Action = "START" // start it again as it was, at the same port
)

// Signal does action to one component of one cluster of the run in dir, and
// waits until that is done: after Kill the process is gone, after Start or
// Continue of an API server it serves.
func Signal(ctx context.Context, dir, clusterName, component string, action Action) error {
	if !slices.Contains(Components, component) {
		return fmt.Errorf("signal %s: no such component; there are %v", component, Components)
	}
	p, err := readProcess(filepath.Join(dir, clusterName), component)
	if err != nil {
		return fmt.Errorf("signal %s of cluster %s: %w", component, clusterName, err)
	}
	switch action {
	case Stop:
		return p.signal(syscall.SIGSTOP)
	case Kill:
		return p.kill(ctx)
	case Continue:
		err = p.signal(syscall.SIGCONT)
	case Start:
		if p.alive() {
			return fmt.Errorf("start %s of cluster %s: it runs", component, clusterName)
		}
		err = p.start()
	default:
		return fmt.Errorf("signal %s: unknown action %q", component, action)
	}
	if err != nil || component != APIServer {
		return err
	}
	return p.serves(ctx)
}

// serves waits until the API server of the process answers.
func (p *process) serves(ctx context.Context) error {
	api, err := p.api()
	if err != nil {
		return err
	}
	return await(ctx, []*process{p}, api.ready)
}

// api returns a client of a recorded API server.
func (p *process) api() (*api, error) {
	c := &cluster{dir: p.dir}
	for _, argument := range p.Args {
		if _, err := fmt.Sscanf(argument, "--secure-port=%d", &c.port); err == nil {
			return newAPI(c)
		}
	}
	return nil, errors.New("read the API server's record: it names no port")
}
