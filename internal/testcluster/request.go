package testcluster

import (
	"context"
	"fmt"
	"path/filepath"
)

// Request asks a running cluster of the run in dir something, with the rights of
// its administrator, and returns the answer's body. body is JSON, sent as
// contentType. An answer other than 2xx is an error.
func Request(ctx context.Context, dir, clusterName, method, path, contentType string, body []byte) ([]byte, error) {
	p, err := readProcess(filepath.Join(dir, clusterName), APIServer)
	if err != nil {
		return nil, fmt.Errorf("ask cluster %s: %w", clusterName, err)
	}
	api, err := p.api()
	if err != nil {
		return nil, fmt.Errorf("ask cluster %s: %w", clusterName, err)
	}
	_, answer, err := api.send(ctx, method, path, contentType, body)
	if err != nil {
		return answer, fmt.Errorf("%s %s on cluster %s: %w", method, path, clusterName, err)
	}
	return answer, nil
}
