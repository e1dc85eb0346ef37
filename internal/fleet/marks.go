package fleet

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// checkMark says whose an object is that a state holds a copy of, by the mark it carries now: another configuration's, or another resource's
// of this one, has taken it over. An imported object may carry no mark, or the one that it had when it was imported, whosever that is.
func (t *Target) checkMark(m *member.Member, object member.Object, live metav1.Object, c *Copy) error {
	mark, marked := member.MarkOf(live)
	switch {
	case !marked, mark.Resource == t.Mark.Resource, c.Foreign && mark.Resource == c.From:
		return nil
	case mark.Owner != t.Mark.Owner:
		return &ForeignError{Member: m.Name(), Object: object, Owner: mark.Owner}
	}
	return &DeclaredTwiceError{Member: m.Name(), Object: object}
}

// errNotMarked: the object no longer carries the mark without which nothing is deleted.
var errNotMarked = errors.New("the object does not carry this resource's mark")

// isCopy reports whether an object that is to be removed is the one that a state holds a copy of, and not another one of its name.
func (t *Target) isCopy(live *unstructured.Unstructured, c *Copy) bool {
	mark, _ := member.MarkOf(live)
	return live.GetUID() == c.UID || c.UID == "" && mark == t.Mark
}

// mayRemove says why an object that a state holds a copy of is not to be deleted or released. It is stricter than checkMark: half a mark
// counts, and what we wrote has to carry ours.
func (t *Target) mayRemove(m *member.Member, object member.Object, live metav1.Object, c *Copy) error {
	mark, _ := member.MarkOf(live)
	switch {
	case optsOut(live):
		return &ForeignError{Member: m.Name(), Object: object, OptOut: true}
	case mark.Resource == t.Mark.Resource:
		return nil
	case mark.Owner != "" && mark.Owner != t.Mark.Owner:
		return &ForeignError{Member: m.Name(), Object: object, Owner: mark.Owner}
	case c.Foreign && mark.Resource == c.From && !c.Recovered:
		return nil
	case t.Deletion.Orphan && mark.Resource == "": // a release that was cut off, perhaps
		return nil
	}
	return errNotMarked
}

// inspectImported compares a copy that was imported and never written with what the state says. Nothing in managedFields is ours yet, so
// the two are compared by path.
func (t *Target) inspectImported(c *Copy, live *unstructured.Unstructured, want map[string]any, o *Observation) {
	o.Drift = t.unlike(live, want)
	c.Drift = len(o.Drift) > 0
	if last, ok := member.LastForeign(live, ""); ok && c.Drift {
		o.Changed = last.String()
	}
}

// unlike says where an object holds something else than a manifest, where the manifest says something.
func (t *Target) unlike(live *unstructured.Unstructured, manifest map[string]any) map[string]string {
	return federation.Drift(shaped(manifest, manifest), shaped(live.Object, manifest), t.Sensitive)
}
