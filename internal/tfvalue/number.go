package tfvalue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// precision is the one Terraform computes numbers with, in bits (cty.ParseNumberVal). A decimal read with another precision is
// another number to it.
const precision = 512

// fromBig returns the int64 or float64 that stands for exactly the number n.
func fromBig(n *big.Float) (any, error) {
	if integer, accuracy := n.Int64(); accuracy == big.Exact {
		return integer, nil
	}
	if n.IsInf() {
		return nil, errors.New("an infinite number has no counterpart in JSON")
	}
	f, accuracy := n.Float64()
	// Fractions may come as the binary number itself, from a provider that computes with float64. An integer beyond 64 bits
	// may not: its digits would change on the way (9223372036854775808 is sent as 9223372036854776000).
	if accuracy == big.Exact && !n.IsInt() {
		return f, nil
	}
	if !math.IsInf(f, 0) && decimal(f).Cmp(n) == 0 {
		return f, nil
	}
	return nil, fmt.Errorf("number %s cannot be kept exactly (64 bits); round it, or write it as text", n.Text('g', 40))
}

// decimal returns the number that the shortest decimal text of f stands for, which is what a user who wrote that text meant.
func decimal(f float64) *big.Float {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	n, _, err := big.ParseFloat(text, 10, precision, big.ToNearestEven)
	if err != nil {
		// Only infinite and not-a-number texts are refused, and callers exclude both.
		return big.NewFloat(f)
	}
	return n
}
