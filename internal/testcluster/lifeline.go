package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const lifelineFile = "lifeline"

// HoldLifeline creates and locks the lifeline of a run in dir and returns its
// path for [Options.Lifeline]. The lock lasts as long as this process, however
// that ends; the clusters' processes wait for it and then end too. Unlike the
// id of a parent, this also holds for a component that another program started
// again with [Signal].
func HoldLifeline(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, lifelineFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return "", fmt.Errorf("lock %s: %w", path, err)
	}
	held = append(held, file)
	return path, nil
}

// held keeps the locked files from being closed by the garbage collector.
var held []*os.File
