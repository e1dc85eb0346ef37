package fleet_test

import (
	"testing"
)

// TestScopesThatAreKnownAreThoseOfARealCluster compares the table, which answers where no member can be asked, with discovery.
func TestScopesThatAreKnownAreThoseOfARealCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := w.run(t)
	m, err := f.Registry().Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := m.Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nobody := *w
	nobody.static = nil
	alone := nobody.run(t)
	compared := 0
	for _, kind := range kinds.Listable() {
		r := w.declare(t, `{apiVersion: `+kind.GVK.GroupVersion().String()+`, kind: `+kind.GVK.Kind+`, metadata: {name: x}}`)
		r.spec.Placement = on()
		resolution, err := alone.Resolve(t.Context(), r.spec, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resolution.Scope == nil {
			continue
		}
		compared++
		if resolution.Scope.Namespaced != kind.Namespaced {
			t.Errorf("%s is taken for namespaced: %v", kind.GVK, resolution.Scope.Namespaced)
		}
	}
	if compared < 30 {
		t.Errorf("only %d kinds could be compared", compared)
	}
}
