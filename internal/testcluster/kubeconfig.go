package testcluster

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// writeKubeconfig writes one kubeconfig for all given clusters, certificates
// embedded, with a context named like each cluster. The first is current.
func writeKubeconfig(path string, clusters []*cluster) error {
	var contexts, servers, users strings.Builder
	for _, c := range clusters {
		ca, cert, key, err := c.credentials()
		if err != nil {
			return fmt.Errorf("write kubeconfig of %s: %w", c.name, err)
		}
		fmt.Fprintf(&contexts, "- name: %s\n  context: {cluster: %s, user: %s}\n", c.name, c.name, c.name)
		fmt.Fprintf(&servers, "- name: %s\n  cluster:\n    server: %s\n    certificate-authority-data: %s\n",
			c.name, c.url(), base64.StdEncoding.EncodeToString(ca))
		fmt.Fprintf(&users, "- name: %s\n  user:\n    client-certificate-data: %s\n    client-key-data: %s\n",
			c.name, base64.StdEncoding.EncodeToString(cert), base64.StdEncoding.EncodeToString(key))
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: %s\ncontexts:\n%sclusters:\n%susers:\n%s",
		clusters[0].name, contexts.String(), servers.String(), users.String())
	return os.WriteFile(path, []byte(text), 0o600)
}
