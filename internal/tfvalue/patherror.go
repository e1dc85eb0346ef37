package tfvalue

import (
	"slices"
	"strconv"
	"strings"
)

// PathError says why one part of a value has no exact counterpart on the other side.
type PathError struct {
	// Path leads from the value converted to the part at fault: map keys, and list indexes in decimal.
	Path []string
	// Reason says what is wrong with the part and what to do, in lower case.
	Reason string
}

// Error gives the JSON pointer of the part and the reason.
func (e *PathError) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return pointer(e.Path) + ": " + e.Reason
}

// step is one step from a value into a part of it: a map key, with index -1, or a list index.
type step struct {
	key   string
	index int
}

// trail is the way from the root to the part a conversion is at. It is kept as a stack and spelled out only when there is
// something to report, since nearly always there is not.
type trail []step

func (t *trail) enterKey(key string) { *t = append(*t, step{key: key, index: -1}) }

func (t *trail) enterIndex(index int) { *t = append(*t, step{index: index}) }

func (t *trail) leave() { *t = (*t)[:len(*t)-1] }

// path lists the steps as text.
func (t trail) path() []string {
	path := make([]string, len(t))
	for i, s := range t {
		if s.index >= 0 {
			path[i] = strconv.Itoa(s.index)
		} else {
			path[i] = s.key
		}
	}
	return path
}

// escaper escapes a token of a JSON pointer (RFC 6901, section 3).
var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointer spells a path as a JSON pointer; the empty path is "".
func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(escaper.Replace(token))
	}
	return b.String()
}

// sortErrors brings findings into the order of their paths: maps are walked in random order, messages must not be.
func sortErrors(findings []*PathError) {
	slices.SortFunc(findings, func(a, b *PathError) int { return slices.Compare(a.Path, b.Path) })
}

// joined makes one error of several; nil of none.
func joined(findings []*PathError) error {
	switch len(findings) {
	case 0:
		return nil
	case 1:
		return findings[0]
	}
	sortErrors(findings)
	return pathErrors(findings)
}

// pathErrors is several findings as one error, one per line.
type pathErrors []*PathError

func (e pathErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As and errors.Is look into each finding.
func (e pathErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, one := range e {
		errs[i] = one
	}
	return errs
}
