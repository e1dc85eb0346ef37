package fleet

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// tellAdoption says in a plan whose object is taken over, and which values that changes. Both sides are compared on the fields that become
// ours, the marks aside.
func (t *Target) tellAdoption(done *written, live *unstructured.Unstructured, manager string) error {
	owned, err := ownedBy(done.live, manager)
	if err != nil {
		return err
	}
	unmarked := done.live.DeepCopy()
	member.RemoveMark(unmarked)
	before := t.projected(live.Object, member.Project(live.Object, owned))
	after := t.projected(unmarked.Object, member.Project(unmarked.Object, owned))
	was, becomes := federation.Drift(after, before, t.Sensitive), federation.Drift(before, after, t.Sensitive)
	changes := make([]string, 0, len(becomes))
	for _, path := range sortedKeys(becomes) {
		changes = append(changes, fmt.Sprintf("%s %s -> %s", path, orNull(was[path]), becomes[path]))
	}
	done.adopts = t.ID.String() + " is there"
	if last, ok := member.LastForeign(live, manager); ok {
		done.adopts += fmt.Sprintf(", last written by %q", last.Name)
	}
	done.adopts += ", and becomes ours; "
	if len(changes) == 0 {
		done.adopts += "no value changes."
		return nil
	}
	done.adopts += "values change: " + strings.Join(changes, ", ") + "."
	return nil
}

// orNull: where a whole map is missing on one side, only the map is told there.
func orNull(value string) string {
	if value == "" {
		return "null"
	}
	return value
}
