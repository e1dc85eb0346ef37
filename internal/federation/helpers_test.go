package federation

import (
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tester is what testing.T and rapid.T have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// object reads a manifest written as YAML in a test.
func object(t tester, text string) map[string]any {
	t.Helper()
	tree, err := DecodeOne(text)
	if err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return tree
}

// value reads any value written as YAML in a test.
func value(t tester, text string) any {
	t.Helper()
	v, err := DecodeValue(text)
	if err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return v
}

// operations reads a JSON patch written as YAML in a test.
func operations(t tester, text string) []Operation {
	t.Helper()
	ops, err := ParseOperations(text)
	if err != nil {
		t.Fatalf("parse operations %s: %v", text, err)
	}
	return ops
}

// same fails the test where two values differ.
func same(t tester, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unlike what is wanted (-want +got):\n%s", diff)
	}
}

// text gives the canonical JSON of a value.
func text(t tester, v any) string {
	t.Helper()
	b, err := Canonical(v)
	if err != nil {
		t.Fatalf("canonical: %v", err)
	}
	return string(b)
}

// refused wants an InputError at a path (steps joined by dots) that holds all the words, and no other findings.
func refused(t tester, err error, path string, words ...string) {
	t.Helper()
	findings := Findings(err)
	if len(findings) != 1 {
		t.Fatalf("want one finding at %q, got %d: %v", path, len(findings), err)
	}
	if got := strings.Join(findings[0].Path, "."); got != path {
		t.Errorf("the finding is at %q, not at %q: %v", got, path, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

// fails wants an error that holds all the words.
func fails(t tester, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("want an error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

func noError(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// isOperationError tells which operation failed, or 0.
func failedOperation(err error) int {
	var failed *OperationError
	if errors.As(err, &failed) {
		return failed.Number
	}
	return 0
}

// keyGen draws map keys: common ones, so that trees meet, and hard ones.
var keyGen = rapid.OneOf(
	rapid.SampledFrom([]string{"a", "b", "c", "name", "spec", "0", "1", "-", "", "a/b", "m~n", "~1", "example.com/x", "é", "on", "1.10"}),
	rapid.StringN(0, 6, 24),
)

// scalarGen draws values that hold nothing.
var scalarGen = rapid.OneOf(
	rapid.Map(rapid.SampledFrom([]string{"", "x", "yes", "0400", "1.10", "null", "~", "a\nb\n", " lead", "trail ", "#c", "<<", "1_000",
		"0x1f", "1:30", "2020-01-01", "line\n\n", "\n", "\t", "- a", "{}", "'", "\"", "\\", "\u2028", "=", "é"}), asAny[string]),
	rapid.Map(rapid.StringN(0, 12, 48), asAny[string]),
	rapid.Map(rapid.Bool(), asAny[bool]),
	rapid.Map(rapid.Int64(), asAny[int64]),
	rapid.Map(rapid.Int64Range(-2, 2), asAny[int64]),
	rapid.Map(rapid.Float64(), func(f float64) any {
		number, err := normalFloat(f)
		if err != nil {
			return int64(0)
		}
		return number
	}),
)

func asAny[T any](v T) any { return v }

// treeGen draws JSON trees of a depth, without nulls.
func treeGen(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return scalarGen
	}
	return rapid.OneOf(scalarGen, rapid.Map(mapGen(depth), asAny[map[string]any]),
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return treeGen(depth - 1) }), 0, 4), asAny[[]any]))
}

// mapGen draws maps of a depth, without nulls.
func mapGen(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(keyGen, rapid.Deferred(func() *rapid.Generator[any] { return treeGen(depth - 1) }), 0, 5)
}

// patchGen draws merge patches: maps with nulls in them.
func patchGen(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(keyGen, rapid.Deferred(func() *rapid.Generator[any] {
		if depth <= 1 {
			return rapid.OneOf(scalarGen, rapid.Just[any](nil))
		}
		return rapid.OneOf(scalarGen, rapid.Just[any](nil), rapid.Map(patchGen(depth-1), asAny[map[string]any]))
	}), 0, 5)
}
