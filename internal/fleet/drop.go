package fleet

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// dropsAny reports whether a manifest lacks a field, or an item of a list, that the former one had. It may say so needlessly, which costs
// a request, and never misses one.
func dropsAny(former, want any) bool {
	switch before := former.(type) {
	case map[string]any:
		after, ok := want.(map[string]any)
		if !ok {
			return len(before) > 0
		}
		for key, value := range before {
			next, kept := after[key]
			if !kept || dropsAny(value, next) {
				return true
			}
		}
	case []any:
		after, ok := want.([]any)
		if !ok {
			return len(before) > 0
		}
		return slices.ContainsFunc(before, func(item any) bool {
			return !slices.ContainsFunc(after, func(next any) bool { return keepsItem(item, next) })
		})
	}
	return false
}

// itemKeys are the fields that tell the items of a list apart.
var itemKeys = []string{"name", "containerPort", "port", "protocol", "mountPath", "devicePath", "ip", "uid", "topologyKey", "whenUnsatisfiable", "key", "type", "host"}

// keepsItem reports whether next is the same item of a list as before, with all its fields.
func keepsItem(before, next any) bool {
	if reflect.DeepEqual(before, next) {
		return true
	}
	a, isMap := before.(map[string]any)
	b, both := next.(map[string]any)
	if !isMap || !both {
		return false
	}
	keyed := false
	for _, key := range itemKeys {
		if !reflect.DeepEqual(a[key], b[key]) {
			return false
		}
		keyed = keyed || a[key] != nil
	}
	return keyed && !dropsAny(a, b)
}

// replaceFields writes a manifest that drops fields, so that these really go, also where somebody has edited them since. The API server
// removes a dropped field only while it is ours; so, where an updater has taken it, it is taken back first.
func (p putter) replaceFields(ctx context.Context, m *member.Member, object member.Object, w Write) (*written, error) {
	before, err := p.formerFields(ctx, m, object, w)
	if err != nil {
		return nil, err
	}
	if dropsReplicas(w) {
		if w.Want, err = p.keepReplicas(ctx, m, object, w); err != nil {
			return nil, err
		}
	}
	write := func(w Write) (*written, error) {
		return p.overwrite(ctx, m, object, w, func() (*fieldpath.Set, error) { return before, nil })
	}
	done, err := p.emptying(w, write)
	var refused *member.RefusedError
	if errors.As(err, &refused) {
		done, err = p.takeBackFirst(ctx, m, object, w, before, write, err)
	}
	if err != nil {
		return nil, err
	}
	after, err := member.Owned(done.live, m.FieldManager())
	if err != nil || after == nil {
		return done, err
	}
	dropped := before.Difference(after).Difference(replicasField)
	if p.dry {
		done.stays, err = member.Shared(done.live, m.FieldManager(), dropped)
		return done, err
	}
	taken, err := m.TakeBack(ctx, object, done.live, dropped)
	if err != nil || !taken {
		return done, err
	}
	return p.emptying(w, func(w Write) (*written, error) {
		return p.apply(ctx, m, object, p.target.marked(w.Want), member.ApplyOptions{Force: true, Require: member.Precondition{UID: w.Copy.UID}})
	})
}

// takeBackFirst is for a manifest that is refused because of what others hold of what is dropped: who has restored the object from a backup
// holds all that we have not changed since, and a schema refuses what is left of a map. So that is taken back before anything is written.
// A dry run cannot; it asks about the manifest as an object of its own.
func (p putter) takeBackFirst(ctx context.Context, m *member.Member, object member.Object, w Write, before *fieldpath.Set,
	write func(Write) (*written, error), refusal error,
) (*written, error) {
	after, err := p.fieldsAlone(ctx, m, object, w)
	if err != nil {
		return nil, refusal
	}
	live, err := m.Get(ctx, object)
	if err != nil || live == nil {
		return nil, refusal
	}
	dropped := before.Difference(after).Difference(replicasField)
	if taken, err := m.Taken(live, dropped); err != nil || !taken {
		return nil, refusal
	}
	if p.dry {
		return &written{live: live, manager: m.FieldManager()}, nil
	}
	if _, err := m.TakeBack(ctx, object, live, dropped); err != nil {
		return nil, err
	}
	return p.emptying(w, write)
}

// aloneName is that of an object that is only ever asked about.
const aloneName = "kubefed-dry-run"

// fieldsAlone are the fields that a manifest makes ours in an object that nobody else has written. The error says that there cannot be one.
func (p putter) fieldsAlone(ctx context.Context, m *member.Member, object member.Object, w Write) (*fieldpath.Set, error) {
	tree := p.target.marked(w.Want)
	(&unstructured.Unstructured{Object: tree}).SetName(aloneName)
	object.Name = aloneName
	answer, err := m.Apply(ctx, object, tree, member.ApplyOptions{DryRun: true, Require: member.Precondition{Create: true}})
	if err != nil {
		return nil, err
	}
	return ownedBy(answer.Live, m.FieldManager())
}

// emptying writes a manifest that may leave a map empty which had something in it. API servers make null of such a map when they take out
// what was in it, and refuse that where a schema wants a map: then it goes first, and comes back empty. A dry run ends with the first half.
func (p putter) emptying(w Write, write func(Write) (*written, error)) (*written, error) {
	done, err := write(w)
	var refused *member.RefusedError
	rest, emptied := withoutEmptied(w.Former, w.Want)
	if !errors.As(err, &refused) || !emptied {
		return done, err
	}
	first := w
	first.Want = rest
	done, firstErr := write(first)
	switch {
	case firstErr != nil:
		return nil, err // what the API server says of the manifest as it is
	case p.dry:
		return done, nil
	}
	return write(w)
}

// withoutEmptied returns a manifest without the maps that are empty and were not in the former one; emptied tells whether there are any.
func withoutEmptied(former, want map[string]any) (rest map[string]any, emptied bool) {
	rest = maps.Clone(want)
	for key, value := range want {
		before, _ := former[key].(map[string]any)
		after, isMap := value.(map[string]any)
		if !isMap || len(before) == 0 {
			continue
		}
		if len(after) == 0 {
			delete(rest, key)
			emptied = true
			continue
		}
		if below, some := withoutEmptied(before, after); some {
			rest[key] = below
			emptied = true
		}
	}
	return rest, emptied
}

// replicasField is /spec/replicas.
var replicasField = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))

func dropsReplicas(w Write) bool {
	_, had, _ := unstructured.NestedFieldNoCopy(w.Former, "spec", "replicas")
	_, has, _ := unstructured.NestedFieldNoCopy(w.Want, "spec", "replicas")
	return had && !has
}

// keepReplicas sees to it that a replica count which is dropped keeps its value instead of falling to the default of one: it is given up
// first, so that nobody owns it and an autoscaler or kubectl is free to. A dry run, which cannot give it up, sends the live value along.
func (p putter) keepReplicas(ctx context.Context, m *member.Member, object member.Object, w Write) (map[string]any, error) {
	live, err := m.Get(ctx, object)
	if err != nil || live == nil || live.GetUID() != w.Copy.UID {
		return w.Want, err
	}
	if !p.dry {
		return w.Want, m.LetGo(ctx, object, live, replicasField)
	}
	replicas, there, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "replicas")
	if !there {
		return w.Want, nil
	}
	want := maps.Clone(w.Want)
	spec, _ := want["spec"].(map[string]any)
	spec = maps.Clone(spec)
	if spec == nil {
		spec = map[string]any{}
	}
	spec["replicas"] = replicas
	want["spec"] = spec
	return want, nil
}
