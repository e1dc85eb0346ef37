package federation

// What stands for a sensitive value in differences.
const (
	maskedValue        = "(sensitive)"
	maskedChangedValue = "(sensitive, changed)"
)

// sensitivity is a tree of what must not be shown: at its root either everything, or what its children say.
type sensitivity struct {
	whole    bool
	children map[string]sensitivity
	// each says that every child of a map is sensitive by itself: keys may be shown, values not (data of Secrets).
	each bool
}

// sensitivePaths gathers the sensitive pointers, and data and stringData of a Secret, which always are. Invalid pointers are left out.
func sensitivePaths(tree map[string]any, pointers []string) sensitivity {
	root := sensitivity{}
	for _, pointer := range pointers {
		if tokens, err := parsePointer(pointer); err == nil {
			root = root.with(tokens, sensitivity{whole: true})
		}
	}
	if mayBeSecret(tree) {
		for _, field := range []string{"data", "stringData"} {
			if !root.children[field].whole {
				root = root.with([]string{field}, sensitivity{each: true})
			}
		}
	}
	return root
}

// mayBeSecret takes a tree that does not say what it is, such as a projection on some fields, for a Secret: nothing must leak.
func mayBeSecret(tree map[string]any) bool {
	return isSecret(tree) || tree["kind"] == nil || tree["apiVersion"] == nil && tree["kind"] == "Secret"
}

func (s sensitivity) with(tokens []string, leaf sensitivity) sensitivity {
	if s.whole {
		return s
	}
	if len(tokens) == 0 {
		return leaf
	}
	if s.children == nil {
		s.children = map[string]sensitivity{}
	}
	s.children[tokens[0]] = s.children[tokens[0]].with(tokens[1:], leaf)
	return s
}

// at is what holds below a key.
func (s sensitivity) at(token string) sensitivity {
	if s.whole || s.each {
		return sensitivity{whole: true}
	}
	return s.children[token]
}

// any tells whether a node holds something sensitive.
func (s sensitivity) any(node any) bool {
	if s.whole {
		return node != nil
	}
	switch n := node.(type) {
	case map[string]any:
		if s.each {
			return len(n) > 0
		}
		for token, below := range s.children {
			if value, there := n[token]; there && below.any(value) {
				return true
			}
		}
	case []any:
		if s.each {
			return len(n) > 0
		}
		for token, below := range s.children {
			if index, err := listIndex(token); err == nil && index < len(n) && below.any(n[index]) {
				return true
			}
		}
	default:
		return s.each && node != nil
	}
	return false
}

// HasSensitive tells whether a tree holds anything sensitive: data of a Secret, or something at one of the pointers.
func HasSensitive(tree map[string]any, sensitive []string) bool {
	return sensitivePaths(tree, sensitive).any(tree)
}
