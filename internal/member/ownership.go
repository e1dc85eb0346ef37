package member

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Owned returns the fields that a manager holds in an object by server-side apply; nil when it has no entry.
func Owned(o metav1.Object, manager string) (*fieldpath.Set, error) {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return Fields(entry)
		}
	}
	return nil, nil
}

// Fields reads which fields an entry of managedFields owns.
func Fields(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, fmt.Errorf("read the fields of manager %s: %w", entry.Manager, err)
	}
	return set, nil
}

// Project keeps of a tree what is in set; lists keep the tree's order. It needs no schema: the set says by its keys which lists
// are merged by key (structured-merge-diff's "associative" lists), all others are whole.
func Project(tree any, set *fieldpath.Set) any {
	switch node := tree.(type) {
	case map[string]any:
		return projectMap(node, set)
	case []any:
		return projectList(node, set)
	}
	return tree
}

func projectMap(node map[string]any, set *fieldpath.Set) map[string]any {
	kept := map[string]any{}
	for key, child := range node {
		if part, ok := project(child, set, fieldpath.FieldNameElement(key)); ok {
			kept[key] = part
		}
	}
	return kept
}

func projectList(node []any, set *fieldpath.Set) []any {
	elements := elementsOf(set)
	kept := []any{}
	for index, child := range node {
		for _, element := range elements {
			if !selects(element, child, index) {
				continue
			}
			if part, ok := project(child, set, element); ok {
				kept = append(kept, part)
				break
			}
		}
	}
	return kept
}

func project(child any, set *fieldpath.Set, element fieldpath.PathElement) (any, bool) {
	if below, ok := set.Children.Get(element); ok {
		return Project(child, below), true
	}
	return child, set.Members.Has(element)
}

func elementsOf(set *fieldpath.Set) []fieldpath.PathElement {
	var elements []fieldpath.PathElement
	add := func(e fieldpath.PathElement) { elements = append(elements, e) }
	set.Children.Iterate(add)
	set.Members.Iterate(add)
	return elements
}

func selects(element fieldpath.PathElement, item any, index int) bool {
	switch {
	case element.Index != nil:
		return *element.Index == index
	case element.Value != nil:
		return value.Equals(*element.Value, value.NewValueInterface(item))
	case element.Key == nil:
		return false
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range *element.Key {
		have, ok := fields[key.Name]
		if !ok || !value.Equals(key.Value, value.NewValueInterface(have)) {
			return false
		}
	}
	return true
}

// Manager is who wrote an object, and when.
type Manager struct {
	Name string
	Time metav1.Time
}

func (m Manager) String() string {
	if m.Time.IsZero() {
		return m.Name
	}
	return m.Name + " at " + m.Time.UTC().Format(time.RFC3339)
}

// LastForeign returns the manager other than ours that wrote the object last (status writers aside); ok is false when there is none.
func LastForeign(o metav1.Object, ours string) (last Manager, ok bool) {
	for _, entry := range foreignEntries(o, ours) {
		at := timeOf(entry)
		if !ok || at.After(last.Time.Time) {
			last, ok = Manager{Name: entry.Manager, Time: at}, true
		}
	}
	return last, ok
}

// Taker returns who holds a field that was ours: of those that we owned (fields) and own no longer. Where nobody holds one, as after a
// removal, it is who wrote the object last.
func Taker(o metav1.Object, ours string, fields *fieldpath.Set) (Manager, bool) {
	lost := fields
	if owned, err := Owned(o, ours); err == nil && owned != nil {
		lost = fields.Difference(owned)
	}
	for _, entry := range foreignEntries(o, ours) {
		if theirs, err := Fields(entry); err == nil && !theirs.Intersection(lost).Empty() {
			return Manager{Name: entry.Manager, Time: timeOf(entry)}, true
		}
	}
	return LastForeign(o, ours)
}

func foreignEntries(o metav1.Object, ours string) []metav1.ManagedFieldsEntry {
	var entries []metav1.ManagedFieldsEntry
	for _, entry := range o.GetManagedFields() {
		if entry.Manager != ours && entry.Subresource != "status" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// timeOf is zero where the API server notes none, as for the scale subresource.
func timeOf(entry metav1.ManagedFieldsEntry) metav1.Time {
	if entry.Time == nil {
		return metav1.Time{}
	}
	return *entry.Time
}

// formerlyOurs reports whether an entry of another manager that applies is from before ours was renamed: nobody else applies our mark.
func formerlyOurs(entry metav1.ManagedFieldsEntry, fields *fieldpath.Set) bool {
	return entry.Operation == metav1.ManagedFieldsOperationApply && fields.Has(fieldpath.MakePathOrDie("metadata", "annotations", ResourceAnnotation))
}

// Shared says who else applies some of these fields: field → manager, for those which an apply without them therefore leaves in place.
func Shared(o metav1.Object, ours string, fields *fieldpath.Set) (map[string]string, error) {
	shared := map[string]string{}
	for _, entry := range o.GetManagedFields() {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.Manager == ours {
			continue
		}
		theirs, err := Fields(entry)
		if err != nil {
			return nil, err
		}
		if formerlyOurs(entry, theirs) {
			continue
		}
		theirs.Intersection(fields).Leaves().Iterate(func(path fieldpath.Path) { shared[path.String()] = entry.Manager })
	}
	return shared, nil
}
