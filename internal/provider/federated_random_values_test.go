package provider_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v2"
	quantity "k8s.io/apimachinery/pkg/api/resource"
)

// drawing makes a value; the same random numbers give the same one.
type drawing func(r *rand.Rand) any

// of draws one of a few.
func of(values ...any) drawing {
	return func(r *rand.Rand) any { return copied(values[r.IntN(len(values))]) }
}

// copied keeps values from being shared between trees.
func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, child := range v {
			out[key] = copied(child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = copied(child)
		}
		return out
	case int:
		return int64(v)
	}
	return value
}

// hostileTexts are texts that formats, languages and marks of their own like to take for something else.
var hostileTexts = []string{
	"", "yes", "no", "on", "off", "true", "null", "~", "0", "012", "1e3", "0x1F", "1_000", "2001-01-01", "12:30:45", "9007199254740993", ".5", "-", "=", "<<",
	" leading", "trailing ", "two\nlines\n", "\n\n  indented\n\tand tabbed\n\n", "carriage\r\nreturn", "bell\x07 and escape\x1b", "ünïcödé", "日本語", "😀👩‍👩‍👧",
	"${var.not_interpolated}", "%{ if true }", "$${twice}", "$${", "%%{", "a: b", "# no comment", `"quoted"`, "it's", `back\slash`, `\n`, "[]", "{}", "*all", "&anchor", "!!int 3", "| block", "> fold",
	"\u2028line", "\ufeffmark", "a\u0085b", "<&>", "(sensitive)", "(sensitive, changed)", "path/with~tilde/~1", "EOT\n", "--- \nnext: document", "...", "{{ .Values.x }}", "\u00a0", "100%", "a,b=c",
}

// decomposed is not in Unicode's composed form, into which Terraform brings all that is written as it is.
const decomposed = "e\u0301"

// isDecomposed reports whether a value has such a text in it.
func isDecomposed(value any) bool { return strings.Contains(jsonOf(value), decomposed) }

// text draws any text.
func text(r *rand.Rand) any {
	switch r.IntN(12) {
	case 0:
		return strings.Repeat("long ", 5+r.IntN(5)) + strings.Repeat("x", r.IntN(3000))
	case 1:
		return fmt.Sprintf("plain %d", r.IntN(1000))
	case 2:
		return one(r, decomposed, decomposed+"\n\U0001f600 <"+decomposed+">")
	}
	return hostileTexts[r.IntN(len(hostileTexts))]
}

// encoded draws any bytes, in base64 as Secrets have them.
func encoded(r *rand.Rand) any {
	data := []byte(text(r).(string))
	if r.IntN(4) == 0 {
		data = []byte{0, 0xff, byte(r.IntN(256)), 0xfe}
	}
	return base64.StdEncoding.EncodeToString(data)
}

// labelValue draws a value that labels may have.
var labelValue = of("", "yes", "on", "no", "1", "0.5", "1e3", "TRUE", "null", "a_b-c.d", "0x1F", strings.Repeat("x", 63), "v1", "v2")

// integer draws any integer of 64 bits.
var integer = of(0, 1, -1, 30, 9007199254740993, -9007199254740993, int64(math.MaxInt64), int64(math.MinInt64), 1000000)

// fraction draws a number that need not be whole.
var fraction = of(0, 0.5, -0.25, 1, 3.14159, 1e-7, 123456789.125, 1000000.5)

// cpu and memory draw quantities, each in several spellings.
var (
	cpu    = of("0.5", "500m", "1", "1000m", "2", "0", "1.5", "0.1", "100m", "2e0", 1)
	memory = of("1Gi", "1024Mi", "1073741824", "512Mi", "0.5Gi", "0", "128974848", "129e6", "129M", "100k", 1024)
)

// sameQuantity compares quantities by what they amount to.
func sameQuantity(a, b any) bool {
	x, errA := quantity.ParseQuantity(fmt.Sprint(a))
	y, errB := quantity.ParseQuantity(fmt.Sprint(b))
	return errA == nil && errB == nil && x.Cmp(y) == 0
}

// spelled is how API servers write a quantity.
func spelled(value any) string {
	q, err := quantity.ParseQuantity(fmt.Sprint(value))
	if err != nil {
		return ""
	}
	return q.String()
}

// sameYAML compares texts by what they say.
func sameYAML(a, b any) bool {
	var x, y any
	left, isText := a.(string)
	right, both := b.(string)
	return isText && both && yaml.Unmarshal([]byte(left), &x) == nil && yaml.Unmarshal([]byte(right), &y) == nil && reflect.DeepEqual(x, y)
}

// document draws a small file.
func document(r *rand.Rand) any {
	return documentOf(map[string]any{"level": one(r, "debug", "info", "yes"), "port": int64(r.IntN(9000)), "nested": map[string]any{"on": one[any](r, true, "on", 0.5)}})
}

func documentOf(tree any) string {
	data, err := yaml.Marshal(tree)
	if err != nil {
		panic(err) // a map of plain values
	}
	return string(data)
}

// empty are values that typed kinds do not tell from absent ones.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case map[string]any:
		for _, child := range v {
			if !empty(child) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

// contains reports whether a live value is the one wanted, but for what an API server has put in beside it. Numbers compare by value.
func contains(live, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		node, isMap := live.(map[string]any)
		if !isMap || len(w) == 0 {
			return empty(live) && empty(want)
		}
		for key, child := range w {
			if !contains(node[key], child) && !(empty(node[key]) && empty(child)) {
				return false
			}
		}
		return true
	case []any:
		list, _ := live.([]any)
		if len(list) != len(w) {
			return false
		}
		for i := range w {
			if !contains(list[i], w[i]) {
				return false
			}
		}
		return true
	case int64, float64:
		return number(live) == number(want) && number(want) != nil
	}
	return reflect.DeepEqual(live, want)
}

// number brings a number to one type; nil for anything else.
func number(value any) any {
	switch n := value.(type) {
	case int64:
		return n
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n)
		}
		return n
	}
	return nil
}
