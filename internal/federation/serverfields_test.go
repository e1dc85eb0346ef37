package federation_test

import (
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

func TestFieldsOfTheServerInAnOverrideAreLeftOutWithAWarningThatNamesTheEntry(t *testing.T) {
	template := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	everywhere := federation.Selection{Selector: &federation.Selector{}}
	patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}
	owned := map[string]any{"metadata": map[string]any{"uid": "x", "resourceVersion": "1", "generation": int64(2), "creationTimestamp": "2020-01-01T00:00:00Z",
		"selfLink": "/x", "managedFields": []any{map[string]any{"manager": "x"}}}}
	overrides := []federation.Override{{Selection: everywhere, MergePatch: patch}, {Selection: everywhere, MergePatch: owned}}
	out, _, warnings, err := federation.Render(template, overrides, federation.Member{Name: "eu"})
	if err != nil {
		t.Fatal(err)
	}
	metadata, _ := out["metadata"].(map[string]any)
	if len(metadata) != 2 || metadata["name"] != "a" || metadata["labels"] == nil {
		t.Errorf("rendered is %v", metadata)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "overrides[1]: ") || !strings.Contains(warnings[0], "/metadata/uid") || !strings.Contains(warnings[0], "/metadata/managedFields") {
		t.Errorf("warned is %q", warnings)
	}
}
