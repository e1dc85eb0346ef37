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

// finding explains an error of one member to the user.
func (t *Target) finding(name string, err error) Finding {
	f := Finding{Error: true, Path: []string{"template"}, Members: []string{name}, Summary: "Unable to write " + t.ID.String(), Detail: err.Error()}
	var (
		unreachable *member.UnreachableError
		notServed   *member.NotServedError
		namespace   *member.NamespaceMissingError
		foreign     *ForeignError
		twice       *DeclaredTwiceError
		conflict    *member.ConflictError
		refused     *member.RefusedError
		held        *member.TerminatingError
		notJoined   *registry.NotJoinedError
		unreadable  *registry.UnreadableError
	)
	switch {
	case errors.Is(err, errHeldBack):
		f.Summary, f.Detail = "Member is not written", err.Error()+"."
	case errors.As(err, &notJoined):
		f.Path, f.Summary, f.Detail = []string{"placement"}, "Member is not joined yet", "it is planned in this configuration, and has not been joined."
		f.Advice = "Let the placement refer to kubefed_cluster." + name + ".name, or add depends_on, so that the join comes first."
	case errors.As(err, &unreadable):
		f.Path, f.Members, f.Summary = []string{"placement"}, nil, "Unable to read the members"
		f.Detail, f.Advice = err.Error()+".", "Nothing can be written while nobody knows the members. Check the provider's host_cluster."
	case errors.As(err, &unreachable):
		f.Path, f.Summary = []string{"placement"}, "Member cannot be reached"
		f.Detail = fmt.Sprintf("it %s: %v.", unreachable.Class, unreachable.Err)
		f.Advice = unreachableAdvice(unreachable.Class)
	case errors.As(err, &notServed):
		f.Summary = "Kind is not served"
		f.Detail = fmt.Sprintf("%s %s is not served.", notServed.GVK.GroupVersion(), notServed.GVK.Kind)
		if len(notServed.Served) > 0 {
			f.Detail = strings.TrimSuffix(f.Detail, ".") + fmt.Sprintf("; it serves the kind as %s.", strings.Join(notServed.Served, ", "))
		}
		f.Advice = "Correct apiVersion and kind, install the API there first (with depends_on, if by this configuration), or set policy.on_missing_api = \"skip\"."
	case errors.As(err, &namespace):
		f.Summary = "Namespace is missing"
		f.Detail = fmt.Sprintf("there is no namespace %q.", namespace.Namespace)
		f.Advice = "Federate the Namespace too and let this resource depend on it (depends_on), or set policy.on_missing_namespace = \"create\" or \"skip\"."
	case errors.As(err, &foreign):
		f.Summary = "Object exists already"
		f.Detail, f.Advice = foreign.detail(), foreign.advice()
	case errors.As(err, &twice):
		f.Summary = "Object is declared twice"
		f.Detail = fmt.Sprintf("%s is managed by another resource of this configuration.", t.ID)
		f.Advice = "Remove one of the two resources, or give them different names."
	case errors.As(err, &conflict):
		f.Summary = "Field conflict"
		f.Detail = "other managers own these fields of " + t.ID.String() + ": " + causesText(conflict.Causes) + "."
		f.Advice = "Leave the fields out of the template, or take them over with policy.on_conflict = \"force\"."
	case errors.As(err, &held):
		f.Summary = "Object is being deleted"
		f.Detail = fmt.Sprintf("%s is being deleted since %s.", t.ID, held.Since.UTC().Format("2006-01-02T15:04:05Z"))
		if len(held.Finalizers) > 0 {
			f.Detail = strings.TrimSuffix(f.Detail, ".") + ", held by the finalizers " + strings.Join(held.Finalizers, ", ") + "."
			f.Advice = "Whoever set the finalizers has to finish, or they have to be removed by hand; then run again."
		}
	case errors.As(err, &refused):
		f.Summary = "API server refuses " + t.ID.String()
		f.Detail = t.refusal(refused)
	}
	return f
}

func unreachableAdvice(class member.Class) string {
	if class == member.ClassConfig || class == member.ClassIdentity {
		return "Correct the member's connection."
	}
	return "Bring the member back, take it out of the placement, or leave it for a later run with policy.on_unreachable = \"skip\"."
}

func (e *ForeignError) detail() string {
	text := fmt.Sprintf("%s is there and is not ours", e.Object)
	switch {
	case e.OptOut:
		return fmt.Sprintf("%s carries the label %s=false, which asks that no federation touches it.", e.Object, optOutLabel)
	case e.Owner != "":
		text = fmt.Sprintf("%s belongs to the configuration with owner %q", e.Object, e.Owner)
	case e.Manager != "":
		text += fmt.Sprintf(" (last written by %q)", e.Manager)
	}
	return text + "."
}

func (e *ForeignError) advice() string {
	switch {
	case e.OptOut:
		return "Remove the label, choose another name, or take the member out of the placement."
	case e.Owner != "":
		return "Remove it from that configuration first (with deletion.policy = \"orphan\"), choose another name, or take the member out of the placement."
	}
	return "Take it over with policy.on_existing = \"adopt\" (what others own in it is kept), import it, or choose another name."
}

func causesText(causes []member.Cause) string {
	parts := make([]string, len(causes))
	for i, c := range causes {
		parts[i] = fmt.Sprintf("%s (%s)", c.Field, c.Manager)
	}
	return strings.Join(parts, ", ")
}

// refusal is the API server's own text, or its class and fields alone where the text may quote what must not be shown.
func (t *Target) refusal(e *member.RefusedError) string {
	if t.hidesText() {
		return e.Safe() + ". The server's own words are not shown, as they may quote secret values."
	}
	return strings.TrimSuffix(e.Message, ".") + "."
}
