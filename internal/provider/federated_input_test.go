package provider_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// badInput is a configuration with one fault, what is to be said of it, and the line it is to be said at.
type badInput struct {
	attributes []string
	words      []string
	code       string
}

func (f *federation) badInputs() map[string]badInput {
	good := "template = " + f.configMap(`"x"`, `{ a = "one" }`)
	patch := func(patch string) []string {
		return []string{f.webDeployment(3, "nginx:1.27"), everywhere, "overrides = [\n    { clusters = [\"eu\"], labels = { a = \"b\" } },\n    { clusters = [\"us\"],\n      json_patch = " + patch + " },\n  ]"}
	}
	return map[string]badInput{
		"a name that is no member":      {[]string{good, "placement = {\n    clusters = [\"us\", \"mars\"]\n  }"}, []string{"Unknown cluster", `"mars" is not a member`, `"eu", "us"`}, "placement ="},
		"no selection in the placement": {[]string{good, "placement = {}"}, []string{"placement", "clusters", "cluster_selector"}, "placement ="},
		"names and a selector":          {[]string{good, "placement = {\n    clusters = []\n    cluster_selector = {}\n  }"}, []string{"exclude each other"}, "placement ="},
		"exclude beside names":          {[]string{good, "placement = {\n    clusters = [\"eu\"]\n    exclude = [\"us\"]\n  }"}, []string{"exclude"}, "placement ="},
		"an operator": {[]string{good, "placement = { cluster_selector = { match_expressions = [\n    { key = \"tier\", operator = \"Equals\", values = [\"a\"] },\n  ] } }"},
			[]string{"Equals", "In", "NotIn", "Exists", "DoesNotExist"}, "placement ="},
		"an operator without values":      {[]string{good, "placement = { cluster_selector = { match_expressions = [\n    { key = \"tier\", operator = \"In\" },\n  ] } }"}, []string{"In", "values"}, "placement ="},
		"an override without a selection": {[]string{good, everywhere, "overrides = [\n    { labels = { a = \"b\" } },\n  ]"}, []string{"clusters", "cluster_selector"}, "labels ="},
		"an override without a change":    {[]string{good, everywhere, "overrides = [\n    { clusters = [\"eu\"] },\n  ]"}, []string{"json_patch", "merge_patch"}, "clusters ="},
		"a path that is not there":        {patch(`"[{path: /spec/replica, value: 5}]"`), []string{"Member us: overrides[1]: ", "/spec/replica"}, "clusters = [\"us\"]"},
		"a path that is not there on several members": {[]string{f.webDeployment(3, "nginx:1.27"), everywhere, "overrides = [{ cluster_selector = {}, json_patch = \"[{path: /spec/replica, value: 5}]\" }]"},
			[]string{"Members eu, us: overrides[0]: "}, "overrides ="},
		"a negative index":         {patch(`"[{path: /spec/template/spec/containers/-1/image, value: x}]"`), []string{"-1"}, "clusters = [\"us\"]"},
		"an index beyond the end":  {patch(`"[{path: /spec/template/spec/containers/7/image, value: x}]"`), []string{"Member us", "7"}, "clusters = [\"us\"]"},
		"a slash in a key":         {patch(`"[{op: add, path: /metadata/labels/example.com/owner, value: x}]"`), []string{"~1"}, "clusters = [\"us\"]"},
		"another name":             {patch(`"[{path: /metadata/name, value: other}]"`), []string{"name"}, "clusters = [\"us\"]"},
		"a patch that is no patch": {patch(`"{spec: {replicas: 5}}"`), []string{"list"}, "clusters = [\"us\"]"},
		"a new tag beside a digest": {[]string{f.webDeployment(3, "nginx@sha256:0f0b7f6e6f1c2d8a0e4c3a1d9b8e7f6a5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f"), everywhere,
			"overrides = [\n    { clusters = [\"eu\"],\n      images = [{ container = \"web\", tag = \"1.28\" }] },\n  ]"}, []string{"digest"}, "clusters = [\"eu\"]"},
		"a container that is not there": {[]string{f.webDeployment(3, "nginx"), everywhere, "overrides = [\n    { clusters = [\"eu\"],\n      env = [{ container = \"wbe\", name = \"A\", value = \"b\" }] },\n  ]"},
			[]string{"wbe", "web"}, "clusters = [\"eu\"]"},
		"two documents":        {[]string{"template = \"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\\n---\\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\\n\"", everywhere}, []string{"2 documents", "manifests_by_id"}, "template ="},
		"a list as template":   {[]string{"template = [" + f.configMap(`"x"`, "{}") + "]", everywhere}, []string{"a list", "for_each"}, "template ="},
		"a number as template": {[]string{"template = 5", everywhere}, []string{"a number"}, "template ="},
		"text that is no YAML": {[]string{"template = \"{apiVersion: v1, kind\"", everywhere}, []string{"YAML"}, "template ="},
		"no name":              {[]string{`template = { apiVersion = "v1", kind = "ConfigMap", metadata = {} }`, everywhere}, []string{"metadata.name"}, "template ="},
		"a generated name":     {[]string{`template = { apiVersion = "v1", kind = "ConfigMap", metadata = { generateName = "x-" } }`, everywhere}, []string{"generateName"}, "template ="},
		"a version nobody serves": {[]string{`template = { apiVersion = "apps/v1beta7", kind = "Deployment", metadata = { name = "x" } }`, everywhere},
			[]string{"Members eu, us", "apps/v1beta7 Deployment is not served", "apps/v1"}, "template ="},
		"a kind nobody knows":     {[]string{`template = { apiVersion = "nobody.example.com/v1", kind = "Thing", metadata = { name = "x" } }`, everywhere}, []string{"nobody.example.com/v1 Thing", "not served"}, "template ="},
		"replicas below zero":     {[]string{f.webDeployment(3, "nginx"), everywhere, `replicas = { eu = -1 }`}, []string{"from 0 to 2147483647", "-1"}, "replicas ="},
		"replicas beyond 32 bits": {[]string{f.webDeployment(3, "nginx"), everywhere, `replicas = { eu = 3000000000 }`}, []string{`replicas["eu"]`, "2147483647", "3e+09"}, "replicas ="},
		"a null among arguments": {[]string{f.webDeployment(3, "nginx"), everywhere, `overrides = [{ clusters = ["eu"], args = [{ container = "web", add = ["--a", null] }] }]`},
			[]string{"overrides[0].args[0].add[1]` is null"}, "overrides ="},
		"no template": {[]string{"template = null", everywhere}, []string{"template"}, "template ="},
		"a namespace where there is none": {[]string{`template = { apiVersion = "rbac.authorization.k8s.io/v1", kind = "ClusterRole", metadata = { name = "x", namespace = "y" } }`, everywhere},
			[]string{"ClusterRole is cluster-scoped", "y"}, "template ="},
		"a variable twice": {[]string{strings.Replace(f.webDeployment(3, "nginx"), "args =", "env = [{ name = \"LOG\", value = \"a\" }, { name = \"X\", value = \"b\" }, { name = \"LOG\", value = \"c\" }], args =", 1), everywhere},
			[]string{"Duplicate list key", "env", "LOG", "0 and 2"}, "template ="},
		"a variable that every member gets twice": {[]string{strings.Replace(f.webDeployment(3, "nginx"), "args =", "env = [{ name = \"LOG\", value = \"a\" }], args =", 1), everywhere,
			"overrides = [{ cluster_selector = {}, json_patch = \"[{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: LOG, value: b}}]\" }]"},
			[]string{"Members eu, us", "env", "LOG", "0 and 1"}, "overrides ="},
		"null in a list":       {[]string{strings.Replace(f.webDeployment(3, "nginx"), "args = [", "args = [null, ", 1), everywhere}, []string{"args/0", "null"}, "template ="},
		"replicas of no scale": {[]string{good, everywhere, `replicas = { eu = 1 }`}, []string{"replicas"}, "replicas ="},
		"a policy value":       {[]string{good, everywhere, "policy = {\n    on_existing = \"replace\"\n  }"}, []string{"error", "adopt", "replace"}, `resource "kubefed_federated_resource"`},
		"an empty policy":      {[]string{good, everywhere, "policy = { on_exists = \"adopt\" }"}, []string{"misspelt"}, "policy ="},
		"an unknown cluster in a group": {[]string{good, everywhere, "rollout = { groups = [\n    { clusters = [\"eu\"] },\n    { name = \"late\", clusters = [\"mars\"] },\n  ] }"},
			[]string{"Unknown cluster", `In group "late": "mars" is not a member`, `"eu", "us"`}, "rollout ="},
		"a member in two groups": {[]string{good, everywhere, `rollout = { groups = [{ name = "one", clusters = ["eu"] }, { name = "all", cluster_selector = {} }] }`},
			[]string{"Member in two groups", `"eu": in group "all", and in group "one"`}, "rollout ="},
		"a group without a selection": {[]string{good, everywhere, `rollout = { groups = [{ name = "one" }] }`}, []string{`In group "one"`, "clusters", "cluster_selector"}, "rollout ="},
		"more than all at once":       {[]string{good, everywhere, `rollout = { max_concurrency = "101%" }`}, []string{"rollout.max_concurrency", `"101%"`, "1% to 100%"}, "rollout ="},
		"nobody at once":              {[]string{good, everywhere, `rollout = { max_concurrency = 0 }`}, []string{"rollout.max_concurrency", `"0"`}, "rollout ="},
		"an empty wait":               {[]string{good, everywhere, `wait = { redy = true }`}, []string{"misspelt"}, "wait ="},
		"a pointer":                   {[]string{good, everywhere, `sensitive_fields = ["data/a"]`}, []string{"data/a", "/"}, "sensitive_fields ="},
		"a field the kind does not have": {[]string{`template = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "x", namespace = "` + f.namespace + `" }, dta = {} }`, everywhere},
			[]string{"Members eu, us", "dta"}, "template ="},
	}
}

func TestAccEachWrongValueIsOneErrorAtItsAttribute(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu", "us"), newTerraform(t)
	inputs := f.badInputs()
	for _, name := range sortedKeys(inputs) {
		t.Run(name, func(t *testing.T) {
			input := inputs[name]
			tf.t = t
			tf.configure(f.provider(), resource(input.attributes...))
			refusal := tf.plan().fails(input.words...)
			if !strings.Contains(refusal.Snippet.Code, input.code) {
				t.Errorf("the error is bound to %q, want %q:\n%s", refusal.Snippet.Code, input.code, refusal)
			}
		})
	}
	f.wantNoWrites()
}

func TestAccANameThatIsNoMemberIsAWarningWhereItHasNoEffect(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	tf.configure(f.provider(), resource(f.webDeployment(0, "nginx"), "placement = { cluster_selector = {}, exclude = [\"venus\"] }",
		"overrides = [\n    { clusters = [\"mars\", \"eu\"], labels = { a = \"b\" } },\n  ]", `replicas = { eu = 0, pluto = 1 }`))
	tf.plan().succeeds().warns("Unknown cluster", `"venus" (placement)`, `"mars" (overrides)`, `"pluto" (replicas)`, `Members are "eu"`)
}

func TestAccEachWrongConnectionIsOneErrorAtItsAttribute(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "eu"), newTerraform(t)
	proxy := f.sites["eu"].proxy
	missing := filepath.Join(t.TempDir(), "none")
	for name, input := range map[string]badInput{
		"no such file":    {[]string{fmt.Sprintf("config_path = %q", missing)}, []string{missing, "no such file"}, "us ="},
		"no such context": {[]string{fmt.Sprintf("config_path = %q", proxy.Kubeconfig()), "config_context = \"nowhere\""}, []string{"nowhere", proxy.Name}, "us ="},
		"no connection":   {[]string{`labels = { a = "b" }`}, []string{"config_path", "host"}, "us ="},
		"two ways":        {[]string{fmt.Sprintf("config_path = %q", proxy.Kubeconfig()), `host = "https://127.0.0.1:1"`}, []string{"config_path", "host"}, "us ="},
	} {
		t.Run(name, func(t *testing.T) {
			tf.t = t
			tf.configure(fmt.Sprintf("provider \"kubefed\" {\n  owner = %q\n  member_clusters = {\n    us = {\n      %s\n    }\n  }\n}\n", f.owner, strings.Join(input.attributes, "\n      ")),
				resource("template = "+f.configMap(`"x"`, "{}"), everywhere))
			refusal := tf.plan().fails(input.words...)
			if !strings.Contains(refusal.Snippet.Code, input.code) {
				t.Errorf("the error is bound to %q, want %q:\n%s", refusal.Snippet.Code, input.code, refusal)
			}
		})
	}
	f.wantNoWrites()
}
