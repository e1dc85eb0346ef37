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
	switch len(f.Members) {
	case 0:
	case 1:
		text = "Member " + f.Members[0] + ": " + text
	default:
		text = "Members " + strings.Join(f.Members, ", ") + ": " + text
	}
	if f.Advice != "" {
		text += "\n\n" + f.Advice
	}
	return text
}

// Merge makes one finding of those that say the same about several members, in order of first appearance.
func Merge(findings []Finding) []Finding {
	var merged []Finding
	for _, f := range findings {
		same := slices.IndexFunc(merged, func(other Finding) bool {
			return other.Error == f.Error && other.Summary == f.Summary && other.Detail == f.Detail && other.Advice == f.Advice &&
				slices.Equal(other.Path, f.Path)
		})
		if same < 0 {
			f.Members = slices.Clone(f.Members)
			merged = append(merged, f)
			continue
		}
		merged[same].Members = append(merged[same].Members, f.Members...)
	}
	for i := range merged {
		slices.Sort(merged[i].Members)
		merged[i].Members = slices.Compact(merged[i].Members)
	}
	return merged
}

// HasError reports whether one of the findings is an error.
func HasError(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Error })
}

func inputFindings(err error) []Finding {
	var findings []Finding
	for _, f := range federation.Findings(err) {
		findings = append(findings, Finding{Error: true, Path: f.Path, Summary: f.Summary, Detail: f.Detail})
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

func isUnreachable(err error) bool {
	var u *member.UnreachableError
	var n *registry.NotJoinedError
	return errors.As(err, &u) || errors.As(err, &n)
}

// ForeignError says that an object is there that is not ours.
type ForeignError struct {
	Member  string
	Object  member.Object
	Owner   string // of another configuration; "" = it carries no mark
	Manager string // who wrote it last
	OptOut  bool   // it says that it wants to be left alone
}

func (e *ForeignError) Error() string {
	switch {
	case e.OptOut:
		return fmt.Sprintf("%s on member %s carries the label %s=false, which asks that no federation touches it", e.Object, e.Member, optOutLabel)
	case e.Owner != "":
		return fmt.Sprintf("%s on member %s belongs to the configuration with owner %q", e.Object, e.Member, e.Owner)
	case e.Manager != "":
		return fmt.Sprintf("%s on member %s exists already and is not ours; it was last written by %q", e.Object, e.Member, e.Manager)
	}
	return fmt.Sprintf("%s on member %s exists already and is not ours", e.Object, e.Member)
}

// DeclaredTwiceError says that another resource of the same configuration manages the object.
type DeclaredTwiceError struct {
	Member string
	Object member.Object
}

func (e *DeclaredTwiceError) Error() string {
	return fmt.Sprintf("%s on member %s is managed by another resource of this configuration", e.Object, e.Member)
}
