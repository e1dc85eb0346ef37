package federation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

func TestDecodeReadsYAMLAsKubectlDoes(t *testing.T) {
	for _, manifest := range []string{
		"defaultMode: 0400", "mode: 0o17", "mode: 08", "value: yes", "value: off", "value: y", "on: 1", "ver: 1.10", "num: 1_000",
		"num: 9007199254740993", "num: 9223372036854775807", "num: -9223372036854775808", "num: 0x1F", "num: 0b101", "num: 3.0", "num: 1e3",
		"num: 0.5", "day: 2020-01-01", "time: 12:30:45", "empty:\ntilde: ~", "1: a\n1.5: b\ntrue: c", "a: &x {b: 1}\nc: *x",
		"base: &b {x: 1, y: 2}\nd: {<<: *b, y: 3}", "text: |\n  a\n  ---\n  b\n", "text: >-\n  a\n  b\n", "a: 'it''s'", `a: "\u00e9\n"`,
		"a: !!str 1", "a: !!binary aGVsbG8=", "a:\r\n  b: 1\r\n", "\uFEFFa: 1", "{a: 1, b: [x, y]}", `{"a": 9007199254740993, "b": "\ud83d\ude00"}`,
		"a: {}\nb: []\nc: false", "? a\n: b", "a: 1 # comment", "%YAML 1.1\n---\na: 1", "num: +12\nm: -.5", "num: 012_3",
	} {
		t.Run(manifest, func(t *testing.T) {
			got, err := DecodeOne(manifest)
			noError(t, err)
			var raw runtime.RawExtension
			noError(t, utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(strings.TrimPrefix(manifest, "%YAML 1.1\n---\n")), 4096).Decode(&raw))
			want := map[string]any{}
			noError(t, utiljson.Unmarshal(raw.Raw, &want))
			same(t, got, want)
		})
	}
}

func TestDecodeReadsOctalModesAsNumbers(t *testing.T) {
	same(t, object(t, "defaultMode: 0400"), map[string]any{"defaultMode": int64(256)})
}

func TestDecodeKeepsIntegersExact(t *testing.T) {
	for _, manifest := range []string{"num: 9007199254740993", `{"num": 9007199254740993}`} {
		same(t, object(t, manifest), map[string]any{"num": int64(9007199254740993)})
	}
}

func TestDecodeRefusesNumbersItCannotHold(t *testing.T) {
	for name, c := range map[string]struct{ manifest, path string }{
		"YAML integer beyond 64 bit":          {"spec: {a: 1, num: 18446744073709551616}", "spec.num"},
		"YAML integer beyond 63 bit":          {"spec: {num: 9223372036854775808}", "spec.num"},
		"YAML negative beyond":                {"spec: {num: -9223372036854775809}", "spec.num"},
		"YAML with underscores":               {"spec: {num: 99_999_999_999_999_999_999}", "spec.num"},
		"YAML fraction with too many digits":  {"spec: [1.5, 0.12345678901234567890123]", "spec.1"},
		"YAML in the second element":          {"spec: [{num: 0.5}, {num: 99999999999999999999}]", "spec.1.num"},
		"YAML infinity":                       {"spec: {num: .inf}", "spec.num"},
		"YAML not a number":                   {"spec: {num: .nan}", "spec.num"},
		"JSON integer beyond 64 bit":          {`{"spec": {"num": 9223372036854775808}}`, "spec.num"},
		"JSON fraction with too many digits":  {`{"spec": {"num": 0.12345678901234567890123}}`, "spec.num"},
		"JSON exponent beyond floating point": {`{"spec": {"num": 1e999}}`, "spec.num"},
		"JSON exponent of many digits":        {`{"spec": {"num": 1e99999999999999999999}}`, "spec.num"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeOne(c.manifest)
			refused(t, err, "", "Invalid number", "/"+strings.ReplaceAll(c.path, ".", "/"))
		})
	}
}

func TestDecodeAcceptsNumbersThatAreExactInOtherSpellings(t *testing.T) {
	for manifest, want := range map[string]any{
		"num: 1.10": 1.1, "num: 0.50": 0.5, "num: 1e30": 1e30, "num: 5.": int64(5), "num: 1.5e1": int64(15), "num: 08": int64(8), "num: 1e18": int64(1e18),
		`{"num": 1.0}`: int64(1), `{"num": -0.0}`: int64(0), `{"num": 100e-2}`: int64(1),
	} {
		same(t, object(t, manifest)["num"], want)
	}
}

func TestDecodeOneIgnoresEmptyDocuments(t *testing.T) {
	for name, manifest := range map[string]string{
		"lone trailing separator": "a: 1\n---\n", "leading separator": "---\na: 1\n", "leading comment": "# a: 0\n---\na: 1",
		"several separators": "---\n---\n# x\n---\na: 1\n---\n---\n", "CRLF": "# x\r\n---\r\na: 1\r\n---\r\n", "end marker": "a: 1\n...\n",
		"separator with comment": "--- # first\na: 1\n--- # nothing\n", "JSON with space": " \n{\"a\": 1}\n",
		"byte order mark": "\uFEFF{\"a\": 1}", "null document": "null\n---\na: 1",
	} {
		t.Run(name, func(t *testing.T) { same(t, object(t, manifest), map[string]any{"a": int64(1)}) })
	}
}

func TestDecodeOneTakesNoLineInATextForASeparator(t *testing.T) {
	tree := object(t, "kind: ConfigMap\ndata:\n  x: |\n    a\n    ---\n    b\n  z: \"---\"\n")
	same(t, tree["data"], any(map[string]any{"x": "a\n---\nb\n", "z": "---"}))
}

func TestDecodeOneRefusesWhatIsNotOneManifest(t *testing.T) {
	for name, c := range map[string]struct{ manifest, word, more string }{
		"nothing":             {"", "no document", ""},
		"comments only":       {"# x\n---\n# y\n", "no document", ""},
		"two documents":       {"kind: Namespace\n---\nkind: Namespace\n", "2 documents", "manifests_by_id"},
		"three with CRLF":     {"a: 1\r\n---\r\na: 2\r\n---\r\na: 3\r\n---\r\n", "3 documents", "manifests_by_id"},
		"two JSON values":     {`{"a": 1}{"a": 2}`, "2 documents", "manifests_by_id"},
		"a list":              {"- a: 1\n", "is a list", "apiVersion, kind and metadata"},
		"text":                {"hello", "is text", ""},
		"a number":            {"7", "is a number", ""},
		"a List":              {"apiVersion: v1\nkind: List\nitems: [{kind: A}, {kind: B}]", "List of 2 objects", "manifests_by_id"},
		"a typed list":        {"kind: ConfigMapList\nitems: []", "ConfigMapList of 0 objects", "manifests_by_id"},
		"a List of null":      {"kind: List", "List of 0 objects", ""},
		"broken YAML":         {"a: [1\nb: 2", "Invalid YAML", "Line 1"},
		"broken JSON":         {`{"a": }x`, "As JSON: invalid character '}'", "As YAML"},
		"a tab":               {"a:\n\tb: 1", "Invalid YAML", "Line 2"},
		"invalid UTF-8":       {"a: \xff", "not UTF-8", ""},
		"duplicate key":       {"a: 1\nb: 2\na: 3", `"a" already set`, "Line 3"},
		"same JSON key":       {`{"x": {"a": 1, "a": 2}}`, "/x", `"a" is there twice`},
		"spelled twice":       {"1: a\n\"1\": b", `"1" is there twice`, "two spellings"},
		"a null key":          {"? \n: b", "A key is null", ""},
		"a key that is a map": {"{a: hunter2}: b", "A key is a map", ""},
		"no such anchor":      {"pw: *hunter2", "alias", "quote the value"},
		"another tag":         {"pw: !!int hunter2", "Cannot decode", "a value"},
		"deep JSON":           {strings.Repeat(`[`, 100_000), "deep", ""},
		"deep YAML flow":      {"a: " + strings.Repeat(`[`, 100_000), "depth", ""},
		"deep YAML":           {"a: " + strings.Repeat(`{a: `, 5_000) + "1" + strings.Repeat(`}`, 5_000), "nested more than", ""},
		"deep block":          {strings.Repeat("- ", 20_000), "depth", ""},
		"alias bomb":          {aliasBomb(), "aliasing", ""},
		"alias to itself":     {"a: &a [*a]", "itself", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeOne(c.manifest)
			if len(Findings(err)) != 1 {
				t.Fatalf("want one finding: %v", err)
			}
			fails(t, err, c.word, c.more)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

// aliasBomb is a small text of 9^9 elements.
func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		level, before := string(rune('1'+i)), string(rune('0'+i))
		b.WriteString("a" + level + ": &a" + level + " [" + strings.TrimSuffix(strings.Repeat("*a"+before+", ", 9), ", ") + "]\n")
	}
	return b.String()
}

func TestDecodeAllUnfoldsLists(t *testing.T) {
	all, err := DecodeAll(`
kind: A
---
# nothing
---
apiVersion: v1
kind: List
items:
- {kind: B}
- {kind: List, items: [{kind: C}]}
---
apiVersion: v1
kind: ConfigMapList
items:
- metadata: {name: x}
- {kind: D}
---
kind: AllowList
spec: {}
`)
	noError(t, err)
	same(t, all, []map[string]any{
		{"kind": "A"}, {"kind": "B"}, {"kind": "C"},
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}}, {"kind": "D"},
		{"kind": "AllowList", "spec": map[string]any{}},
	})
}

func TestDecodeAllSaysWhichDocumentIsNoManifest(t *testing.T) {
	_, err := DecodeAll("kind: A\n---\n- x\n")
	fails(t, err, "Document 2", "a list")
	_, err = DecodeAll("kind: A\n---\nkind: List\nitems: [x]\n")
	fails(t, err, "Document 2", "Item 1", "text")
}

func TestDecodeAllOfNothingIsEmpty(t *testing.T) {
	all, err := DecodeAll("# nothing\n---\n")
	noError(t, err)
	same(t, all, []map[string]any{})
}

func TestDecodeValueReadsAnyValue(t *testing.T) {
	same(t, value(t, "[1, {a: yes}]"), any([]any{int64(1), map[string]any{"a": true}}))
	same(t, value(t, `"text"`), any("text"))
	same(t, value(t, `[{"op":"add"}]`), any([]any{map[string]any{"op": "add"}}))
	_, err := DecodeValue("# x")
	fails(t, err, "no JSON or YAML value")
	_, err = DecodeValue("a: 1\n---\nb: 2")
	fails(t, err, "2 documents")
}
