package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// Finding is something to tell the user: an error or a warning about one attribute, for one or more members.
type Finding struct {
	Error   bool
	Path    []string // attribute steps from the resource: "placement", "clusters"; none = the resource as a whole
	Summary string
	Members []string // sorted; none = not about a member
	Detail  string   // what is the matter, without the member's name
	Advice  string   // what to do now
}

// Text is the finding's body: members, detail, advice.
func (f Finding) Text() string {
	text := f.Detail
	switch {
	case len(f.Members) == 0:
	case strings.HasPrefix(text, "\n"): // a line for each
		text = f.who() + ":" + text
	default:
		text = f.who() + ": " + text
	}
	if f.Advice != "" {
		text += "\n\n" + f.Advice
	}
	return text
}

func (f Finding) who() string {
	if len(f.Members) == 1 {
		return "Member " + f.Members[0]
	}
	return "Members " + strings.Join(f.Members, ", ")
}

// Merge makes one finding of those of a kind, in order of first appearance: those that say the same about several members, and those that
// differ only in what they say of each member, which becomes a line for each.
func Merge(findings []Finding) []Finding {
	same := gather(findings, func(a, b Finding) bool { return a.alike(b) && a.Detail == b.Detail })
	var merged []Finding
	for _, group := range gather(joinMembers(same), func(a, b Finding) bool { return a.alike(b) && len(a.Members) > 0 && len(b.Members) > 0 }) {
		merged = append(merged, joinDetails(group))
	}
	return merged
}

func (f Finding) alike(other Finding) bool {
	return f.Error == other.Error && f.Summary == other.Summary && f.Advice == other.Advice && slices.Equal(f.Path, other.Path)
}

// gather puts findings into groups, in order of first appearance.
func gather(findings []Finding, together func(a, b Finding) bool) [][]Finding {
	var groups [][]Finding
	for _, f := range findings {
		at := slices.IndexFunc(groups, func(group []Finding) bool { return together(group[0], f) })
		if at < 0 {
			groups = append(groups, []Finding{f})
			continue
		}
		groups[at] = append(groups[at], f)
	}
	return groups
}

// joinMembers makes one finding of each group whose findings say the same.
func joinMembers(groups [][]Finding) []Finding {
	joined := make([]Finding, len(groups))
	for i, group := range groups {
		joined[i] = group[0]
		joined[i].Members = membersOf(group)
	}
	return joined
}

// joinDetails makes one finding of a group whose findings say different things.
func joinDetails(group []Finding) Finding {
	one := group[0]
	if len(group) == 1 {
		return one
	}
	one.Members, one.Detail = membersOf(group), ""
	for _, f := range group {
		one.Detail += "\n  " + strings.Join(f.Members, ", ") + ": " + strings.ReplaceAll(f.Detail, "\n", "\n    ")
	}
	return one
}

func membersOf(group []Finding) []string {
	var names []string
	for _, f := range group {
		names = append(names, f.Members...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasError reports whether one of the findings is an error.
func HasError(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Error })
}

func inputFindings(err error) []Finding {
	var findings []Finding
	for _, f := range federation.Findings(err) {
		finding := Finding{Error: true, Path: f.Path, Summary: f.Summary, Detail: f.Detail}
		if f.Member != "" {
			finding.Members = []string{f.Member}
		}
		findings = append(findings, finding)
	}
	if len(findings) == 0 && err != nil {
		findings = append(findings, Finding{Error: true, Summary: "Unable to render the template", Detail: err.Error()})
	}
	return findings
}

func isNotServed(err error) bool {
	var e *member.NotServedError
	return errors.As(err, &e)
}

// isUnreachable reports whether a member cannot be asked, which is what policy.on_unreachable and on_unreachable_delete are about. Here alone
// it is decided what that is: not that the operation's own time is up, which says nothing about the member, and not a mistake in the
// configuration (a credential plugin that fails, two names for one cluster, another cluster than the registered one), which no policy excuses.
func isUnreachable(err error) bool {
	var (
		late *OutOfTimeError
		u    *member.UnreachableError
		n    *registry.NotJoinedError
	)
	switch {
	case errors.As(err, &late):
		return false
	case errors.As(err, &u):
		return !u.Misconfigured()
	}
	return errors.As(err, &n)
}

// ForeignError says that an object is there that is not ours.
type ForeignError struct {
	Member  string
	Object  member.Object
	Owner   string // of another configuration; "" = it carries no mark
	Manager string // who wrote it last
	OptOut  bool   // it says that it wants to be left alone
}

// adoptable reports whether policy.on_existing = "adopt" takes the object over: it belongs to nobody's configuration.
func (e *ForeignError) adoptable() bool { return !e.OptOut && e.Owner == "" }

func (e *ForeignError) Error() string {
	switch {
	case e.OptOut:
		return fmt.Sprintf("%s on member %s carries the label %s=false, which asks that no federation touches it", e.Object, e.Member, federation.OptOutLabel)
	case e.Owner != "":
		return fmt.Sprintf("%s on member %s belongs to the configuration with owner %q", e.Object, e.Member, e.Owner)
	case e.Manager != "":
		return fmt.Sprintf("%s on member %s exists already and is not ours; it was last written by %q", e.Object, e.Member, e.Manager)
	}
	return fmt.Sprintf("%s on member %s exists already and is not ours", e.Object, e.Member)
}

// DeclaredTwiceError says that another resource of the same configuration manages the object.
type DeclaredTwiceError struct {
	Member   string
	Object   member.Object
	Replaced bool // it is this very resource, which is to be replaced, and is still there
}

func (e *DeclaredTwiceError) Error() string {
	return fmt.Sprintf("%s on member %s is managed by another resource of this configuration", e.Object, e.Member)
}
