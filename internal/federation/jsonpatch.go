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
	var warnings []string
	for i, operation := range operations {
		var warning string
		var err error
		tree, warning, err = operation.apply(tree)
		if err != nil {
			failed := &OperationError{Number: i + 1, Of: len(operations), Operation: operation, Reason: err.Error()}
			var missing *missingPathError
			if errors.As(err, &missing) {
				failed.Hint = missing.hint
			}
			return nil, nil, failed
		}
		if warning != "" {
			warnings = append(warnings, fmt.Sprintf("operation %d (%s): %s", i+1, operation, warning))
		}
	}
	return tree, warnings, nil
}

// apply runs one operation on a tree, which it may change.
func (o Operation) apply(tree any) (out any, warning string, err error) {
	if problem := o.check(); problem != "" {
		return nil, "", errors.New(problem)
	}
	path, _ := parsePointer(o.Path)
	switch o.Op {
	case "add":
		return add(tree, path, o.Value)
	case "remove":
		out, _, err = remove(tree, path)
		return out, "", err
	case "replace":
		out, err = replace(tree, path, o.Value)
		return out, "", err
	case "test":
		return tree, "", test(tree, path, o.Value)
	}
	from, _ := parsePointer(o.From)
	if o.Op == "copy" {
		value, err := find(tree, from)
		if err != nil {
			return nil, "", err
		}
		return add(tree, path, value)
	}
	return move(tree, from, path)
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

func move(tree any, from, path []string) (any, string, error) {
	if slices.Equal(from, path) {
		_, err := find(tree, from)
		return tree, "", err
	}
	tree, value, err := remove(tree, from)
	if err != nil {
		return nil, "", err
	}
	return add(tree, path, value)
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
