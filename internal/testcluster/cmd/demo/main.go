// Command demo shows the provider's main job on real clusters: it starts a host
// and two members, applies examples/quickstart, changes one member behind
// Terraform's back, shows the plan that finds it, mends it, and cleans up. It
// ends with an error as soon as a step does not give what it should.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() { os.Exit(execute()) }

func execute() int {
	var d demo
	flag.StringVar(&d.root, "root", "", "the repository, as an absolute path")
	flag.StringVar(&d.tool, "terraform", "terraform", "Terraform or OpenTofu: a name on the path, or a path")
	flag.StringVar(&d.provider, "provider", "", "the built provider, as an absolute path")
	flag.StringVar(&d.version, "version", "0.0.1", "its version")
	flag.Parse()
	if !filepath.IsAbs(d.root) || !filepath.IsAbs(d.provider) || flag.NArg() > 0 {
		flag.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	begin := time.Now()
	if err := d.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo: FAILED:", err)
		return 1
	}
	fmt.Printf("\ndemo: all steps gave what they should, in %.0f s\n", time.Since(begin).Seconds())
	return 0
}
