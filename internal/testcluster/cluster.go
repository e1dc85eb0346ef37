package testcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// cluster is one control plane of a run.
type cluster struct {
	name  string
	dir   string // of this cluster, absolute
	kube  string // the binary
	port  int    // of the API server
	nodes int
	lean  bool
	env   []string
}

func (c *cluster) url() string        { return "https://127.0.0.1:" + strconv.Itoa(c.port) }
func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// credentials returns the CA certificate and the administrator's certificate
// and key, as PEM.
func (c *cluster) credentials() (ca, cert, key []byte, err error) {
	var errs [3]error
	ca, errs[0] = os.ReadFile(filepath.Join(c.dir, "pki", caCertFile))
	cert, errs[1] = os.ReadFile(filepath.Join(c.dir, "pki", adminCertFile))
	key, errs[2] = os.ReadFile(filepath.Join(c.dir, "pki", adminKeyFile))
	return ca, cert, key, errors.Join(errs[:]...)
}

// attempts is how often a cluster is started anew when its API server ends
// early. The cause is the port, which somebody may take between the kernel's
// naming it and the API server's listening on it.
const attempts = 3

// exitedError is the end of a process that should have kept running.
type exitedError struct {
	component string
	log       string // the end of it
}

func (e *exitedError) Error() string { return e.component + " ended early:\n" + e.log }

// up starts the cluster and waits until it is ready for use.
func (c *cluster) up(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := c.tryUp(ctx)
		if err == nil {
			return nil
		}
		var exited *exitedError
		if attempt == attempts || !errors.As(err, &exited) || exited.component != APIServer {
			return fmt.Errorf("start cluster %s: %w", c.name, err)
		}
		if err := c.down(ctx); err != nil {
			return fmt.Errorf("start cluster %s again: %w", c.name, err)
		}
	}
}

func (c *cluster) tryUp(ctx context.Context) error {
	if err := writePKI(filepath.Join(c.dir, "pki"), c.name); err != nil {
		return fmt.Errorf("create certificates: %w", err)
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	c.port = port
	if err := writeKubeconfig(c.kubeconfig(), []*cluster{c}); err != nil {
		return err
	}
	api, err := newAPI(c)
	if err != nil {
		return err
	}
	started, err := c.start(Etcd, APIServer)
	if err != nil {
		return err
	}
	if err := await(ctx, started, api.ready); err != nil {
		return err
	}
	if c.lean {
		return nil
	}
	rest, err := c.start(ControllerManager, Scheduler, Kwok)
	if err != nil {
		return err
	}
	started = append(started, rest...)
	for i := range c.nodes {
		if err := await(ctx, started, func(ctx context.Context) error { return api.createNode(ctx, c.name, i) }); err != nil {
			return err
		}
	}
	return await(ctx, started, func(ctx context.Context) error {
		return errors.Join(api.nodesReady(ctx, c.nodes), api.hasDefaultAccount(ctx))
	})
}

// start starts components, in order, without waiting for them.
func (c *cluster) start(components ...string) ([]*process, error) {
	var started []*process
	for _, component := range components {
		p := &process{Component: component, Program: c.kube, Args: c.arguments(component), Env: c.env, dir: c.dir}
		if err := p.start(); err != nil {
			return started, err
		}
		started = append(started, p)
	}
	return started, nil
}

// down kills the cluster's processes and removes its directory.
func (c *cluster) down(ctx context.Context) error {
	all, err := processes(c.dir)
	if err != nil {
		return err
	}
	for _, p := range all {
		err = errors.Join(err, p.kill(ctx))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(c.dir)
}

// await polls check until it returns nil, a process ends, or ctx is over.
func await(ctx context.Context, running []*process, check func(context.Context) error) error {
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		for _, p := range running {
			select {
			case <-p.exited:
				return &exitedError{component: p.Component, log: p.lastLines()}
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting: %w", ctx.Err(), err)
		case <-time.After(poll):
		}
	}
}

// freePort asks the kernel for a loopback port nobody listens on.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	return int(address.Port()), err
}
