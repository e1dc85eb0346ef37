package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubefed/terraform-provider-kubefed/internal/testcluster"
)

// modulePath is where the testcluster module lies in the repository.
const modulePath = "internal/testcluster"

func binFlag(flags *flag.FlagSet) *string {
	return flags.String("bin", ".kube/bin", "where the binaries lie")
}

// buildInto builds what is missing in bin.
func buildInto(ctx context.Context, bin string) (testcluster.Binaries, error) {
	root, err := repositoryRoot()
	if err != nil {
		return testcluster.Binaries{}, err
	}
	if bin, err = fromRoot(bin); err != nil {
		return testcluster.Binaries{}, err
	}
	return testcluster.Build(ctx, filepath.Join(root, modulePath), bin, os.Stderr)
}

// fromRoot makes a path absolute, counting from the root of the repository.
func fromRoot(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("%w: a directory is missing", errUsage)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	root, err := repositoryRoot()
	return filepath.Join(root, path), err
}

// repositoryRoot is the nearest directory above that holds this module.
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
			return "", errors.New("find the repository: run this inside it")
		}
		dir = parent
	}
}
