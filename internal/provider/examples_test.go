package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// exampleMembers is the provider block for examples that have none and join no clusters.
const exampleMembers = `
provider "kubefed" {
  owner       = %q
  config_path = var.kubeconfig
  member_clusters = {
    ap = { config_context = "member-3", labels = { tier = "prod" }, region = "ap-south-1" }
    eu = { config_context = "member-1", labels = { tier = "prod" }, region = "eu-central-1" }
    us = { config_context = "member-2", labels = { tier = "prod" }, region = "us-east-1" }
  }
}
`

// exampleHost is the provider block for examples that have none and join clusters.
const exampleHost = `
provider "kubefed" {
  owner        = %q
  config_path  = var.kubeconfig
  host_cluster = { config_context = "host" }
}
`

const exampleVariable = `
variable "kubeconfig" {
  type = string
}
`

// TestAccExamples applies every example that is a configuration, plans it again empty, and destroys it. Those of functions are evaluated in a
// test of their own.
//
// What an example installs is there for the whole cluster: they get clusters that no other test has meanwhile.
func TestAccExamples(t *testing.T) {
	t.Parallel()
	clusters := exampleClusters(t, kubetest.Fresh(t, kubetest.Options{Name: "host"}), kubetest.Lent(t, 3)...)
	for _, folder := range exampleFolders(t) {
		t.Run(strings.TrimPrefix(folder, "../../examples/"), func(t *testing.T) {
			tf := newTerraform(t)
			tf.copyExample(folder, clusters)
			tf.apply().succeeds()
			if changes := tf.plan().succeeds().changes; len(changes) > 0 {
				t.Errorf("the second plan changes %v", changes)
			}
			tf.destroy().succeeds()
		})
	}
}

// exampleFolders are those that hold a whole configuration.
func exampleFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, pattern := range []string{"*/main.tf", "resources/*/resource.tf", "data-sources/*/data-source.tf"} {
		files, err := filepath.Glob(filepath.Join("../../examples", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			folders = append(folders, filepath.Dir(file))
		}
	}
	if len(folders) == 0 {
		t.Fatal("no examples found")
	}
	return folders
}

// exampleClusters names clusters as the examples call their contexts.
func exampleClusters(t *testing.T, host *kubetest.Cluster, members ...*kubetest.Cluster) map[string]*kubetest.Cluster {
	t.Helper()
	clusters := map[string]*kubetest.Cluster{"host": host}
	for i, member := range members {
		clusters[fmt.Sprintf("member-%d", i+1)] = member
	}
	return clusters
}

// copyExample puts an example's files where Terraform works, and beside them what they need and do not have.
func (tf *terraform) copyExample(folder string, clusters map[string]*kubetest.Cluster) {
	tf.t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		tf.t.Fatal(err)
	}
	all := ""
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			tf.t.Fatal(err)
		}
		all += string(text)
		tf.write(file.Name(), string(text))
	}
	block := exampleMembers
	if strings.Contains(all, "kubefed_control_plane") {
		block = exampleHost
	}
	tf.setenv("TF_VAR_kubeconfig", kubetest.Kubeconfig(tf.t, clusters))
	for mark, text := range map[string]string{
		"required_providers":      requiredProviders,
		"provider \"kubefed\"":    fmt.Sprintf(block, kubetest.UniqueName(tf.t, "example")),
		"variable \"kubeconfig\"": exampleVariable,
	} {
		if !strings.Contains(all, mark) {
			tf.write(strings.Fields(mark)[0]+"_needed.tf", text)
		}
	}
}
