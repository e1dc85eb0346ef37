package federation

import (
	"errors"
	"fmt"
	"slices"
)

// JSONPatch applies operations to a tree as RFC 6902 says and returns the result; the tree stays as it is. Stricter than some libraries:
// list indexes are plain decimals, every path starts with a slash, and the whole document cannot be replaced. Warnings tell of an add
// that replaces an existing list or map. An operation that fails gives an OperationError that names the first missing segment.
func JSONPatch(tree any, operations []Operation) (any, []string, error) {
	copied, err := copyTree(tree)
	if err != nil {
		return nil, nil, err
	}
	return patchInPlace(copied, operations)
}

// patchInPlace is JSONPatch on a tree that may be changed.
func patchInPlace(tree any, operations []Operation) (any, []string, error) {
	p := patching{tree: tree, copies: maxCopied}
	var warnings []string
	for i, operation := range operations {
		warning, err := p.apply(operation)
		if err != nil {
			failed := &OperationError{Number: i + 1, Of: len(operations), Operation: operation, Reason: err.Error()}
			var missing *missingPathError
			if errors.As(err, &missing) {
				failed.Hint = missing.hintFor(operation)
			}
			return nil, nil, failed
		}
		if warning != "" {
			warnings = append(warnings, fmt.Sprintf("operation %d (%s): %s", i+1, operation, warning))
		}
	}
	return p.tree, warnings, nil
}

// maxCopied bounds how many values the copy operations of a patch may copy in all: copying a map into itself doubles it every time.
const maxCopied = 100_000

// patching is a patch at work on a tree, which it changes.
type patching struct {
	tree   any
	copies int
}

// apply runs one operation and gives its warning, if any.
func (p *patching) apply(o Operation) (warning string, err error) {
	if problem := o.check(); problem != "" {
		return "", errors.New(problem)
	}
	path, err := parsePointer(o.Path)
	if err != nil {
		return "", err
	}
	switch o.Op {
	case "add":
		p.tree, warning, err = add(p.tree, path, o.Value)
	case "remove":
		p.tree, _, err = remove(p.tree, path)
	case "replace":
		p.tree, err = replace(p.tree, path, o.Value)
	case "test":
		err = test(p.tree, path, o.Value)
	case "move":
		warning, err = p.move(o.From, path)
	case "copy":
		warning, err = p.copy(o.From, path)
	}
	return warning, err
}

func (p *patching) move(from string, path []string) (warning string, err error) {
	source, err := parsePointer(from)
	if err != nil {
		return "", err
	}
	if slices.Equal(source, path) {
		_, err := find(p.tree, source)
		return "", err
	}
	tree, value, err := remove(p.tree, source)
	if err != nil {
		return "", err
	}
	p.tree, warning, err = add(tree, path, value)
	return warning, err
}

func (p *patching) copy(from string, path []string) (warning string, err error) {
	source, err := parsePointer(from)
	if err != nil {
		return "", err
	}
	value, err := find(p.tree, source)
	if err != nil {
		return "", err
	}
	if p.copies -= countValues(value); p.copies < 0 {
		return "", fmt.Errorf("the copy operations of the patch copy more than %d values", maxCopied)
	}
	p.tree, warning, err = add(p.tree, path, value)
	return warning, err
}

// countValues counts the values in a tree.
func countValues(node any) int {
	total := 1
	switch n := node.(type) {
	case map[string]any:
		for _, value := range n {
			total += countValues(value)
		}
	case []any:
		for _, value := range n {
			total += countValues(value)
		}
	}
	return total
}

func add(tree any, path []string, value any) (any, string, error) {
	value, err := copyTree(value)
	if err != nil {
		return nil, "", err
	}
	warning := ""
	tree, err = edit(tree, path, 0, func(parent any, last string) (any, error) {
		switch p := parent.(type) {
		case map[string]any:
			warning = replacedWarning(p[last], path)
			p[last] = value
			return p, nil
		case []any:
			index, err := insertIndex(last, len(p))
			if err != nil {
				return nil, err
			}
			return slices.Insert(p, index, value), nil
		}
		return nil, missing(parent, path, len(path)-1)
	})
	return tree, warning, err
}

// insertIndex reads where to insert into a list: an index up to its length, or "-" for its end.
func insertIndex(token string, length int) (int, error) {
	if token == "-" {
		return length, nil
	}
	index, err := listIndex(token)
	if err == nil && index > length {
		err = fmt.Errorf("index %d is beyond the end of the list, which has %s; /- appends", index, count(length, "element"))
	}
	return index, err
}

// replacedWarning tells of an add that does not add to what is there but takes its place.
func replacedWarning(old any, path []string) string {
	switch o := old.(type) {
	case []any:
		if len(o) > 0 {
			return fmt.Sprintf("replaces %s, use /- to append: %s", count(len(o), "existing element"), pointerOf(append(path, "-")...))
		}
	case map[string]any:
		if len(o) > 0 {
			return fmt.Sprintf("replaces %s; to add one, name its key in the path or use merge_patch", count(len(o), "existing element"))
		}
	}
	return ""
}

func remove(tree any, path []string) (out any, removed any, err error) {
	out, err = edit(tree, path, 0, func(parent any, last string) (any, error) {
		switch p := parent.(type) {
		case map[string]any:
			value, there := p[last]
			if !there {
				return nil, missing(parent, path, len(path)-1)
			}
			removed = value
			delete(p, last)
			return p, nil
		case []any:
			index, err := existingIndex(last, len(p))
			if err != nil {
				return nil, err
			}
			removed = p[index]
			return slices.Delete(p, index, index+1), nil
		}
		return nil, missing(parent, path, len(path)-1)
	})
	return out, removed, err
}

func replace(tree any, path []string, value any) (any, error) {
	value, err := copyTree(value)
	if err != nil {
		return nil, err
	}
	return edit(tree, path, 0, func(parent any, last string) (any, error) {
		switch p := parent.(type) {
		case map[string]any:
			if _, there := p[last]; !there {
				return nil, missing(parent, path, len(path)-1)
			}
			p[last] = value
			return p, nil
		case []any:
			index, err := existingIndex(last, len(p))
			if err != nil {
				return nil, err
			}
			p[index] = value
			return p, nil
		}
		return nil, missing(parent, path, len(path)-1)
	})
}

// test compares; what is there is not said, as it may be secret.
func test(tree any, path []string, want any) error {
	have, err := find(tree, path)
	if err != nil {
		return err
	}
	if !equalValues(have, want) {
		return fmt.Errorf("the value at %s is not the one that the test asks for", pointerOf(path...))
	}
	return nil
}
