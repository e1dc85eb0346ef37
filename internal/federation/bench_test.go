package federation

import (
	"fmt"
	"strings"
	"testing"
)

// largeManifest is a Deployment of some 20 kB of YAML: a fleet of them is what plans are made of.
func largeManifest(b *testing.B) string {
	b.Helper()
	var text strings.Builder
	text.WriteString(deployment)
	for i := range 200 {
		fmt.Fprintf(&text, "      - name: side-%d\n        image: reg.example/team/side:%d\n        env:\n        - {name: LEVEL, value: \"%d\"}\n", i, i, i)
	}
	return text.String()
}

func BenchmarkDecode20kB(b *testing.B) {
	manifest := largeManifest(b)
	b.SetBytes(int64(len(manifest)))
	for b.Loop() {
		object(b, manifest)
	}
}

func BenchmarkNormalize20kB(b *testing.B) {
	tree := object(b, largeManifest(b))
	for b.Loop() {
		_, _, err := Normalize(tree, TemplateOptions{Namespaced: &yes, HasStatus: true})
		noError(b, err)
	}
}

func BenchmarkRender20kB(b *testing.B) {
	tree := object(b, largeManifest(b))
	overrides := []Override{{Selection: Selection{Selector: &Selector{}}, JSONPatch: operations(b, `[{path: /spec/replicas, value: 5}]`),
		Images: []ImageOverride{{Container: "*", Registry: ptr("mirror.example")}}}}
	for b.Loop() {
		_, _, _, err := Render(tree, overrides, Member{Name: "a"})
		noError(b, err)
	}
}

func BenchmarkVersion20kB(b *testing.B) {
	tree := object(b, largeManifest(b))
	for b.Loop() {
		Version(tree, nil, nil)
	}
}

func BenchmarkDifferences20kB(b *testing.B) {
	template, rendered := object(b, largeManifest(b)), object(b, largeManifest(b))
	noError(b, SetReplicas(rendered, 5))
	for b.Loop() {
		Differences(template, rendered, nil)
	}
}
