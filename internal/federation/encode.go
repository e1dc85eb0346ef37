package federation

import (
	"fmt"

	"go.yaml.in/yaml/v2"
)

// Encode writes a tree as YAML that kubectl reads back as the same tree: keys sorted, integers exact, text that YAML 1.1 would take for
// something else ("yes", "0400", "1.10") in quotes. The same tree gives the same text. It errs where a value is no JSON.
func Encode(tree any) (string, error) {
	clean, err := copyTree(tree)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(clean)
	if err != nil {
		return "", fmt.Errorf("encode as YAML: %w", err)
	}
	return string(text), nil
}
