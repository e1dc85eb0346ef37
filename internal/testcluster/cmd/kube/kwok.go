package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// kwok runs the controller that plays the kubelets. Its stages (what becomes
// of a node and of a pod) are those the KWOK module ships, read from a pipe so
// that no file has to travel with the binary.
func kwok() {
	if err := runKwok(); err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		os.Exit(1)
	}
}

func runKwok() error {
	// Kubernetes' packages, linked into this binary too, have put flags there
	// that KWOK's command would take for its own.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ExitOnError)
	if err := stagesOnStdin(); err != nil {
		return fmt.Errorf("pass the stages: %w", err)
	}
	os.Args = append(os.Args, "--config=-")

	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := log.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := config.InitFlags(ctx, flags)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	return command.ExecuteContext(ctx)
}

// stagesOnStdin replaces os.Stdin by a pipe that yields the stages.
func stagesOnStdin() error {
	stages := strings.Join([]string{
		nodefast.DefaultNodeInit,
		nodeheartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podfast.DefaultPodDelete,
	}, "\n---\n")
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	os.Stdin = read
	go func() {
		_, _ = write.WriteString(stages)
		_ = write.Close()
	}()
	return nil
}
