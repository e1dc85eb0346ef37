//go:build bench

package provider_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// These are no tests: `make bench` runs them and prints what they measure, one JSON object per line. Times are ratios to what Terraform takes
// for as many resources that do nothing, measured in the same run; requests and sizes are counts.

// measurement is one line of output. Bar is the most it may be; 0 means that there is none.
type measurement struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Bar   *float64 `json:"bar,omitempty"`
	OK    *bool    `json:"ok,omitempty"`
}

func report(name string, value float64, unit string, bar float64) {
	m := measurement{Name: name, Value: value, Unit: unit}
	if bar > 0 {
		ok := value <= bar
		m.Bar, m.OK = &bar, &ok
	}
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

const benchResources = 80 // 60 ConfigMaps and 20 Deployments

// benchConfiguration is 80 objects on every member, templates as text or as objects.
func benchConfiguration(namespace, encode string) string {
	return benchObjects(namespace, encode, benchResources)
}

// benchObjects is that with another number of objects, a quarter of them Deployments.
func benchObjects(namespace, encode string, resources int) string {
	return fmt.Sprintf(`
locals {
  objects = concat(
    [for i in range(%[3]d) : { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "cm-${i}", namespace = %[1]q }, data = { key = "value", text = join("", [for n in range(100) : "0123456789abcdef"]) } }],
  )
  workloads = [for i in range(%[4]d) : {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web-${i}", namespace = %[1]q, labels = { app = "web-${i}" } }
    spec = {
      replicas = 0
      selector = { matchLabels = { app = "web-${i}" } }
      template = {
        metadata = { labels = { app = "web-${i}" } }
        spec = { containers = [for c in range(4) : { name = "c-${c}", image = "registry.example/team/web:1.${c}", args = ["--verbose", "--port=80${c}"],
          env   = [for e in range(5) : { name = "VARIABLE_${e}", value = "value-${e}" }]
          ports = [{ containerPort = 8080 + c }] }] }
      }
    }
  }]
}
resource "kubefed_federated_resource" "config" {
  count     = %[3]d
  template  = %[2]s(local.objects[count.index])
  placement = { cluster_selector = {} }
}
resource "kubefed_federated_resource" "workload" {
  count     = %[4]d
  template  = %[2]s(local.workloads[count.index])
  placement = { cluster_selector = {} }
}
`, namespace, encode, resources-resources/4, resources/4)
}

func seconds(do func()) float64 {
	begin := time.Now()
	do()
	return time.Since(begin).Seconds()
}

// median of three runs.
func median(do func()) float64 {
	a, b, c := seconds(do), seconds(do), seconds(do)
	return max(min(a, b), min(max(a, b), c))
}

// floor is what Terraform takes to plan as many resources that do nothing.
func floor(t *testing.T) float64 {
	tf := newTerraform(t).isolate()
	tf.configure(fmt.Sprintf("resource \"terraform_data\" \"x\" {\n  count = %d\n}\n", benchResources))
	tf.apply().succeeds()
	return median(func() { tf.plan().succeeds() })
}

func TestBenchTerraform(t *testing.T) {
	least := floor(t)
	report("terraform_data plan", least, "s", 0)
	for _, shape := range []struct{ name, encode string }{{"text", "yamlencode"}, {"object", ""}} {
		f, tf := newFederation(t, "eu", "us", "ap"), newTerraform(t).isolate()
		tf.configure(f.provider(), benchConfiguration(f.namespace, shape.encode))
		f.reset()
		report(shape.name+": apply of 240 objects / terraform_data plan", seconds(func() { tf.apply().succeeds() })/least, "ratio", 0)
		if shape.name == "text" {
			report("apply: requests per object and member", float64(len(f.sites["eu"].proxy.Requests()))/benchResources, "requests", 2.1+(10+15)/float64(benchResources))
		}
		f.reset()
		tf.plan().succeeds()
		report(shape.name+": plan with nothing to do, requests per member", float64(len(f.sites["eu"].proxy.Requests())), "requests", 5+2)
		report(shape.name+": plan with nothing to do / terraform_data plan", median(func() { tf.plan().succeeds() })/least, "ratio", 0)
		if shape.name == "text" {
			whole := seconds(func() { tf.plan().succeeds() })
			f.sites["eu"].proxy.BlackHole()
			report("plan with one member black-holed, beyond attempts × timeout and the plan itself", seconds(func() { tf.plan().succeeds() })-2*2-whole, "s", 1)
			f.heal()
		}
		tf.destroy().succeeds()
	}
}

func TestBenchState(t *testing.T) {
	f := newFederation(t, "eu", "us", "ap")
	size := func(members ...string) float64 {
		tf := newTerraform(t).isolate()
		tf.configure(f.provider(), resource(fmt.Sprintf("template = yamlencode({ apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"x\", namespace = %q } })", f.namespace), on(members...)))
		tf.apply().succeeds()
		defer func() { tf.destroy().succeeds() }()
		return stateBytes(t, tf)
	}
	report("state: bytes per further copy of an object", (size("eu", "us", "ap")-size("eu"))/2, "bytes", 300)
}

// stateBytes is the size of the state without the templates.
func stateBytes(t *testing.T, tf *terraform) float64 {
	data, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Instances []struct {
				Attributes map[string]json.RawMessage `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	size := len(data)
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			size -= len(i.Attributes["template"])
		}
	}
	return float64(size)
}
