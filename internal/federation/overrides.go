package federation

import (
	"errors"
	"fmt"
	"strconv"
)

// Override is one entry of overrides: what the members of a selection get otherwise than the template says. What is set in it is
// applied in the order of the fields here.
type Override struct {
	Selection
	// JSONPatch is RFC 6902.
	JSONPatch []Operation
	// MergePatch is RFC 7386; nil means absent.
	MergePatch          any
	Images              []ImageOverride
	Labels, Annotations map[string]string
	Env                 []EnvOverride
	Args                []ArgsOverride
	Embedded            []EmbeddedOverride
}

// Validate checks what can be checked without an object: the selection, paths, image parts, formats; and that the entry changes
// something. entry is its index in overrides, where the paths of InputErrors begin.
func (o Override) Validate(entry int) error {
	return o.below(entry, errors.Join(o.Selection.Validate(), o.checkContent(), validateOperations(o.JSONPatch, "json_patch"),
		validateMergePatch(o.MergePatch, "merge_patch"),
		validateImages(o.Images), validateMarks(o.Labels, "labels"), validateMarks(o.Annotations, "annotations"),
		validateEnv(o.Env), validateArgs(o.Args), validateEmbedded(o.Embedded)))
}

func (o Override) below(entry int, err error) error {
	return Below(err, "overrides", strconv.Itoa(entry))
}

// checkContent refuses an entry that changes nothing: a misspelt attribute would be dropped without a word.
func (o Override) checkContent() error {
	if o.JSONPatch != nil || o.MergePatch != nil || o.Images != nil || o.Labels != nil ||
		o.Annotations != nil || o.Env != nil || o.Args != nil || o.Embedded != nil {
		return nil
	}
	return &InputError{Summary: "Empty override", Detail: "The entry changes nothing: set at least one of json_patch, merge_patch, " +
		"images, labels, annotations, env, args and embedded."}
}

// Apply applies one entry, whatever its selection, to a tree and returns the result; the tree stays as it is. entry is the index of
// the entry in overrides, for errors. Warnings say what is legal and perhaps not meant. The identity of the object must not change.
func Apply(tree map[string]any, o Override, entry int) (out map[string]any, warnings []string, err error) {
	copied, err := copyTree(tree)
	if err != nil {
		return nil, nil, err
	}
	out, _ = copied.(map[string]any)
	return applyInPlace(out, o, entry)
}

// applyInPlace is Apply on a tree that may be changed.
func applyInPlace(tree map[string]any, o Override, entry int) (map[string]any, []string, error) {
	_, before, err := Identify(tree)
	if err != nil {
		return nil, nil, err
	}
	out, warnings, err := o.change(tree)
	if err == nil {
		err = sameIdentity(before, out)
	}
	if err != nil {
		return nil, nil, o.below(entry, err)
	}
	for i, warning := range warnings {
		warnings[i] = fmt.Sprintf("overrides[%d]: %s", entry, warning)
	}
	return out, warnings, nil
}

// change runs the parts of an entry in their order. It may change the tree.
func (o Override) change(tree map[string]any) (map[string]any, []string, error) {
	patched, warnings, err := patchInPlace(tree, o.JSONPatch)
	if err != nil {
		return nil, nil, operationFinding(err, "json_patch")
	}
	if o.MergePatch != nil {
		patched = MergePatch(patched, o.MergePatch)
	}
	tree, ok := patched.(map[string]any)
	if !ok {
		return nil, nil, &InputError{Summary: "Not an object", Detail: "The patches leave no object."}
	}
	if err := setMetadata(tree, o); err != nil {
		return nil, nil, err
	}
	more, err := changeContainers(tree, o)
	if err != nil {
		return nil, nil, err
	}
	warnings = append(warnings, more...)
	more, err = applyEmbedded(tree, o.Embedded)
	return tree, append(warnings, more...), err
}

// sameIdentity refuses a change of group, kind, namespace or name: the object of another identity would never be found again.
func sameIdentity(before ID, tree map[string]any) error {
	_, after, err := Identify(tree)
	if err != nil {
		finding := Findings(err)[0]
		return &InputError{Summary: "Override breaks the identity", Detail: "After the override: " + finding.Detail}
	}
	for _, part := range []struct{ field, before, after string }{
		{"group", before.Group, after.Group}, {"kind", before.Kind, after.Kind},
		{"namespace", before.Namespace, after.Namespace}, {"name", before.Name, after.Name},
	} {
		if part.before != part.after {
			return &InputError{Summary: "Override changes the identity", Detail: fmt.Sprintf("The override changes the %s from %q "+
				"to %q. Group, kind, namespace and name are what an object is found by, on every member the same.",
				part.field, part.before, part.after)}
		}
	}
	return nil
}
