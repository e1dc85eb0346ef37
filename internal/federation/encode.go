package federation

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v2"
)

// Encode writes a tree as YAML that kubectl reads back as the same tree: keys sorted, integers exact, text that YAML 1.1 would take for
// something else ("yes", "0400", "1.10") in quotes. The same tree gives the same text. It errs where a value is no JSON.
func Encode(tree any) (string, error) {
	clean, err := copyTree(tree)
	if err != nil {
		return "", err
	}
	if hasMergeKey(clean) {
		// The library writes this key without quotes, and would take it for a merge when it reads it. JSON is YAML, too.
		text, err := Canonical(clean)
		return string(text) + "\n", err
	}
	text, err := yaml.Marshal(clean)
	if err != nil {
		return "", fmt.Errorf("encode as YAML: %w", err)
	}
	return string(text), nil
}

// hasMergeKey tells whether a map in a tree has the key "<<".
func hasMergeKey(node any) bool {
	switch n := node.(type) {
	case map[string]any:
		for key, value := range n {
			if key == "<<" || hasMergeKey(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(n, hasMergeKey)
	}
	return false
}
