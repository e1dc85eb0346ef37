package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// treeNode is one place in a JSON tree that a user wrote, read strictly: what has the wrong type or an unknown name is refused at its
// place. Terraform itself checks nothing inside a dynamic value. Absent and null are the same, as they are in an object type with
// optional attributes.
type treeNode struct {
	value any
	path  []string
	// errs is shared by all nodes of a tree, so that everything that is wrong is told at once.
	errs *[]error
}

// rootNode begins reading a tree; steps are put before the paths of findings.
func rootNode(tree any, steps ...string) treeNode {
	return treeNode{value: tree, path: steps, errs: new([]error)}
}

// err is everything that was refused so far; nil if nothing was.
func (n treeNode) err() error { return errors.Join(*n.errs...) }

func (n treeNode) refuse(format string, args ...any) {
	*n.errs = append(*n.errs, &federation.InputError{Path: n.path, Summary: n.summary(), Detail: fmt.Sprintf(format, args...)})
}

// summary titles a finding after the attribute that the tree is of.
func (n treeNode) summary() string {
	if n.path[0] == "overrides" {
		return "Invalid override"
	}
	return "Invalid " + n.path[0]
}

// note keeps the error of a deeper check, moved to this place.
func (n treeNode) note(err error) {
	if err != nil {
		*n.errs = append(*n.errs, federation.Below(err, n.path...))
	}
}

func (n treeNode) absent() bool { return n.value == nil }

func (n treeNode) below(step string, value any) treeNode {
	return treeNode{value: value, path: append(slices.Clone(n.path), step), errs: n.errs}
}

// attribute returns what an object has under a name; absent if it is no object or has nothing there.
func (n treeNode) attribute(name string) treeNode {
	fields, _ := n.value.(map[string]any)
	return n.below(name, fields[name])
}

// object refuses the node unless it is an object with no other attributes than those named.
func (n treeNode) object(names ...string) {
	fields, ok := n.value.(map[string]any)
	if !ok {
		n.refuse("This must be an object with %s, but is %s.", strings.Join(names, ", "), typeName(n.value))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			n.below(name, nil).refuse("There is no attribute %q; there are %s.", name, strings.Join(names, ", "))
		}
	}
}

// text reads text that must be there.
func (n treeNode) text() string {
	if n.absent() {
		n.refuse("This is missing; text is needed.")
		return ""
	}
	if text := n.optionalText(); text != nil {
		return *text
	}
	return ""
}

// optionalText reads text, nil when absent. Numbers and booleans become text as Terraform makes text of them, because that is what
// happens to them in an attribute of type string.
func (n treeNode) optionalText() *string {
	var text string
	switch value := n.value.(type) {
	case nil:
		return nil
	case string:
		text = value
	case bool:
		text = strconv.FormatBool(value)
	case int64:
		text = strconv.FormatInt(value, 10)
	case float64:
		text = strconv.FormatFloat(value, 'f', -1, 64)
	default:
		n.refuse("This must be text, but is %s.", typeName(n.value))
		return nil
	}
	return &text
}

// texts reads a list of text, nil when absent.
func (n treeNode) texts() []string { return eachElement(n, treeNode.item) }

// item reads text that is an element of a list or map: one that is null is refused by its place, as the whole cannot show it.
func (n treeNode) item() string {
	if n.absent() {
		n.refuse("%s", nullWords(attributePath(n.path)))
		return ""
	}
	return n.text()
}

// textMap reads a map of text, nil when absent. Entries that are null are refused: to remove a key takes a patch.
func (n treeNode) textMap() map[string]string {
	if n.absent() {
		return nil
	}
	fields, ok := n.value.(map[string]any)
	if !ok {
		n.refuse("This must be a map of text, but is %s.", typeName(n.value))
		return nil
	}
	out := make(map[string]string, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		out[key] = n.attribute(key).item()
	}
	return out
}

// eachElement reads every element of a list, nil when the list is absent.
func eachElement[T any](n treeNode, read func(treeNode) T) []T {
	if n.absent() {
		return nil
	}
	elements, ok := n.value.([]any)
	if !ok {
		n.refuse("This must be a list, but is %s.", typeName(n.value))
		return nil
	}
	out := make([]T, len(elements))
	for i, element := range elements {
		out[i] = read(n.below(strconv.Itoa(i), element))
	}
	return out
}

// typeName names the type of a value as Terraform's users know it.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "a bool"
	default:
		return "a number"
	}
}
