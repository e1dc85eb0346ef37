package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
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

// ForeignError says that an object which a join or the registry needs is there already and was not made by this configuration.
type ForeignError struct {
	Cluster string // "host", or the member's name
	Object  member.Object
	Owner   string // whose it is; "" if it has no mark of this provider
}

func (e *ForeignError) Error() string {
	whose := "was not made by this provider"
	if e.Owner != "" {
		whose = fmt.Sprintf("belongs to the configuration %q", e.Owner)
	}
	return fmt.Sprintf("%s on %s %s", e.Object, e.Cluster, whose)
}

// AlreadyJoinedError says that a cluster is registered under another name.
type AlreadyJoinedError struct{ Name, Other string }

func (e *AlreadyJoinedError) Error() string {
	return fmt.Sprintf("the cluster to be joined as %q is the one that is registered as %q", e.Name, e.Other)
}

// DeclaredTwiceError says that this run has joined another cluster under the same name.
type DeclaredTwiceError struct{ Name string }

func (e *DeclaredTwiceError) Error() string {
	return fmt.Sprintf("this run has joined a cluster %q already", e.Name)
}

// RegistrationError says that a cluster was reached by its connection, and cannot be reached by what would be registered for the others.
type RegistrationError struct {
	Attribute string // "api_endpoint", "proxy_url", …; "" if it is not one alone
	Err       error
}

func (e *RegistrationError) Error() string {
	return fmt.Sprintf("the cluster cannot be reached as it would be registered: %v", e.Err)
}

func (e *RegistrationError) Unwrap() error { return e.Err }

// LeftoversError says that a cluster cannot be unjoined because of what is still on it.
type LeftoversError struct {
	Member  string
	ByOwner map[string][]string // owner → its objects, sorted
}

func (e *LeftoversError) Error() string {
	var parts []string
	for _, owner := range slices.Sorted(maps.Keys(e.ByOwner)) {
		parts = append(parts, fmt.Sprintf("of %q: %s", owner, someOf(e.ByOwner[owner])))
	}
	return fmt.Sprintf("member %s still has objects %s", e.Member, strings.Join(parts, "; "))
}

// NoTokenError says that the credential of a member is missing on the host.
type NoTokenError struct{ Secret string }

func (e *NoTokenError) Error() string {
	return fmt.Sprintf("the host cluster has no Secret %q with a token", e.Secret)
}

// namedAtMost is how many objects a message names of a kind of finding.
const namedAtMost = 20

// someOf names the first of many.
func someOf(names []string) string {
	if len(names) <= namedAtMost {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedAtMost], ", "), len(names)-namedAtMost)
}
