package kubetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// callTimeout bounds each request that a helper of this package makes.
const callTimeout = 30 * time.Second

// The components of a cluster that [Cluster.Signal] knows. A lean cluster has
// the first two.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
)

// Action is what [Cluster.Signal] does to a component.
type Action string

// The actions.
const (
	Stop     Action = "STOP"  // freeze: connections are accepted and never answered
	Continue Action = "CONT"  // thaw
	Kill     Action = "KILL"  // end at once: connections are refused
	Start    Action = "START" // start again, at the same port with the same data
)

// Cluster is a running Kubernetes cluster, with the rights of its administrator.
type Cluster struct {
	// Name of the cluster, which is also the context in its kubeconfig.
	Name string
	// Kubeconfig is the path of a kubeconfig with certificates embedded.
	Kubeconfig string

	dir     string // of the run it belongs to
	config  *rest.Config
	dynamic dynamic.Interface
	mapper  meta.ResettableRESTMapper
	runner  *runner // nil for clusters that somebody else started
}

// findRunning opens a cluster that somebody else started. A relative directory
// starts at the root of the repository, as it does for testcluster.
func findRunning(dir, name string) (*Cluster, error) {
	if !filepath.IsAbs(dir) {
		root, err := repositoryRoot()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(root, dir)
	}
	return find(dir, name)
}

// find opens a cluster of the run in dir.
func find(dir, name string) (*Cluster, error) {
	kubeconfig := filepath.Join(dir, name, "kubeconfig")
	if _, err := os.Stat(kubeconfig); err != nil {
		return nil, fmt.Errorf("no cluster %s runs in %s: %w", name, dir, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = "kubetest"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		Name: name, Kubeconfig: kubeconfig, dir: dir, config: config, dynamic: client,
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds)),
	}, nil
}

// stop ends the cluster if this binary started it.
func (c *Cluster) stop() error {
	if c.runner == nil {
		return nil
	}
	return c.runner.stop()
}

// RESTConfig returns a client configuration without rate limit, for the caller
// to change.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.config) }

// Dynamic returns a client for objects of any kind.
func (c *Cluster) Dynamic(t testing.TB) dynamic.Interface {
	t.Helper()
	return c.dynamic
}

// Namespace creates a namespace with a unique name and deletes it when the test
// ends, without waiting until it is gone.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name := UniqueName(t, "test")
	c.Create(t, map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	})
	t.Cleanup(func() { c.Delete(t, "v1", "Namespace", "", name) })
	return name
}

// Signal does action to a component of the cluster and waits until that is
// done: a killed one is gone, a started or continued API server serves. Break
// [Fresh] clusters only; the shared ones serve other tests too.
func (c *Cluster) Signal(t testing.TB, component string, action Action) {
	t.Helper()
	program, err := testcluster()
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	command := exec.Command(program,
		"signal", "--dir", c.dir, "--cluster", c.Name, "--component", component, string(action))
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		t.Fatalf("%s %s of cluster %s: %v\n%s", action, component, c.Name, err, output.String())
	}
}

// UniqueName returns prefix with a random suffix, valid as the name of any
// object if prefix is.
func UniqueName(t testing.TB, prefix string) string {
	t.Helper()
	suffix := make([]byte, 4)
	if _, err := rand.Read(suffix); err != nil {
		t.Fatal(err)
	}
	return prefix + "-" + hex.EncodeToString(suffix)
}

// patience outlasts what a cluster does in a second or two on a machine where all packages are tested at once.
const patience = time.Minute

// Eventually calls check until it returns nil, ten times a second, and fails
// the test with its last error after a minute.
func Eventually(t testing.TB, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %v", patience, err)
		case <-tick.C:
		}
	}
}
