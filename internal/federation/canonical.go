package federation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Canonical writes a value as JSON of which there is exactly one form: keys in byte order, no white space, integers exact, only
// what JSON demands escaped, null values of maps left out. It errs on values that are not JSON.
func Canonical(v any) ([]byte, error) { return appendCanonical(nil, v, 0) }

func appendCanonical(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, tooDeepError()
	}
	switch value := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, value), nil
	case string:
		return appendString(b, value)
	case int64:
		return strconv.AppendInt(b, value, 10), nil
	case seal:
		return appendSeal(b, value), nil
	case map[string]any:
		return appendFields(b, value, depth)
	case []any:
		b = append(b, '[')
		for i, element := range value {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendCanonical(b, element, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	number, err := normalNumber(v)
	if err != nil {
		return nil, err
	}
	if f, ok := number.(float64); ok {
		return appendFloat(b, f), nil
	}
	return appendCanonical(b, number, depth)
}

func appendFields(b []byte, fields map[string]any, depth int) ([]byte, error) {
	b = append(b, '{')
	first := true
	for _, key := range sortedKeys(fields) {
		value := fields[key]
		if value == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		if b, err = appendString(b, key); err != nil {
			return nil, err
		}
		if b, err = appendCanonical(append(b, ':'), value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendFloat writes the shortest form that reads back as the same number: with an exponent where it would look like an integer that
// is too large, and where it is very small.
func appendFloat(b []byte, f float64) []byte {
	if size := math.Abs(f); size >= 1<<63 || size < 1e-6 {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// appendString writes a JSON string with the escapes of RFC 8785: quote, backslash and control characters.
func appendString(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, errors.New("text that is not UTF-8 is not JSON")
	}
	b = append(slices.Grow(b, len(s)+2), '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"'), nil
}
