package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// RenamedError says that a member is registered no longer, and that its object, the very same, is on a member that the state does not know: the
// cluster has got another name. It is a registry.NotMemberError as well.
type RenamedError struct {
	Member, Now string
	Err         error
}

func (e *RenamedError) Error() string {
	return fmt.Sprintf("member %s has the name %s now", e.Member, e.Now)
}

func (e *RenamedError) Unwrap() error { return e.Err }

// hasLeft reports whether a name is certainly no member's any more.
func (f *Fleet) hasLeft(ctx context.Context, name string) bool {
	_, err := f.config.Registry.Open(ctx, name)
	return isFormer(err)
}

// orRenamed looks for the object of a member that is registered no longer on those that the record does not know.
func (f *Fleet) orRenamed(ctx context.Context, t *Target, record *Record, name string, err error) error {
	var notMember *registry.NotMemberError
	uid := record.Copies[name].UID
	if !errors.As(err, &notMember) || uid == "" {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(notMember.Known), func(other string) bool { return record.Copies[other] != nil })
	holds := each(ctx, f, others, func(ctx context.Context, other string) bool {
		m, err := f.config.Registry.Open(ctx, other)
		if err != nil {
			return false
		}
		object, err := t.object(ctx, m)
		if err != nil {
			return false
		}
		listed, err := f.listed(ctx, m, object)
		return err == nil && listed != nil && listed.UID == uid
	})
	if at := slices.Index(holds, true); at >= 0 {
		return &RenamedError{Member: name, Now: others[at], Err: err}
	}
	return err
}
