package tfvalue_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

// deployment reads the Deployment of testdata, 1.8 kB: the size a plan walks hundreds of.
func deployment(b *testing.B) any {
	b.Helper()
	text, err := os.ReadFile("testdata/deployment.json")
	if err != nil {
		b.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		b.Fatal(err)
	}
	return tree
}

func BenchmarkTree(b *testing.B) {
	v, err := tfvalue.Value(deployment(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tfvalue.Tree(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValue(b *testing.B) {
	tree := deployment(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tfvalue.Value(tree); err != nil {
			b.Fatal(err)
		}
	}
}
