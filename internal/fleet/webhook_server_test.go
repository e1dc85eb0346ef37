package fleet_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

// admission is what an API server asks a webhook about.
type admission struct {
	UID       string                    `json:"uid"`
	Operation string                    `json:"operation"`
	DryRun    bool                      `json:"dryRun"`
	Object    unstructured.Unstructured `json:"object"`
}

// verdict is what a webhook answers: a JSON patch, or a refusal.
type verdict struct {
	patch   []map[string]any
	refusal string
}

// webhook asks the API server of a member to consult decide about every object of a resource that is created or updated in the world's
// namespace. sort is Mutating or Validating. It returns when it is consulted.
func (w *world) webhook(t *testing.T, name, sort, group, resource string, decide func(admission) verdict) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		var review struct {
			Request admission `json:"request"`
		}
		if err := json.NewDecoder(q.Body).Decode(&review); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		answer := decide(review.Request)
		response := map[string]any{"uid": review.Request.UID, "allowed": answer.refusal == "", "status": map[string]any{"message": answer.refusal, "code": http.StatusForbidden}}
		if len(answer.patch) > 0 {
			patch, _ := json.Marshal(answer.patch)
			response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString(patch)
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
	}))
	t.Cleanup(server.Close)
	cluster, configuration := w.clusters[name], kubetest.UniqueName(t, "fleet")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	cluster.Create(t, map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": sort + "WebhookConfiguration", "metadata": map[string]any{"name": configuration},
		"webhooks": []any{map[string]any{
			"name": "fleet.example.com", "sideEffects": "None", "admissionReviewVersions": []any{"v1"}, "timeoutSeconds": int64(10), "failurePolicy": "Fail",
			"clientConfig":      map[string]any{"url": server.URL, "caBundle": base64.StdEncoding.EncodeToString(authority)},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": w.namespace}},
			"rules":             []any{map[string]any{"apiGroups": []any{"", group}, "apiVersions": []any{"*"}, "operations": []any{"CREATE", "UPDATE"}, "resources": []any{resource, "configmaps"}}},
		}},
	})
	t.Cleanup(func() {
		cluster.Delete(t, "admissionregistration.k8s.io/v1", sort+"WebhookConfiguration", "", configuration)
	})
	probe := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "probe"}}}
	client := cluster.Dynamic(t).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(w.namespace)
	kubetest.Eventually(t, func() error {
		_, _ = client.Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}) // a refusal will do
		if asked.Load() == 0 {
			return errors.New("the API server does not ask the webhook yet")
		}
		return nil
	})
}
