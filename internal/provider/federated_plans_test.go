package provider_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

var (
	hash    = regexp.MustCompile(`v1:[0-9a-f]{32}`)
	instant = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// wantPlan compares the text of a plan, as a user reads it, with testdata/plans/<name>.golden. What differs from run to run (versions, times,
// the name of the namespace) is made the same. It returns the text.
func (f *federation) wantPlan(tf *terraform, name string) string {
	f.t.Helper()
	text, err := tf.output("plan", "-no-color", "-input=false", "-out=saved")
	if err != nil {
		f.t.Fatalf("plan: %v\n%s", err, text)
	}
	_, text, _ = strings.Cut(text, "will perform the following actions:\n\n")
	text = strings.ReplaceAll(instant.ReplaceAllString(hash.ReplaceAllString(text, "v1:<hash>"), "<time>"), f.namespace, "shop")
	golden := filepath.Join("testdata", "plans", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		f.t.Fatal(err)
	}
	if string(want) != text {
		f.t.Errorf("the plan reads otherwise than %s (go test -run %s -update writes it anew):\n%s", golden, f.t.Name(), text)
	}
	return text
}

func TestAccWhatPlansLookLike(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	manifest := func(image string) string {
		return `template = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: ` + f.namespace + `
      labels:
        app: web
    spec:
      replicas: 3
      selector:
        matchLabels:
          app: web
      template:
        metadata:
          labels:
            app: web
        spec:
          containers:
            - name: web
              image: ` + image + `
  YAML`
	}
	override := func(replicas string) string {
		return `overrides = [{ clusters = ["eu"], merge_patch = "spec: {replicas: ` + replicas + `}" }]`
	}
	tf.configure(f.provider(), resource(manifest("nginx:1.27"), on("asia", "eu", "us"), override("5")))
	f.wantPlan(tf, "create")
	tf.applySaved().succeeds()

	tf.configure(f.provider(), resource(manifest("nginx:1.27"), on("asia", "eu", "us"), override("6")))
	f.wantPlan(tf, "override-changed")
	tf.applySaved().succeeds()

	f.sites["us"].MergePatch(t, "apps/v1", "Deployment", f.namespace, "web", `{"metadata": {"labels": {"app": "evil"}}, "spec": {"replicas": 9}}`)
	f.wantPlan(tf, "drift")
	tf.applySaved().succeeds()

	tf.configure(f.provider(), resource(manifest("nginx:1.27"), on("eu", "us"), override("6")))
	f.wantPlan(tf, "member-leaves")
	tf.applySaved().succeeds()

	tf.configure(f.provider(), resource(manifest("nginx:1.28"), on("eu", "us"), override("6")))
	f.wantPlan(tf, "image-changed")
}

func TestAccAPlanOfOneWordForTwelveMembersStaysShort(t *testing.T) {
	t.Parallel()
	clusters := map[string]*kubetest.Cluster{}
	for i, cluster := range kubetest.FreshMany(t, 12, kubetest.Options{Name: "site", Lean: true}) {
		clusters[fmt.Sprintf("site-%02d", i+1)] = cluster
	}
	f, tf := newFederationOf(t, clusters), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(3, "nginx:1.27"), everywhere))
	tf.apply().succeeds().quiet()
	tf.configure(f.provider(), resource(f.webDeployment(3, "nginx:1.28"), everywhere))
	if lines := strings.Count(f.wantPlan(tf, "image-changed-on-twelve"), "\n"); lines >= 40 {
		t.Errorf("the plan has %d lines", lines)
	}
	tf.applySaved().succeeds().quiet()
	tf.plan().empty().quiet()
}
