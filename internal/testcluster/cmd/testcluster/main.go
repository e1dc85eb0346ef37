// Command testcluster builds, starts and stops real Kubernetes clusters for
// tests and the demo, without containers. See the package it is built on.
//
// Relative paths start at the root of the repository, wherever it is run from,
// because `go run -C` changes the working directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage:
  testcluster build  [--bin DIR]
  testcluster up     --dir DIR [--members N] [--host] [--name NAME]... [--nodes K] [--lean]
  testcluster run    (as up; stays, and stops the clusters when its standard input ends)
  testcluster down   --dir DIR
  testcluster signal --dir DIR --cluster NAME --component NAME STOP|CONT|KILL|START
`

// errUsage is a command line that makes no sense.
var errUsage = errors.New("wrong usage")

func main() { os.Exit(execute()) }

func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := dispatch(ctx, os.Args[1:])
	if errors.Is(err, errUsage) || errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(os.Stderr, usage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		return 1
	}
	return 0
}

func dispatch(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context, []string) error{
		"build": build, "up": up, "run": run, "down": down, "signal": signalComponent,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		return errUsage
	}
	return commands[args[0]](ctx, args[1:])
}
