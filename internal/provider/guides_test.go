package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// guided is what a reader of the README and the guides has before him: a host and three members, by context.
type guided map[string]*kubetest.Cluster

// TestAccTheREADMEAndTheGuidesDoWhatTheySay takes the configurations out of the README and the guides, and goes the steps that the text goes.
func TestAccTheREADMEAndTheGuidesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	g := guided(exampleClusters(t, kubetest.Fresh(t, kubetest.Options{Name: "host"}), kubetest.Lent(t, 3)...))
	for name, walk := range map[string]func(*testing.T){
		"README":                g.readme,
		"clusters-by-reference": g.byReference,
		"clusters-by-selector":  g.drained("clusters-by-selector", 1),
		"clusters-without-host": g.drained("clusters-without-host", 0),
		"existing-adopted":      g.adopted,
		"existing-imported":     g.imported,
		"rollout":               g.rollout,
		"secret":                g.secret,
	} {
		t.Run(name, walk)
	}
}

// guide puts the configuration of a guide where Terraform works.
func (g guided) guide(t *testing.T, name string) *terraform {
	t.Helper()
	tf := newTerraform(t)
	tf.copyExample(filepath.Join("../../examples/guides", name), g)
	return tf
}

// wantSettings fails the test unless exactly these members have the ConfigMap of the guides.
func (g guided) wantSettings(t *testing.T, members ...string) {
	t.Helper()
	for name, cluster := range g {
		if _, there := cluster.Find(t, "v1", "ConfigMap", "default", "settings"); there != slices.Contains(members, name) {
			t.Errorf("%s has the ConfigMap: %t; it shall be on %v", name, there, members)
		}
	}
}

// makeSettings makes the ConfigMap of the guides as somebody else would.
func (g guided) makeSettings(t *testing.T, member, data string) {
	t.Helper()
	g[member].Create(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: default}, data: "+data+"}")
}

func (g guided) readme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "cat >main.tf <<'EOF'\n")
	configuration, _, found := strings.Cut(rest, "\nEOF\n")
	if !found {
		t.Fatal("the README has no main.tf to copy")
	}
	tf := newTerraform(t)
	tf.write("main.tf", configuration+"\n")
	tf.setenv("TF_VAR_kubeconfig", kubetest.Kubeconfig(t, g))
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	for member, want := range map[string]string{"member-1": "5", "member-2": "3"} {
		spec, _ := g[member].Get(t, "apps/v1", "Deployment", "shop", "web").Object["spec"].(map[string]any)
		if got := fmt.Sprint(spec["replicas"]); got != want {
			t.Errorf("%s has %s replicas, want %s", member, got, want)
		}
	}
	tf.destroy().succeeds().quiet()
}

func (g guided) byReference(t *testing.T) {
	tf := g.guide(t, "clusters-by-reference")
	for _, step := range []struct{ clusters, members string }{
		{`{ eu = "member-1", us = "member-2" }`, "member-1 member-2"},
		{`{ eu = "member-1", us = "member-2", ap = "member-3" }`, "member-1 member-2 member-3"},
		{`{ eu = "member-1", ap = "member-3" }`, "member-1 member-3"},
	} {
		tf.setenv("TF_VAR_clusters", step.clusters)
		tf.apply().succeeds().quiet()
		g.wantSettings(t, strings.Fields(step.members)...)
	}
	tf.plan().empty().quiet()
	tf.destroy().succeeds().quiet()
	g.wantSettings(t)
}

// drained is a guide in which a cluster is drained before it is removed. Its removal is so many changes.
func (g guided) drained(guide string, removal int) func(*testing.T) {
	return func(t *testing.T) {
		tf := g.guide(t, guide)
		for _, step := range []struct {
			clusters, members string
			changes           int
		}{
			{`{ eu = { context = "member-1" }, us = { context = "member-2" } }`, "member-1 member-2", -1},
			{`{ eu = { context = "member-1" }, us = { context = "member-2" }, ap = { context = "member-3" } }`, "member-1 member-2 member-3", -1},
			{`{ eu = { context = "member-1" }, us = { context = "member-2", availability = "draining" }, ap = { context = "member-3" } }`, "member-1 member-3", -1},
			{`{ eu = { context = "member-1" }, ap = { context = "member-3" } }`, "member-1 member-3", removal},
		} {
			tf.setenv("TF_VAR_clusters", step.clusters)
			if changes := tf.apply().succeeds().quiet().changes; step.changes >= 0 && len(changes) != step.changes {
				t.Errorf("with the clusters %s the plan changes %v", step.clusters, changes)
			}
			g.wantSettings(t, strings.Fields(step.members)...)
		}
		tf.plan().empty().quiet()
		tf.destroy().succeeds().quiet()
		g.wantSettings(t)
	}
}

func (g guided) adopted(t *testing.T) {
	tf := g.guide(t, "existing-adopted")
	g.makeSettings(t, "member-1", `{currency: USD, theme: light}`)
	tf.plan().succeeds().warns("taken over", "/data/theme light -> dark")
	tf.applySaved().succeeds()
	tf.plan().empty().quiet()
	for _, member := range []string{"member-1", "member-2"} {
		if data := fmt.Sprint(g[member].Get(t, "v1", "ConfigMap", "default", "settings").Object["data"]); data != "map[currency:USD theme:dark]" {
			t.Errorf("%s holds %s", member, data)
		}
	}
	tf.destroy().succeeds().quiet()
	g.wantSettings(t)
}

func (g guided) imported(t *testing.T) {
	tf := g.guide(t, "existing-imported")
	held := map[string]string{}
	for member, data := range map[string]string{"member-1": `{currency: EUR, theme: light}`, "member-2": `{currency: USD, theme: light}`} {
		g.makeSettings(t, member, data)
		held[member] = g[member].Get(t, "v1", "ConfigMap", "default", "settings").GetResourceVersion()
	}
	tf.apply().succeeds().quiet()
	tf.plan().empty().quiet()
	for member, version := range held {
		if now := g[member].Get(t, "v1", "ConfigMap", "default", "settings").GetResourceVersion(); now != version {
			t.Errorf("the import has written to %s", member)
		}
	}
	tf.destroy().succeeds().quiet()
	g.wantSettings(t)
}

func (g guided) rollout(t *testing.T) {
	tf := g.guide(t, "rollout")
	for _, image := range []string{"nginx:1.27", "nginx:1.28"} {
		tf.setenv("TF_VAR_image", image)
		tf.plan().succeeds().warns("Rollout in 3 steps", `group "canary": eu, then group "america": us, then ap.`)
		tf.applySaved().succeeds()
		tf.plan().empty().quiet()
		for _, member := range []string{"member-1", "member-2", "member-3"} {
			if status := fmt.Sprint(g[member].Get(t, "apps/v1", "Deployment", "default", "web-in-order").Object["status"]); !strings.Contains(status, "availableReplicas:2") {
				t.Errorf("%s has the status %s", member, status)
			}
		}
	}
	tf.destroy().succeeds().quiet()
}

func (g guided) secret(t *testing.T) {
	const password = "hush-hush-hush"
	tf := g.guide(t, "secret")
	tf.setenv("TF_VAR_password", password)
	tf.plan().succeeds().quiet()
	if strings.Contains(tf.show(), password) {
		t.Error("the plan prints the password")
	}
	tf.applySaved().succeeds().quiet()
	state, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	if err != nil || !strings.Contains(string(state), password) {
		t.Errorf("the password is not in the state, and the guide says that it is: %v", err)
	}
	tf.destroy().succeeds().quiet()
}
