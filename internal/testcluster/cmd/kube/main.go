// Command kube is the whole control plane in one binary: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kwok, chosen by its first
// argument. One link instead of five keeps the build short.
//
// It is built and started by the testcluster command, never by hand.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	_ "time/tzdata" // the time zones of CronJobs

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components maps the first argument to what it runs. Each function reads
// os.Args as if it were a program of its own and does not return normally.
var components = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          kubernetes(apiserver.NewAPIServerCommand),
	"kube-controller-manager": kubernetes(controllers.NewControllerManagerCommand),
	"kube-scheduler":          kubernetes(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kwok":                    kwok,
}

func kubernetes(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

func main() {
	if len(os.Args) < 2 || components[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: kube %s [flags]\n", strings.Join(names(), "|"))
		os.Exit(2)
	}
	run := components[os.Args[1]]
	os.Args = os.Args[1:]
	followLifeline()
	run()
}

func names() []string {
	all := make([]string, 0, len(components))
	for name := range components {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}
