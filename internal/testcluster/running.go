package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// answerTime is how long the API server of a cluster that runs may take to say so.
const answerTime = 10 * time.Second

// Running says whether what [Up] would start runs already: the run in o.Dir has
// at least the clusters asked for, made alike, and each of its clusters answers.
// Without a run there it is false. A run of others, or one that has ended, is an
// error that says how to stop it.
func Running(ctx context.Context, o Options) (bool, error) {
	there, err := readRun(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	const stop = "stop them first: `make clusters-down`, or testcluster down --dir"
	for _, name := range there.Clusters {
		if err := answers(ctx, o.Dir, name); err != nil {
			return false, fmt.Errorf("start clusters in %s: those that were started there do not all answer: %w; %s %s", o.Dir, err, stop, o.Dir)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(o.Names), func(name string) bool { return slices.Contains(there.Clusters, name) })
	if len(missing) > 0 || there.Lean != o.Lean || there.Nodes != o.Nodes {
		return false, fmt.Errorf("start clusters in %s: %s run there already (lean: %t, nodes: %d); to start others, %s %s",
			o.Dir, strings.Join(there.Clusters, ", "), there.Lean, there.Nodes, stop, o.Dir)
	}
	return true, nil
}

// answers returns nil if a cluster of the run in dir serves.
func answers(ctx context.Context, dir, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	p, err := readProcess(filepath.Join(dir, cluster), APIServer)
	if err != nil {
		return err
	}
	if !p.alive() {
		return fmt.Errorf("the %s of %s has ended", APIServer, cluster)
	}
	api, err := p.api()
	if err != nil {
		return err
	}
	return api.ready(ctx)
}
