package federation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"pgregory.net/rapid"
)

func TestEncodeReadsBackAsTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := treeGen(4).Draw(t, "tree")
		encoded, err := Encode(tree)
		noError(t, err)
		back, err := DecodeValue(encoded)
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if !equalValues(back, tree) {
			t.Fatalf("%s\nreads back as %s, not %s", encoded, text(t, back), text(t, tree))
		}
	})
}

func TestEncodeIsReadByKubectlAsTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := map[string]any{"apiVersion": "v1", "spec": treeGen(4).Draw(t, "spec")}
		encoded, err := Encode(tree)
		noError(t, err)
		// The two steps of kubectl: to JSON, then to a tree with exact integers.
		var raw runtime.RawExtension
		noError(t, utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(encoded), 4096).Decode(&raw))
		back := map[string]any{}
		noError(t, utiljson.Unmarshal(raw.Raw, &back))
		if !equalValues(back, tree) {
			t.Fatalf("%s\nis read as %s, not %s", encoded, text(t, back), text(t, tree))
		}
	})
}

func TestEncodeQuotesWhatYAMLWouldMisread(t *testing.T) {
	encoded, err := Encode(map[string]any{
		"answer": "yes", "mode": "0400", "version": "1.10", "none": "null", "day": "2020-01-01", "time": "12:30:45", "on": "on",
		"big": int64(9007199254740993), "fraction": 0.5, "empty": "", "map": map[string]any{}, "list": []any{},
	})
	noError(t, err)
	same(t, encoded, strings.TrimLeft(`
answer: "yes"
big: 9007199254740993
day: "2020-01-01"
empty: ""
fraction: 0.5
list: []
map: {}
mode: "0400"
none: "null"
"on": "on"
time: "12:30:45"
version: "1.10"
`, "\n"))
}

func TestEncodeWritesAMergeKeyThatIsNoMerge(t *testing.T) {
	encoded, err := Encode(map[string]any{"data": map[string]any{"<<": "text"}})
	noError(t, err)
	same(t, value(t, encoded), map[string]any{"data": map[string]any{"<<": "text"}})
}

func TestEncodeRefusesWhatIsNoJSON(t *testing.T) {
	for name, tree := range map[string]any{
		"invalid UTF-8": "a\xffb", "a channel": make(chan int), "a typed list": []string{"a"}, "infinity": 1 / zero,
		"an unsigned integer beyond 64 bit": uint64(1 << 63), "deep nesting": nested(maxDepth + 2),
	} {
		t.Run(name, func(t *testing.T) {
			if encoded, err := Encode(map[string]any{"x": tree}); err == nil {
				t.Errorf("encoded as %q", encoded)
			}
		})
	}
}

// zero divides to infinity; a constant would not compile.
var zero float64

// nested gives lists in lists.
func nested(depth int) any {
	var v any = "x"
	for range depth {
		v = []any{v}
	}
	return v
}
