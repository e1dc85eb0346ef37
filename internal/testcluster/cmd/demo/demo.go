package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/testcluster"
)

// clusters are those that the demo starts, named as examples/quickstart expects
// its contexts.
var clusters = []string{"host", "member-1", "member-2"}

// demo is one run.
type demo struct {
	root, tool, provider, version string

	dir  string // of this run
	work string // where Terraform works
}

func (d *demo) run(ctx context.Context) (err error) {
	kube := filepath.Join(d.root, ".kube")
	binaries, err := testcluster.Build(ctx, filepath.Join(d.root, "internal", "testcluster"), filepath.Join(kube, "bin"), os.Stdout)
	if err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp(kube, "demo-"); err != nil {
		return err
	}
	defer func() {
		say("Stopping the clusters")
		err = errors.Join(err, d.stop(context.WithoutCancel(ctx)))
	}()
	say("Starting three Kubernetes clusters: a host and two members")
	lifeline, err := testcluster.HoldLifeline(d.dir)
	if err != nil {
		return err
	}
	options := testcluster.Options{Dir: d.dir, Kube: binaries.Kube, Names: clusters, Nodes: 2, Lifeline: lifeline}
	if err := testcluster.Up(ctx, options); err != nil {
		return err
	}
	return d.steps(ctx)
}

func (d *demo) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return errors.Join(testcluster.Down(ctx, d.dir), os.RemoveAll(d.dir))
}

// steps is what the demo shows. Each checks what it gives.
func (d *demo) steps(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		d.prepare, d.create, d.wantReplicas(5, 3), d.meddle, d.find, d.mend, d.wantReplicas(5, 3), d.wantNothingToDo, d.destroy,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) create(ctx context.Context) error {
	say("Planning and applying examples/quickstart: control plane, two joined clusters, a Namespace, a ConfigMap, an nginx")
	if _, err := d.terraform(ctx, "plan", "-input=false", "-out=saved"); err != nil {
		return err
	}
	_, err := d.terraform(ctx, "apply", "-input=false", "saved")
	return err
}

// wantReplicas asks the members themselves.
func (d *demo) wantReplicas(eu, us int) func(context.Context) error {
	return func(ctx context.Context) error {
		say("Asking the clusters: nginx should have %d replicas ready on eu (member-1), %d on us (member-2)", eu, us)
		for cluster, want := range map[string]int{"member-1": eu, "member-2": us} {
			if err := d.ready(ctx, cluster, want); err != nil {
				return err
			}
			fmt.Printf("%s answers: %d of %d ready\n", cluster, want, want)
		}
		return nil
	}
}

// meddler is who changes a member behind Terraform's back.
const meddler = "colleague-with-kubectl"

const nginx = "/apis/apps/v1/namespaces/shop/deployments/nginx"

// ready waits until the Deployment has so many replicas, all of them ready.
func (d *demo) ready(ctx context.Context, cluster string, want int) error {
	return d.await(ctx, cluster, nginx, func(answer []byte) error {
		var found struct {
			Spec   struct{ Replicas int }
			Status struct{ ReadyReplicas int }
		}
		if err := json.Unmarshal(answer, &found); err != nil {
			return err
		}
		if found.Spec.Replicas != want || found.Status.ReadyReplicas != want {
			return fmt.Errorf("nginx on %s has %d of %d replicas ready, want %d", cluster, found.Status.ReadyReplicas, found.Spec.Replicas, want)
		}
		return nil
	})
}

// await asks a cluster until its answer is what it should be.
func (d *demo) await(ctx context.Context, cluster, path string, check func(answer []byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		answer, err := testcluster.Request(ctx, d.dir, cluster, http.MethodGet, path, "application/json", nil)
		if err == nil {
			err = check(answer)
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

func (d *demo) meddle(ctx context.Context) error {
	say("Scaling nginx on eu to 9, behind Terraform's back")
	_, err := testcluster.Request(ctx, d.dir, "member-1", http.MethodPatch, nginx+"/scale?fieldManager="+meddler,
		"application/merge-patch+json", []byte(`{"spec":{"replicas":9}}`))
	return err
}

func (d *demo) find(ctx context.Context) error {
	say("Planning: the plan names the member, the field and both values")
	text, err := d.terraform(ctx, "plan", "-input=false", "-out=saved")
	if err != nil {
		return err
	}
	for _, want := range []string{`~ "eu" = {`, `~ "/spec/replicas" = "9" -> "5"`, meddler, "0 to add, 1 to change, 0 to destroy"} {
		if !strings.Contains(text, want) {
			return fmt.Errorf("the plan does not say %q", want)
		}
	}
	return nil
}

func (d *demo) mend(ctx context.Context) error {
	say("Applying")
	_, err := d.terraform(ctx, "apply", "-input=false", "saved")
	return err
}

func (d *demo) wantNothingToDo(ctx context.Context) error {
	say("Planning again: there is nothing to do")
	_, err := d.terraform(ctx, "plan", "-input=false", "-detailed-exitcode")
	return err
}

func (d *demo) destroy(ctx context.Context) error {
	say("Destroying everything (its plan, every attribute of everything, is not shown)")
	if text, err := d.show(ctx, io.Discard, "plan", "-input=false", "-destroy", "-out=saved"); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if _, err := d.terraform(ctx, "apply", "-input=false", "saved"); err != nil {
		return err
	}
	for _, cluster := range clusters[1:] {
		if err := d.await(ctx, cluster, "/api/v1/namespaces", wantNothingOfOurs); err != nil {
			return fmt.Errorf("look for what is left on %s: %w", cluster, err)
		}
	}
	return nil
}

// wantNothingOfOurs looks for what the example has made in a list of namespaces. The federation's own goes by the cluster's garbage collection,
// which may take a moment longer than the destroy.
func wantNothingOfOurs(namespaces []byte) error {
	for _, name := range []string{`"shop"`, `"kube-federation-system"`} {
		if strings.Contains(string(namespaces), `"name":`+name) {
			return fmt.Errorf("namespace %s is left", name)
		}
	}
	return nil
}

func say(format string, values ...any) {
	fmt.Printf("\n==> "+format+"\n", values...)
}
