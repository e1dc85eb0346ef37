package fleet

import (
	"context"
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// dropsAny reports whether a manifest lacks a field, or an item of a list, that the former one had.
func dropsAny(former, want any) bool {
	switch before := former.(type) {
	case map[string]any:
		after, ok := want.(map[string]any)
		if !ok {
			return want != nil && len(before) > 0
		}
		for key, value := range before {
			next, kept := after[key]
			if !kept || dropsAny(value, next) {
				return true
			}
		}
	case []any:
		after, ok := want.([]any)
		if !ok || len(after) < len(before) {
			return true
		}
		for i := range before {
			if dropsAny(before[i], after[i]) && !slices.ContainsFunc(after, func(item any) bool { return reflect.DeepEqual(item, before[i]) }) {
				return true
			}
		}
	}
	return false
}

// replaceFields writes a manifest that drops fields, so that these really go, also where somebody has edited them since. The API server
// removes a dropped field only while we are its sole owner; so, where a dropped field would stay, we take it back first.
func (p putter) replaceFields(ctx context.Context, m *member.Member, object member.Object, w Write) (*written, error) {
	before, err := p.formerFields(ctx, m, object, w)
	if err != nil {
		return nil, err
	}
	known := func() (*fieldpath.Set, error) { return before, nil }
	done, err := p.overwrite(ctx, m, object, w, known)
	if err != nil {
		return nil, err
	}
	after, err := member.Owned(done.live, m.FieldManager())
	if err != nil || after == nil {
		return done, err
	}
	dropped := before.Difference(after)
	if !member.HasAny(done.live.Object, dropped) {
		return done, nil
	}
	if err := p.takeBack(ctx, m, object, w); err != nil {
		return nil, err
	}
	return p.apply(ctx, m, object, p.target.marked(w.Want), member.ApplyOptions{Force: true, Require: member.Precondition{UID: w.Copy.UID}})
}

// takeBack makes us the sole owner, as against updaters, of fields that the next apply drops.
func (p putter) takeBack(ctx context.Context, m *member.Member, object member.Object, w Write) error {
	back, err := m.Apply(ctx, object, p.target.marked(w.Former), member.ApplyOptions{Force: true, Require: member.Precondition{UID: w.Copy.UID}})
	if err != nil {
		return err
	}
	_, err = m.TakeFromUpdaters(ctx, object, back.Live)
	return err
}
