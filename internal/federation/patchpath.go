package federation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// find returns what is at a path.
func find(tree any, path []string) (any, error) {
	var found any
	_, err := edit(tree, path, 0, func(parent any, last string) (any, error) {
		var err error
		found, err = child(parent, path, len(path)-1)
		return parent, err
	})
	return found, err
}

// edit walks to the parent of the last token of path, lets change replace it, and puts the result back on the way up.
func edit(node any, path []string, depth int, change func(parent any, last string) (any, error)) (any, error) {
	if depth == len(path)-1 {
		return change(node, path[depth])
	}
	next, err := child(node, path, depth)
	if err != nil {
		return nil, err
	}
	changed, err := edit(next, path, depth+1, change)
	if err != nil {
		return nil, err
	}
	switch n := node.(type) {
	case map[string]any:
		n[path[depth]] = changed
	case []any:
		index, _ := listIndex(path[depth])
		n[index] = changed
	}
	return node, nil
}

// child returns what a node holds under path[depth].
func child(node any, path []string, depth int) (any, error) {
	switch n := node.(type) {
	case map[string]any:
		if value, there := n[path[depth]]; there {
			return value, nil
		}
	case []any:
		index, err := existingIndex(path[depth], len(n))
		if err != nil {
			return nil, err
		}
		return n[index], nil
	}
	return nil, missing(node, path, depth)
}

func existingIndex(token string, length int) (int, error) {
	if token == "-" {
		return 0, errors.New("/- is the place behind the last element of a list; only add can use it")
	}
	index, err := listIndex(token)
	if err == nil && index >= length {
		err = fmt.Errorf("index %d is not in the list, which has %s", index, count(length, "element"))
	}
	return index, err
}

// missingPathError says that a path leads nowhere.
type missingPathError struct {
	problem, hint string
	// parent is the pointer to what should have been there; last says that it is the path's end that is missing.
	parent string
	last   bool
}

// hintFor says what to do, in view of the operation that failed.
func (e *missingPathError) hintFor(o Operation) string {
	switch {
	case e.hint != "" || e.parent == "":
		return e.hint
	case o.Op == "replace" && e.last:
		return `To set what is not there yet, use op "add".`
	case o.Op == "add" && !e.last:
		return fmt.Sprintf("add makes no maps on the way: add %s first, or use merge_patch, which does.", e.parent)
	}
	return ""
}

func (e *missingPathError) Error() string { return e.problem }

// missing makes the error for a path whose token at depth is not in node.
func missing(node any, path []string, depth int) error {
	parent := pointerOf(path[:depth]...)
	if parent == "" {
		parent = "the object"
	}
	fields, isMap := node.(map[string]any)
	if !isMap {
		return &missingPathError{problem: fmt.Sprintf("%s is %s and has no %q", parent, kindOfValue(node), path[depth])}
	}
	return &missingPathError{
		problem: fmt.Sprintf("%s does not exist: %s has no key %q", pointerOf(path[:depth+1]...), parent, path[depth]),
		hint:    missingHint(fields, path, depth),
		parent:  pointerOf(path[:depth+1]...),
		last:    depth == len(path)-1,
	}
}

// missingHint finds out the usual mistakes: a slash in a key that should be ~1, stringData of a Secret.
func missingHint(node map[string]any, path []string, depth int) string {
	for end := depth + 2; end <= len(path); end++ {
		key := strings.Join(path[depth:end], "/")
		if _, there := node[key]; there {
			right := append(append(slices.Clone(path[:depth]), key), path[end:]...)
			return fmt.Sprintf("A slash in a key is written ~1: did you mean %s?", pointerOf(right...))
		}
	}
	if depth > 0 && depth+1 < len(path) && (path[depth-1] == "labels" || path[depth-1] == "annotations") {
		right := append(slices.Clone(path[:depth]), strings.Join(path[depth:], "/"))
		return fmt.Sprintf("A slash in a key is written ~1: did you mean %s?", pointerOf(right...))
	}
	if path[0] == "stringData" && node["kind"] == "Secret" {
		return "stringData of a Secret is turned into data before overrides run: patch /data with base64, or use merge_patch with stringData."
	}
	return ""
}

// count gives a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
