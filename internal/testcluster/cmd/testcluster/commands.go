package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/testcluster"
)

// build prints the path of the testcluster binary it made or found.
func build(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	bin := binFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	binaries, err := buildInto(ctx, *bin)
	if err == nil {
		fmt.Println(binaries.Testcluster)
	}
	return err
}

func up(ctx context.Context, args []string) error {
	options, wait, err := clusterOptions(ctx, "up", args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	running, err := testcluster.Running(ctx, options)
	if err != nil {
		return err
	}
	if running {
		fmt.Fprintf(os.Stderr, "These clusters run already; kubeconfig: %s/config\n", options.Dir)
		return nil
	}
	begin := time.Now()
	if err := testcluster.Up(ctx, options); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d clusters are ready after %.1f s; kubeconfig: %s/config\n",
		len(options.Names), time.Since(begin).Seconds(), options.Dir)
	return nil
}

// run starts clusters that live no longer than it does. It prints one line on
// standard output when they are ready.
func run(ctx context.Context, args []string) error {
	options, wait, err := clusterOptions(ctx, "run", args)
	if err != nil {
		return err
	}
	if options.Lifeline, err = testcluster.HoldLifeline(options.Dir); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	starting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := testcluster.Up(starting, options); err != nil {
		return err
	}
	fmt.Println("ready", options.Dir)
	<-ctx.Done()
	return testcluster.Down(context.WithoutCancel(ctx), options.Dir)
}

func down(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("down", flag.ContinueOnError)
	dir := flags.String("dir", "", "the run's directory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	path, err := fromRoot(*dir)
	if err != nil {
		return err
	}
	return testcluster.Down(ctx, path)
}

func signalComponent(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("signal", flag.ContinueOnError)
	dir := flags.String("dir", "", "the run's directory")
	cluster := flags.String("cluster", "", "the cluster's name")
	component := flags.String("component", testcluster.APIServer, "the component's name")
	wait := flags.Duration("wait", time.Minute, "how long it may take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errUsage
	}
	path, err := fromRoot(*dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *wait)
	defer cancel()
	return testcluster.Signal(ctx, path, *cluster, *component, testcluster.Action(flags.Arg(0)))
}

// clusterOptions reads the flags of up and run and builds what they need.
func clusterOptions(ctx context.Context, command string, args []string) (testcluster.Options, time.Duration, error) {
	var o testcluster.Options
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	bin := binFlag(flags)
	dir := flags.String("dir", "", "the run's directory; made if needed")
	host := flags.Bool("host", false, "start a cluster named host")
	members := flags.Int("members", 0, "start clusters named member-1 to member-N")
	wait := flags.Duration("wait", 3*time.Minute, "how long starting may take")
	flags.IntVar(&o.Nodes, "nodes", 2, "simulated nodes of each cluster (8 CPUs, 32Gi, 110 pods)")
	flags.BoolVar(&o.Lean, "lean", false, "etcd and API server only")
	flags.Func("name", "start a cluster of this name (may be repeated)", func(name string) error {
		o.Names = append(o.Names, name)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return o, 0, err
	}
	if *host {
		o.Names = append(o.Names, "host")
	}
	for i := range *members {
		o.Names = append(o.Names, fmt.Sprintf("member-%d", i+1))
	}
	if len(o.Names) == 0 || flags.NArg() > 0 {
		return o, 0, errUsage
	}
	var err error
	if o.Dir, err = fromRoot(*dir); err != nil {
		return o, 0, err
	}
	binaries, err := buildInto(ctx, *bin)
	o.Kube = binaries.Kube
	return o, *wait, err
}
