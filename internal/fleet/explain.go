package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// finding explains an error of one member to the user.
func (t *Target) finding(name string, err error) Finding {
	var late *OutOfTimeError
	if errors.As(err, &late) {
		return t.explainLate(name, late)
	}
	f := Finding{Error: true, Path: []string{"template"}, Members: []string{name}, Summary: "Unable to write " + t.ID.String(), Detail: err.Error()}
	if !t.explainMember(&f, name, err) && !t.explainPlace(&f, err) {
		t.explainObject(&f, err)
	}
	return f
}

// explainMember explains what is the matter with the member itself.
func (t *Target) explainMember(f *Finding, name string, err error) bool {
	var (
		unreachable *member.UnreachableError
		notJoined   *registry.NotJoinedError
		unreadable  *registry.UnreadableError
		notMember   *registry.NotMemberError
		held        *heldBack
	)
	switch {
	case errors.As(err, &held):
		f.Summary, f.Detail = "Member is not written", err.Error()+"."
		return true
	case errors.Is(err, context.Canceled):
		f.Summary, f.Detail, f.Advice = "Interrupted", "the run was interrupted before the member had answered.", "Run again: a refresh finds out what arrived there."
		return true
	case errors.As(err, &notJoined):
		f.Summary, f.Detail = "Member is not joined yet", "it is planned in this configuration, and has not been joined."
		f.Advice = "Let the placement refer to kubefed_cluster." + name + ".name, or add depends_on, so that the join comes first."
	case errors.As(err, &notMember):
		f.Summary, f.Detail, f.Advice = formerSummary, "it is not a member any more."+membersAre(notMember.Known), formerAdvice
	case errors.As(err, &unreadable):
		f.Members, f.Summary, f.Detail = nil, "Unable to read the members", err.Error()+"."
		f.Advice = "Nothing can be written while nobody knows the members. Check the provider's host_cluster."
	case errors.As(err, &unreachable):
		f.Summary = "Member cannot be reached"
		if unreachable.Misconfigured() {
			f.Summary = "Member is misconfigured"
		}
		f.Detail = fmt.Sprintf("it %s: %s.", unreachable.Class, t.words(unreachable.Err))
		f.Advice = unreachableAdvice(unreachable.Class, false)
	default:
		return false
	}
	f.Path = []string{"placement"}
	return true
}

// explainPlace explains that the object's kind or namespace is not there.
func (t *Target) explainPlace(f *Finding, err error) bool {
	var (
		notServed *member.NotServedError
		namespace *member.NamespaceMissingError
	)
	switch {
	case errors.As(err, &notServed):
		f.Summary = "Kind is not served"
		f.Detail = fmt.Sprintf("%s %s is not served", notServed.GVK.GroupVersion(), notServed.GVK.Kind)
		if len(notServed.Served) > 0 {
			f.Detail += "; it serves the kind as " + strings.Join(notServed.Served, ", ")
		}
		f.Detail += "."
		f.Advice = "Correct apiVersion and kind, install the API there first (with depends_on, if by this configuration), or set policy.on_missing_api = \"skip\"."
	case errors.As(err, &namespace):
		f.Summary = "Namespace is missing"
		f.Detail = fmt.Sprintf("there is no namespace %q.", namespace.Namespace)
		f.Advice = "Federate the Namespace too and let this resource depend on it (depends_on), or set policy.on_missing_namespace = \"create\" or \"skip\"."
	default:
		return false
	}
	return true
}

// explainObject explains what stands in the way of the object.
func (t *Target) explainObject(f *Finding, err error) {
	var (
		foreign  *ForeignError
		twice    *DeclaredTwiceError
		conflict *member.ConflictError
		refused  *member.RefusedError
		held     *member.TerminatingError
	)
	switch {
	case errors.As(err, &foreign):
		f.Summary = "Object exists already"
		f.Detail, f.Advice = foreign.detail(), foreign.advice()
	case errors.As(err, &twice) && twice.Replaced:
		f.Summary = "Object to be replaced is still there"
		f.Detail = fmt.Sprintf("%s has to be deleted before it can be created again.", t.ID)
		f.Advice = "Take create_before_destroy out of the lifecycle of this resource, or give the new object another name."
	case errors.As(err, &twice):
		f.Summary = "Object is declared twice"
		f.Detail = fmt.Sprintf("%s is managed by another resource of this configuration.", t.ID)
		f.Advice = "Remove one of the two resources, or give them different names. If one is the other's new name in the configuration, say so with a moved block: " +
			"moved { from = kubefed_federated_resource.<before>, to = kubefed_federated_resource.<after> }. A member that goes from one resource to the other takes two applies."
	case errors.As(err, &conflict):
		f.Summary = "Field conflict"
		f.Detail = "other managers own these fields of " + t.ID.String() + ": " + causesText(conflict.Causes) + "."
		f.Advice = "Leave the fields out of the template, or take them over with policy.on_conflict = \"force\"."
	case errors.As(err, &held):
		f.Summary = "Object is being deleted"
		f.Detail = fmt.Sprintf("%s is being deleted since %s", t.ID, held.Since.UTC().Format(time.RFC3339))
		if len(held.Finalizers) > 0 {
			f.Detail += ", held by the finalizers " + strings.Join(held.Finalizers, ", ")
			f.Advice = "Whoever set the finalizers has to finish, or they have to be removed by hand; then run again."
		}
		f.Detail += "."
	case errors.As(err, &refused):
		f.Summary = "API server refuses " + t.ID.String()
		f.Detail = t.refusal(refused)
		if refused.Code == http.StatusForbidden && refused.Reason == metav1.StatusReasonForbidden {
			f.Advice = "If it is the account that may not: widen the kubefed_cluster's scope, or give the account of the member's connection the right. Otherwise see what forbids it there (admission, quota)."
		}
	}
}

// writeFinding explains an error of a write to the user: what can be done depends on whether the member has the object already.
func (t *Target) writeFinding(w Write, err error) Finding {
	f := t.finding(w.Member, err)
	var (
		unreachable *member.UnreachableError
		refused     *member.RefusedError
	)
	switch {
	case w.Copy == nil:
	case errors.As(err, &unreachable):
		f.Advice = unreachableAdvice(unreachable.Class, true)
	case errors.As(err, &refused) && refused.Code == http.StatusUnprocessableEntity && w.Copy.UID != "":
		f.Advice = "If it is that a field cannot be changed in place (immutable), the object can be deleted and created again, on all its members: terraform apply -replace=<address of this resource>."
	}
	return f
}

// unreachableAdvice says what to do about a member that cannot be reached. One that holds the object is not to be taken out of the placement:
// it would have to be deleted there.
func unreachableAdvice(class member.Class, holds bool) string {
	leave := ", take it out of the placement, or leave it for a later run with policy.on_unreachable = \"skip\"."
	if holds {
		leave = ", or leave it for a later run with policy.on_unreachable = \"skip\"."
	}
	switch class {
	case member.ClassConfig, member.ClassIdentity, member.ClassTwice:
		return "Correct the member's connection."
	case member.ClassServer: // a webhook that does not answer, perhaps
		return "Mend what the member's API server reports" + leave
	}
	return "Bring the member back" + leave
}

func (e *ForeignError) detail() string {
	text := fmt.Sprintf("%s is there and is not ours", e.Object)
	switch {
	case e.OptOut:
		return fmt.Sprintf("%s carries the label %s=false, which asks that no federation touches it.", e.Object, federation.OptOutLabel)
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

// Detail explains an error of one member, without any value of the object where these must not be shown.
func (t *Target) Detail(err error) string { return t.finding("", err).Detail }

const hiddenWords = "the server's own words are not shown, as they may quote secret values"

// words is the text of an error by which a member is unreachable; what an API server says may quote the object.
func (t *Target) words(err error) string {
	var answered apierrors.APIStatus
	if !t.hidesText() || !errors.As(err, &answered) {
		return err.Error()
	}
	status := answered.Status()
	return fmt.Sprintf("%s (HTTP %d); %s", status.Reason, status.Code, hiddenWords)
}

// refusal is the API server's own text, or its class and fields alone where the text may quote what must not be shown.
func (t *Target) refusal(e *member.RefusedError) string {
	if t.hidesText() {
		return e.Safe() + "; " + hiddenWords + "."
	}
	return strings.TrimSuffix(e.Message, ".") + "."
}
