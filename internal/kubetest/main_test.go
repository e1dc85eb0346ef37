package kubetest

import "testing"

func TestMain(m *testing.M) { Main(m) }

// lean returns a cluster without controllers for the tests of this package that
// need an API server only, whatever KUBEFED_TEST_CLUSTERS says.
func lean(t *testing.T) *Cluster {
	t.Helper()
	e := shared.entry("lean")
	e.once.Do(func() { e.cluster, e.err = start(Options{Name: "lean", Lean: true}) })
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e.cluster
}

// configMap is an object for tests to write.
func configMap(namespace, name, value string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"data":     map[string]any{"key": value},
	}
}
