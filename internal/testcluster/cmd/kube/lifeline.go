package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// followLifeline ties this process to the one that keeps the file named by
// TESTCLUSTER_LIFELINE locked: once the lock is free, that one is gone and this
// one ends. The kernel frees the lock however its holder dies, so a test binary
// that is killed leaves no control plane behind.
func followLifeline() {
	path := os.Getenv("TESTCLUSTER_LIFELINE")
	if path == "" {
		return
	}
	file, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "open the lifeline:", err)
		os.Exit(1)
	}
	go func() {
		for {
			err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			os.Exit(1)
		}
	}()
}
