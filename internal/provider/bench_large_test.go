//go:build bench

package provider_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// TestBenchMembers measures how a plan with nothing to do grows with the members.
func TestBenchMembers(t *testing.T) {
	clusters := map[string]*kubetest.Cluster{}
	for i, cluster := range kubetest.FreshMany(t, 16, kubetest.Options{Name: "site", Lean: true}) {
		clusters[fmt.Sprintf("site-%02d", i+1)] = cluster
	}
	f := newFederationOf(t, clusters)
	plan := func(resources int, members ...string) (*terraform, float64) {
		tf := newTerraform(t).isolate()
		tf.configure(f.providerOf(members), benchObjects(f.namespace, "yamlencode", resources))
		took := seconds(func() { tf.apply().succeeds() })
		report(fmt.Sprintf("apply of %d objects on %d members", resources, len(members)), took, "s", 0)
		return tf, median(func() { tf.plan().empty() })
	}
	alone, one := plan(benchResources, "site-01")
	alone.destroy().succeeds()
	everywhere, sixteen := plan(benchResources, f.names()...)
	everywhere.destroy().succeeds()
	report("plan with nothing to do, 16 members / 1 member", sixteen/one, "ratio", 2)

	copies, _ := plan(625, f.names()...)
	peak := peakMemory(copies, func() { copies.plan().empty() })
	report("plan with nothing to do of 10 000 copies: provider memory", peak, "MB", 250)
	copies.destroy().succeeds()
}

// TestBenchResources measures how a plan with nothing to do grows with the resources.
func TestBenchResources(t *testing.T) {
	f := newFederation(t, "ap", "eu", "us")
	each := map[int]float64{}
	for _, resources := range []int{80, 800} {
		tf := newTerraform(t).isolate()
		tf.configure(f.provider(), benchObjects(f.namespace, "yamlencode", resources))
		tf.apply().succeeds()
		each[resources] = median(func() { tf.plan().empty() }) / float64(resources)
		tf.destroy().succeeds()
	}
	report("plan with nothing to do: time per resource, 800 resources / 80", each[800]/each[80], "ratio", 1)
}

// peakMemory is the most memory, in MB, that a provider process has held while do ran.
func peakMemory(tf *terraform, do func()) float64 {
	stop, peak := make(chan struct{}), 0.0
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			peak = max(peak, providerMemory(tf))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	do()
	close(stop)
	watching.Wait()
	return peak
}

// providerMemory reads the high-water marks of the provider processes that Terraform has started.
func providerMemory(tf *terraform) float64 {
	most := 0.0
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return 0
	}
	for _, file := range files {
		command, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err != nil || !bytes.HasPrefix(command, []byte(tf.plugins)) {
			continue
		}
		status, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(status) {
			if mark, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
				kilobytes, _ := strconv.ParseFloat(string(bytes.TrimSuffix(bytes.TrimSpace(mark), []byte(" kB"))), 64)
				most = max(most, kilobytes/1000)
			}
		}
	}
	return most
}
