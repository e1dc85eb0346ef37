package testcluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// api is the little of a Kubernetes client that starting a cluster takes.
type api struct {
	url    string
	client *http.Client
}

// newAPI returns a client with the rights of the cluster's administrator.
func newAPI(c *cluster) (*api, error) {
	ca, cert, key, err := c.credentials()
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
	}
	return &api{url: c.url(), client: &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// ready returns nil once the API server serves, with RBAC's and the namespace
// `default` in place.
func (a *api) ready(ctx context.Context) error {
	if _, _, err := a.do(ctx, http.MethodGet, "/readyz", nil); err != nil {
		return err
	}
	_, _, err := a.do(ctx, http.MethodGet, "/api/v1/namespaces/default", nil)
	return err
}

// hasDefaultAccount returns nil once pods can be created in `default`.
func (a *api) hasDefaultAccount(ctx context.Context) error {
	_, _, err := a.do(ctx, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil)
	return err
}

// createNode registers simulated node number i, as its kubelet would. Nodes of
// a cluster lie in its region, each in a zone of its own.
func (a *api) createNode(ctx context.Context, cluster string, i int) error {
	name := fmt.Sprintf("%s-node-%d", cluster, i+1)
	size := map[string]string{"cpu": "8", "memory": "32Gi", "pods": "110"}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{"name": name, "labels": map[string]string{
			"kubernetes.io/arch":            "amd64",
			"kubernetes.io/hostname":        name,
			"kubernetes.io/os":              "linux",
			"topology.kubernetes.io/region": "region-" + cluster,
			"topology.kubernetes.io/zone":   fmt.Sprintf("%s-zone-%d", cluster, i+1),
		}},
		"status": map[string]any{
			"capacity": size, "allocatable": size,
			"addresses": []map[string]string{
				{"type": "InternalIP", "address": fmt.Sprintf("10.128.0.%d", i+1)},
				{"type": "Hostname", "address": name},
			},
		},
	})
	if err != nil {
		return err
	}
	status, _, err := a.do(ctx, http.MethodPost, "/api/v1/nodes", body)
	if status == http.StatusConflict {
		return nil // an earlier try arrived after all
	}
	return err
}

// nodesReady returns nil once count nodes are ready for pods: their condition
// says so, and the taint that a new node carries is gone.
func (a *api) nodesReady(ctx context.Context, count int) error {
	var list struct {
		Items []struct {
			Spec   struct{ Taints []any }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	_, answer, err := a.do(ctx, http.MethodGet, "/api/v1/nodes", nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return fmt.Errorf("read the nodes: %w", err)
	}
	ready := 0
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == "Ready" && condition.Status == "True" && len(node.Spec.Taints) == 0 {
				ready++
			}
		}
	}
	if ready < count {
		return fmt.Errorf("%d of %d nodes are ready", ready, count)
	}
	return nil
}

// do sends a request and returns the status and the answer, with an error
// unless the status is 2xx.
func (a *api) do(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	return a.send(ctx, method, path, "application/json", body)
}

// send is do with another content type, such as that of a patch.
func (a *api) send(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := a.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return response.StatusCode, nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return response.StatusCode, answer, nil
}
