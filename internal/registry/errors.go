package registry

import (
	"fmt"
	"strings"
)

// UnknownError says that the registry depends on values that are not known until apply. Nothing was dialled.
type UnknownError struct{ Why string }

func (e *UnknownError) Error() string { return "the members are not known yet: " + e.Why }

// UnreadableError says that the host could not be asked for its members. It never means that there are none.
type UnreadableError struct{ Err error }

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("the registry of members cannot be read: %v", e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// DuplicateError says that a name is both in the provider block and on the host.
type DuplicateError struct{ Name string }

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("member %q is in member_clusters of the provider and is registered on the host too", e.Name)
}

// NotMemberError says that no member has this name.
type NotMemberError struct {
	Name  string
	Known []string // sorted
}

func (e *NotMemberError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("%q is not a member; there are no members", e.Name)
	}
	return fmt.Sprintf("%q is not a member; the members are %s", e.Name, strings.Join(e.Known, ", "))
}

// NotJoinedError says that a member is announced and cannot be asked yet: what concerns it is checked at apply.
type NotJoinedError struct{ Name string }

func (e *NotJoinedError) Error() string { return fmt.Sprintf("member %q is not joined yet", e.Name) }

// OrderError says that a cluster was announced after placements had been resolved that it changes.
type OrderError struct {
	Cluster    string
	Placements []string // what was placed too early, sorted
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("cluster %q was planned after the placement of %s, which it changes", e.Cluster, strings.Join(e.Placements, ", "))
}
