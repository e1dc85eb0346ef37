package fleet_test

import (
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestAChangedOwnerIsToldAsSuchAndEveryObjectGetsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	name := kubetest.UniqueName(t, "fed")
	r := w.declare(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	t.Cleanup(func() { w.clusters["a"].Delete(t, "v1", "Namespace", "", name) })
	r.must(t)
	inside := w.declare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: `+name+`}}`)
	inside.must(t)
	former := w.owner
	w.owner = kubetest.UniqueName(t, "owner")

	f := w.run(t)
	o := r.refresh(t, f)["a"]
	if o.FormerOwner != former || len(o.Drift) != 2 {
		t.Errorf("the former owner is %q, drift %v", o.FormerOwner, o.Drift)
	}
	for path := range o.Drift {
		if !fleet.IsOwnerMark(path) {
			t.Errorf("%s has changed", path)
		}
	}
	says(t, f.Guard(t.Context(), r.target(t, f), r.record), "ConfigMap "+name+"/cm (of \""+former+"\", this configuration's former owner")
	r.must(t)
	if o := r.refresh(t, w.run(t))["a"]; o.FormerOwner != "" {
		t.Errorf("after the apply it has the owner %q", o.FormerOwner)
	}
}
