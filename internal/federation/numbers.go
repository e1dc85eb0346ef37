package federation

import (
	"fmt"
	"strconv"
	"strings"
)

// parseNumber reads the text of a JSON number (or of a YAML 1.1 decimal). An integer that does not fit 64 bits and a fraction that
// a float64 cannot hold digit for digit are errors: the cluster would get another number than the user wrote.
func parseNumber(text string) (any, error) {
	plain := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
		return n, nil
	}
	if !strings.ContainsAny(plain, ".eE") {
		return nil, fmt.Errorf("integer %s is larger than Kubernetes can hold (64 bit, signed); quote it to make it text", shortened(text))
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || !sameDecimal(plain, strconv.FormatFloat(f, 'e', -1, 64)) {
		return nil, fmt.Errorf("number %s cannot be held exactly (64 bit floating point); quote it to make it text", shortened(text))
	}
	return normalFloat(f)
}

// shortened keeps a long text from filling a message.
func shortened(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

// sameDecimal tells whether two decimal numbers have the same value, without computing either.
func sameDecimal(a, b string) bool {
	digitsA, exponentA, okA := decimalParts(a)
	digitsB, exponentB, okB := decimalParts(b)
	return okA && okB && digitsA == digitsB && exponentA == exponentB
}

// decimalParts brings a decimal number to sign and digits without leading or trailing zeros, and the power of ten behind them.
func decimalParts(text string) (digits string, exponent int, ok bool) {
	text = strings.TrimPrefix(text, "+")
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	mantissa, power := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if power, err = strconv.Atoi(text[i+1:]); err != nil {
			return "", 0, false
		}
		mantissa = text[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent = power - len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return "0", 0, true
	}
	return sign + trimmed, exponent, true
}
