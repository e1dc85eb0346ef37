package federation

import (
	"fmt"
	"strconv"
	"strings"
)

// pointerEscaper and pointerUnescaper are the two escapes of RFC 6901; one pass each, so that "~01" becomes "~1" and not "/".
var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// parsePointer splits a JSON pointer (RFC 6901) into its unescaped tokens. The empty pointer, which stands for the whole
// document, is refused: nothing a user may point at here is a whole object.
func parsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, fmt.Errorf("an empty path stands for the whole object; name a field, such as /metadata/labels")
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("path %q must start with a slash", pointer)
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		if err := checkEscapes(token); err != nil {
			return nil, fmt.Errorf("path %q: %w", pointer, err)
		}
		tokens[i] = pointerUnescaper.Replace(token)
	}
	return tokens, nil
}

// checkEscapes refuses a tilde that is not followed by 0 or 1.
func checkEscapes(token string) error {
	for i := 0; i < len(token); i++ {
		if token[i] != '~' {
			continue
		}
		if i+1 == len(token) || (token[i+1] != '0' && token[i+1] != '1') {
			return fmt.Errorf("a tilde must be followed by 0 or 1 (~0 is a tilde, ~1 a slash)")
		}
		i++
	}
	return nil
}

// pointerOf is the inverse of parsePointer.
func pointerOf(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(token))
	}
	return b.String()
}

// listIndex reads a list index as RFC 6901 spells it: decimal, no sign, no leading zero.
func listIndex(token string) (int, error) {
	if token == "" || (len(token) > 1 && token[0] == '0') {
		return 0, fmt.Errorf("%q is not a list index (0, 1, 2, …)", token)
	}
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is not a list index (0, 1, 2, …)", token)
		}
	}
	index, err := strconv.Atoi(token)
	if err != nil {
		return 0, fmt.Errorf("list index %s is too large", token)
	}
	return index, nil
}

// ValueAt returns what a tree holds at a JSON pointer, and whether there is anything. The empty pointer is the tree itself; an
// invalid pointer finds nothing.
func ValueAt(tree any, pointer string) (any, bool) {
	if pointer == "" {
		return tree, true
	}
	tokens, err := parsePointer(pointer)
	if err != nil {
		return nil, false
	}
	return valueAt(tree, tokens)
}

func valueAt(node any, tokens []string) (any, bool) {
	for _, token := range tokens {
		switch n := node.(type) {
		case map[string]any:
			child, ok := n[token]
			if !ok {
				return nil, false
			}
			node = child
		case []any:
			index, err := listIndex(token)
			if err != nil || index >= len(n) {
				return nil, false
			}
			node = n[index]
		default:
			return nil, false
		}
	}
	return node, true
}

// ValidatePointers checks a list of JSON pointers (sensitive_fields, retain). The path of an InputError is the index in the list.
func ValidatePointers(pointers []string) error {
	var problems []error
	seen := make(map[string]int, len(pointers))
	for i, pointer := range pointers {
		if _, err := parsePointer(pointer); err != nil {
			problems = append(problems, &InputError{Path: []string{strconv.Itoa(i)}, Summary: "Invalid JSON pointer",
				Detail: sentence(err.Error())})
			continue
		}
		if first, ok := seen[pointer]; ok {
			problems = append(problems, &InputError{Path: []string{strconv.Itoa(i)}, Summary: "Duplicate JSON pointer",
				Detail: fmt.Sprintf("%s is in the list twice, at indexes %d and %d.", pointer, first, i)})
			continue
		}
		seen[pointer] = i
	}
	return joined(problems)
}

// sentence makes an error text a sentence: first letter upper case, full stop at the end.
func sentence(text string) string {
	if text == "" {
		return text
	}
	if c := text[0]; c >= 'a' && c <= 'z' {
		text = string(c-'a'+'A') + text[1:]
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
