package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Options says which clusters [Up] starts, and how.
type Options struct {
	// Dir is the absolute path of the run's directory. It is created; if it
	// exists, it may hold anything but another run or a file named config.
	Dir string
	// Kube is the absolute path of the binary that [Build] made.
	Kube string
	// Names of the clusters, which become their contexts.
	Names []string
	// Nodes is how many simulated nodes each cluster gets.
	Nodes int
	// Lean leaves out everything but etcd and the API server: nothing reacts
	// to what is created, namespaces never end, tokens are not issued into
	// Secrets.
	Lean bool
	// Lifeline names a file that the caller holds locked (see [HoldLifeline]).
	// The clusters end when the lock does. Empty: they outlive the caller.
	Lifeline string
}

// run is the marker file: it makes a directory a run, and lists its clusters.
type run struct {
	Clusters []string `json:"clusters"`
	Lean     bool     `json:"lean"`
	Nodes    int      `json:"nodes"`
}

const (
	markerFile     = "testcluster.json"
	kubeconfigFile = "config"
)

// Up starts all clusters at the same time and waits until each is ready: its
// API answers, and unless lean, its nodes take pods. After an error nothing
// of the run is left, neither process nor file.
func Up(ctx context.Context, o Options) error {
	if err := claim(o); err != nil {
		return err
	}
	clusters := make([]*cluster, len(o.Names))
	errs := make([]error, len(o.Names))
	var all sync.WaitGroup
	for i, name := range o.Names {
		c := &cluster{name: name, dir: filepath.Join(o.Dir, name), kube: o.Kube, nodes: o.Nodes, lean: o.Lean}
		if o.Lifeline != "" {
			c.env = []string{"TESTCLUSTER_LIFELINE=" + o.Lifeline}
		}
		clusters[i] = c
		all.Go(func() { errs[i] = c.up(ctx) })
	}
	all.Wait()
	err := errors.Join(errs...)
	if err == nil {
		err = writeKubeconfig(filepath.Join(o.Dir, kubeconfigFile), clusters)
	}
	if err != nil {
		return errors.Join(err, Down(context.WithoutCancel(ctx), o.Dir))
	}
	return nil
}

// claim makes the directory this run's, or fails if it is another's.
func claim(o Options) error {
	if !filepath.IsAbs(o.Dir) || len(o.Names) == 0 {
		return fmt.Errorf("start clusters %q in %q: an absolute directory and at least one name are needed", o.Names, o.Dir)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.Dir, kubeconfigFile)); err == nil {
		return fmt.Errorf("start clusters in %s: it holds a kubeconfig named config, which would be overwritten", o.Dir)
	}
	text, err := json.Marshal(run{Clusters: o.Names, Lean: o.Lean, Nodes: o.Nodes})
	if err != nil {
		return err
	}
	marker, err := os.OpenFile(filepath.Join(o.Dir, markerFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("start clusters in %s: another run is there; take it down first", o.Dir)
	}
	if err != nil {
		return err
	}
	_, err = marker.Write(text)
	return errors.Join(err, marker.Close())
}

// readRun returns the run in dir, or an error that is fs.ErrNotExist if there is none.
func readRun(dir string) (run, error) {
	var r run
	text, err := os.ReadFile(filepath.Join(dir, markerFile))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the clusters of %s: %w", dir, err)
	}
	return r, nil
}

// Down kills every process of the run in dir and removes what [Up] wrote, and
// dir itself if nothing else is in it. Without a run in dir it does nothing.
func Down(ctx context.Context, dir string) error {
	r, err := readRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range r.Clusters {
		c := &cluster{name: name, dir: filepath.Join(dir, name)}
		err = errors.Join(err, c.down(ctx))
	}
	if err != nil {
		return err // the marker stays, so that Down can be tried again
	}
	for _, file := range []string{kubeconfigFile, lifelineFile, markerFile} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
		return os.Remove(dir)
	}
	return nil
}
