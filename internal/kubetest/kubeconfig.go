package kubetest

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns the path of one kubeconfig with a context for each
// cluster, named as in the map, as a user of several clusters has it.
func Kubeconfig(t testing.TB, contexts map[string]*Cluster) string {
	t.Helper()
	merged := clientcmdapi.NewConfig()
	for name, cluster := range contexts {
		one, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		current := one.Contexts[one.CurrentContext]
		merged.Clusters[name] = one.Clusters[current.Cluster]
		merged.AuthInfos[name] = one.AuthInfos[current.AuthInfo]
		merged.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*merged, path); err != nil {
		t.Fatal(err)
	}
	return path
}
