package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// entryEdit returns what an entry of managedFields shall own from now on; an empty set removes the entry.
type entryEdit func(metav1.ManagedFieldsEntry, *fieldpath.Set) *fieldpath.Set

// TakeFromUpdaters makes our manager the sole owner of its fields as against managers that wrote by Update (kubectl create or edit,
// controllers), so that a field dropped from the manifest later really goes. Items of keyed lists that are ours become ours whole. No
// value changes, and what the others own besides stays theirs.
func (m *Member) TakeFromUpdaters(ctx context.Context, o Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ours, err := Owned(live, m.options.FieldManager)
	if err != nil || ours == nil {
		return live, err
	}
	return m.editManagers(ctx, o, live, m.takeAway(ours))
}

// takeAway takes fields from updaters, and from what we applied under a former name.
func (m *Member) takeAway(ours *fieldpath.Set) entryEdit {
	return func(entry metav1.ManagedFieldsEntry, fields *fieldpath.Set) *fieldpath.Set {
		updater := entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource != "status"
		if m.isOurs(entry) || (!updater && !formerlyOurs(entry, fields)) {
			return fields
		}
		return withoutHollows(fields, fields.Difference(ours).RecursiveDifference(items(ours)))
	}
}

// withoutHollows takes from after, which is what is left of before, the maps and lists of which nothing is left but themselves. Whoever
// wrote a map by Update owns it besides what is in it, and API servers make null of it when that has gone, which schemas refuse.
func withoutHollows(before, after *fieldpath.Set) *fieldpath.Set {
	kept := &fieldpath.Set{}
	after.Children.Iterate(func(e fieldpath.PathElement) {
		was, _ := before.Children.Get(e)
		left, _ := after.Children.Get(e)
		if left = withoutHollows(was, left); !left.Empty() {
			*kept.Children.Descend(e) = *left
		}
	})
	after.Members.Iterate(func(e fieldpath.PathElement) {
		_, had := before.Children.Get(e)
		if _, has := kept.Children.Get(e); has || !had {
			kept.Members.Insert(e)
		}
	})
	return kept
}

// items are those of a set that are items of lists. They are ours whole; an empty map that is ours is not: what others put into it is theirs.
func items(set *fieldpath.Set) *fieldpath.Set {
	found := fieldpath.NewSet()
	set.Iterate(func(path fieldpath.Path) {
		if path[len(path)-1].FieldName == nil {
			found.Insert(path.Copy())
		}
	})
	return found
}

// TakeBack makes fields ours again that updaters have taken, whatever values they gave them, so that the next apply without these fields
// removes them. So does what was applied under a former name of our manager. No value changes. taken is false when nobody of these has any
// of them, and nothing was sent.
func (m *Member) TakeBack(ctx context.Context, o Object, live *unstructured.Unstructured, fields *fieldpath.Set) (taken bool, err error) {
	if taken, err = m.Taken(live, fields); err != nil || !taken {
		return false, err
	}
	_, err = m.editManagers(ctx, o, live, func(entry metav1.ManagedFieldsEntry, owned *fieldpath.Set) *fieldpath.Set {
		if m.isOurs(entry) {
			return owned.Union(fields)
		}
		return m.takeAway(fields)(entry, owned)
	})
	return true, err
}

// Taken reports whether TakeBack has anything to take.
func (m *Member) Taken(live *unstructured.Unstructured, fields *fieldpath.Set) (bool, error) {
	for _, entry := range live.GetManagedFields() {
		theirs, err := Fields(entry)
		if err != nil {
			return false, err
		}
		if !m.takeAway(fields)(entry, theirs).Equals(theirs) {
			return true, nil
		}
	}
	return false, nil
}

// LetGo gives fields up without touching their values: the next apply without them leaves them as they are.
func (m *Member) LetGo(ctx context.Context, o Object, live *unstructured.Unstructured, fields *fieldpath.Set) error {
	_, err := m.editManagers(ctx, o, live, func(entry metav1.ManagedFieldsEntry, owned *fieldpath.Set) *fieldpath.Set {
		if m.isOurs(entry) {
			return owned.Difference(fields)
		}
		return owned
	})
	return err
}

// isOurs recognises the entry of what we apply.
func (m *Member) isOurs(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == m.options.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
}

// editManagers rewrites entries of managedFields and nothing else.
func (m *Member) editManagers(ctx context.Context, o Object, live *unstructured.Unstructured, edit entryEdit) (*unstructured.Unstructured, error) {
	fresh := live
	err := m.whileStale(ctx, "edit the managers of", o, func() error {
		if fresh == nil {
			var err error
			if fresh, err = m.Get(ctx, o); err != nil || fresh == nil {
				return err
			}
		}
		patch, err := managersPatch(fresh, edit)
		if err != nil || patch == nil {
			return err
		}
		fresh, err = m.patch(ctx, o, types.JSONPatchType, patch)
		return err
	})
	return fresh, err
}

var errStale = errors.New("the object was written in between")

// whileStale repeats an edit, which reads the object anew, while somebody else writes the object in between: controllers do so many times a
// second as long as they have work with it.
func (m *Member) whileStale(ctx context.Context, verb string, o Object, edit func() error) error {
	deadline := time.Now().Add(retryFor)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := edit()
		if !errors.Is(err, errStale) {
			return err
		}
		if time.Now().Add(pause).After(deadline) {
			return fmt.Errorf("%s %s on member %s: %w, again and again", verb, o, m.name, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s %s on member %s: %w", verb, o, m.name, errors.Join(err, ctx.Err()))
		}
	}
}

func (m *Member) patch(ctx context.Context, o Object, kind types.PatchType, body any) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a patch of %s for member %s: %w", o, m.name, err)
	}
	answer := retry(ctx, func() rest.Result {
		return m.rest.Patch(kind).AbsPath(o.path()...).Param("fieldManager", m.options.FieldManager).Body(data).MaxRetries(0).Do(ctx)
	})
	live, err := decode(answer)
	switch {
	case err == nil:
		return live, nil
	case apierrors.IsConflict(err), isFailedTest(err):
		return nil, errStale
	}
	return nil, m.failure("patch", o, err)
}

// isFailedTest recognises the failed test operation of a JSON patch: 422 without any cause.
func isFailedTest(err error) bool {
	status := statusOf(err)
	return apierrors.IsInvalid(err) && (status.Details == nil || len(status.Details.Causes) == 0)
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// managersPatch is nil when there is nothing to edit. Entries are handled from the last to the first: a removal moves those behind it.
func managersPatch(live *unstructured.Unstructured, edit entryEdit) ([]operation, error) {
	entries := live.GetManagedFields()
	var patch []operation
	for i := len(entries) - 1; i >= 0; i-- {
		before, err := Fields(entries[i])
		if err != nil {
			return nil, err
		}
		after := edit(entries[i], before)
		if after.Equals(before) {
			continue
		}
		at := fmt.Sprintf("/metadata/managedFields/%d", i)
		patch = append(patch, operation{"test", at + "/manager", entries[i].Manager}, operation{"test", at + "/operation", entries[i].Operation})
		if after.Empty() {
			patch = append(patch, operation{Op: "remove", Path: at})
			continue
		}
		fields, err := after.ToJSON()
		if err != nil {
			return nil, fmt.Errorf("encode the fields of manager %s: %w", entries[i].Manager, err)
		}
		patch = append(patch, operation{"replace", at + "/fieldsV1", json.RawMessage(fields)})
	}
	if patch == nil {
		return nil, nil
	}
	return append(patch, operation{"replace", "/metadata/resourceVersion", live.GetResourceVersion()}), nil
}

// Release hands an object over: our mark and our entry in managedFields go, nothing else changes. An object that is gone, or is another
// one by now, counts as released.
func (m *Member) Release(ctx context.Context, o Object, uid types.UID) error {
	return m.whileStale(ctx, "release", o, func() error {
		live, err := m.Get(ctx, o)
		if err != nil || live == nil || live.GetUID() != uid {
			return err
		}
		return m.release(ctx, o, live)
	})
}

func (m *Member) release(ctx context.Context, o Object, live *unstructured.Unstructured) error {
	others, err := m.othersEntries(live)
	if err != nil {
		return err
	}
	changes := map[string]any{
		"labels":      map[string]any{OwnerLabel: nil},
		"annotations": map[string]any{OwnerAnnotation: nil, ResourceAnnotation: nil},
	}
	if len(others) > 0 {
		changes["managedFields"] = others
	}
	released, err := m.patch(ctx, o, types.MergePatchType, onThis(live, changes))
	if err != nil || (len(others) > 0 && len(released.GetManagedFields()) > 0) {
		return err
	}
	// Only now: the entry would lose what it owns when the last annotation goes.
	stub := []metav1.ManagedFieldsEntry{stubEntry(released, m.options.FieldManager)}
	_, err = m.patch(ctx, o, types.MergePatchType, onThis(released, map[string]any{"managedFields": stub}))
	return err
}

// othersEntries leaves out our entries, those under a former name of ours too.
func (m *Member) othersEntries(live *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
	var others []metav1.ManagedFieldsEntry
	for _, entry := range live.GetManagedFields() {
		fields, err := Fields(entry)
		if err != nil {
			return nil, err
		}
		if ours := entry.Manager == m.options.FieldManager || formerlyOurs(entry, fields); !ours || entry.Subresource != "" {
			others = append(others, entry)
		}
	}
	return others, nil
}

// onThis makes a merge patch of metadata that is carried out on this very version of an object or not at all.
func onThis(live *unstructured.Unstructured, changes map[string]any) map[string]any {
	changes["uid"], changes["resourceVersion"] = live.GetUID(), live.GetResourceVersion()
	return map[string]any{"metadata": changes}
}

// stubEntry keeps managedFields from becoming empty: the API server would then give all fields to "before-first-apply", and the next
// tool to apply the object would conflict with that.
func stubEntry(live *unstructured.Unstructured, manager string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: live.GetAPIVersion(),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{}}}`),
	}
}

// PutBack writes an object as it was before we took it over, its managers included. applied is what our own write made of it: when
// somebody else has written the object since, or it is gone, it is left as it is.
func (m *Member) PutBack(ctx context.Context, o Object, original, applied *unstructured.Unstructured) error {
	current := applied
	return m.whileStale(ctx, "put back", o, func() error {
		if current == nil {
			var err error
			current, err = m.Get(ctx, o)
			if err != nil || current == nil || current.GetUID() != original.GetUID() || !sameWriters(current, applied) {
				return err
			}
		}
		body := original.DeepCopy()
		body.SetResourceVersion(current.GetResourceVersion())
		current = nil
		put, err := m.replace(ctx, o, body)
		if err != nil {
			return err
		}
		return m.putBackManagers(ctx, o, original, put)
	})
}

// putBackManagers restores the managers of an object whose values have been put back: the API server has given the fields that changed to
// the one who put them.
func (m *Member) putBackManagers(ctx context.Context, o Object, original, put *unstructured.Unstructured) error {
	if put == nil || slices.EqualFunc(ownEntries(put), ownEntries(original), sameEntry) {
		return nil
	}
	_, err := m.patch(ctx, o, types.MergePatchType, onThis(put, map[string]any{"managedFields": original.GetManagedFields()}))
	if errors.Is(err, errStale) {
		return nil // somebody has written the object: it is as it was, and theirs
	}
	return err
}

// replace puts a whole object in the place of the version it names; nil without an error says that it is gone.
func (m *Member) replace(ctx context.Context, o Object, body *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	manager := m.options.FieldManager
	if last, ok := LastForeign(body, manager); ok {
		manager = last.Name
	}
	data, err := body.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode %s for member %s: %w", o, m.name, err)
	}
	answer := retry(ctx, func() rest.Result {
		return m.rest.Put().AbsPath(o.path()...).Param("fieldManager", manager).Body(data).MaxRetries(0).Do(ctx)
	})
	put, err := decode(answer)
	switch {
	case err == nil:
		return put, nil
	case isAbsent(err, o):
		return nil, nil
	case apierrors.IsConflict(err):
		return nil, errStale
	}
	return nil, m.failure("put back", o, err)
}

// sameWriters reports whether nobody but writers of the status has touched an object between two answers.
func sameWriters(a, b metav1.Object) bool {
	return slices.EqualFunc(ownEntries(a), ownEntries(b), func(x, y metav1.ManagedFieldsEntry) bool {
		return sameEntry(x, y) && x.Time.Equal(y.Time)
	})
}

// sameEntry leaves the times aside: an API server takes back a change of these alone.
func sameEntry(x, y metav1.ManagedFieldsEntry) bool {
	return x.Manager == y.Manager && x.Operation == y.Operation && x.FieldsV1.Equal(*y.FieldsV1)
}

func ownEntries(o metav1.Object) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(slices.Clone(o.GetManagedFields()), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" || e.FieldsV1 == nil })
}
