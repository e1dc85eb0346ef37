package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Recover makes the record of a resource anew whose private state is lost: Terraform keeps the former state, and nothing beside it, when a
// provider is killed in the middle of an update. The marks on the members say which objects are its own; what was written to them is not
// known, so the next apply writes them all. A record without copies means that no member holds the object. While a member does not answer,
// its copy may be there.
func (f *Fleet) Recover(ctx context.Context, t *Target, state Spec, names []string) (*Record, error) {
	record, err := NewRecord()
	if err != nil {
		return nil, err
	}
	resolution, err := f.Resolve(ctx, state, nil, names)
	if err != nil {
		return nil, err
	}
	var silent []string
	found := false
	for i, s := range each(ctx, f, names, func(ctx context.Context, name string) sighting { return f.sight(ctx, t, name) }) {
		c := &Copy{Used: resolution.Desired[names[i]].Used}
		if s.err != nil {
			silent = append(silent, names[i])
			record.Copies[names[i]] = c
			continue
		}
		if s.live == nil {
			continue
		}
		if mark, ok := member.MarkOf(s.live); ok && mark.Owner == t.Mark.Owner {
			record.Resource, found, c.UID = mark.Resource, true, s.live.GetUID()
			record.Copies[names[i]] = c
		}
	}
	if !found && len(silent) > 0 {
		return nil, fmt.Errorf("its objects can only be found again by their marks, and these members do not answer: %s", strings.Join(silent, ", "))
	}
	return record, nil
}
