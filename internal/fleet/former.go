package fleet

import (
	"errors"
	"fmt"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// formerSummary is the title of all that is told of a member that is registered no longer. It is the same for every object, so that Terraform
// shows one of many and counts the others.
const formerSummary = "Member is registered no longer"

const formerAdvice = "To have the object deleted, put the member's connection back, take it out of the placement, apply, and remove the connection then. " +
	"To leave the object behind, apply policy.on_unreachable_delete = \"forget\"."

// formerStays is what the default policy means for a former member.
const formerStays = " Until then the object stays in the state, and an apply ends in an error."

// isFormer reports whether an error means that a member, of which the state holds a copy, is registered no longer.
func isFormer(err error) bool {
	var notMember *registry.NotMemberError
	return errors.As(err, &notMember)
}

// Unread explains why a refresh learned nothing about the object on a member.
func (t *Target) Unread(name string, err error) Finding {
	f := t.finding(name, err)
	f.Error, f.Path = false, nil
	var (
		foreign *ForeignError
		twice   *DeclaredTwiceError
		renamed *RenamedError
	)
	switch {
	case errors.As(err, &renamed):
		t.explainRenamed(&f, renamed)
	case isFormer(err):
		f.Detail = fmt.Sprintf("%s is in the state for it, and nothing there can be read or deleted: %s", t.ID, f.Detail)
		if t.Policy.OnUnreachableDelete != PolicyForget {
			f.Advice += formerStays
		}
	case errors.As(err, &foreign), errors.As(err, &twice):
		f.Summary = "Object was taken over"
		f.Advice = "Remove the object from one of the two; this state can let go of it with deletion.policy = \"orphan\"."
	default:
		f.Summary = "Member cannot be read"
		f.Advice = "The last known state is kept for it: nothing there is deleted, re-created or forgotten because of this."
	}
	return f
}

// explainRenamed: the apply notes the new name where the placement has it, and deletes nothing.
func (t *Target) explainRenamed(f *Finding, e *RenamedError) {
	f.Summary, f.Detail = "Member has another name now", fmt.Sprintf("%s, that very object, is on member %s.", t.ID, e.Now)
	f.Advice = fmt.Sprintf("With %s in the placement instead of it the object is kept as it is, and the state gets the new name.", e.Now)
}

// undeletable says at the plan what the apply will do about a leaving member from which nothing can be deleted. told says that the refresh of
// this plan has spoken of the member.
func (t *Target) undeletable(name string, err error, told bool) []Finding {
	f := t.finding(name, err)
	f.Error = false
	forgets := t.Policy.OnUnreachableDelete == PolicyForget
	var renamed *RenamedError
	switch {
	case errors.As(err, &renamed) && told:
		return nil
	case errors.As(err, &renamed):
		t.explainRenamed(&f, renamed)
		return []Finding{f}
	case isFormer(err) && told && !forgets:
		return nil
	case isFormer(err) && !forgets:
		f.Advice += formerStays
	case !leftBehind(err):
		f.Advice += " Until then the object stays in the state for it, and an apply ends in an error."
		return []Finding{f}
	case isFormer(err):
		f.Summary = "Object of a former member is forgotten"
	default:
		f.Summary = "Member to delete from cannot be reached"
		f.Advice = "The apply keeps it in the state and ends in an error, unless it is back by then; if it will never come back, set policy.on_unreachable_delete = \"forget\"."
	}
	if forgets {
		f.Advice = "The apply forgets the object there (policy.on_unreachable_delete = \"forget\"); it may be left behind."
	}
	return []Finding{f}
}

// unreplaceable says why an object cannot be replaced while nothing can be deleted from one of its members.
func (t *Target) unreplaceable(name string, err error) Finding {
	f := t.finding(name, err)
	if isFormer(err) {
		f.Advice = fmt.Sprintf("Another kind, namespace or name means that %s is deleted first. %s", t.ID, formerAdvice)
		return f
	}
	if !leftBehind(err) {
		f.Advice = fmt.Sprintf("Another kind, namespace or name means that %s is deleted first. %s", t.ID, f.Advice)
		return f
	}
	f.Summary = "Member with the object to be replaced cannot be reached"
	f.Advice = fmt.Sprintf("Another kind, namespace or name means that %s is deleted first. That cannot be finished while a member does not answer, and the other members would have neither object until it does. "+
		"Bring the member back, or, if it will never come back, apply policy.on_unreachable_delete = \"forget\" first.", t.ID)
	return f
}

// notDeleted says that an apply could not delete from a member: it does not answer, or is none any more.
func (t *Target) notDeleted(name string, err error) Finding {
	f := t.finding(name, err)
	f.Path = []string{"placement"}
	if isFormer(err) {
		f.Summary = "Unable to delete from a member that is registered no longer"
		return f
	}
	f.Summary = "Unable to delete from a member that cannot be reached"
	f.Advice = fmt.Sprintf("It stays in the state for %s alone. Bring the member back and run again, or, if it will never come back, apply policy.on_unreachable_delete = \"forget\" first.", name)
	return f
}

// forgotten says that an apply gave an object up that it could not delete.
func (t *Target) forgotten(name string, err error) Finding {
	f := Finding{Members: []string{name}, Summary: t.ID.String() + " is left behind",
		Detail: fmt.Sprintf("the member does not answer, and %s was forgotten as policy.on_unreachable_delete says; it may still be there: %s", t.ID, t.Detail(err))}
	if isFormer(err) {
		f.Detail = fmt.Sprintf("the member is registered no longer, and %s was forgotten as policy.on_unreachable_delete says; it may still be there.", t.ID)
	}
	return f
}

// leftBehind reports whether nothing can be deleted from a member, as it does not answer or is none any more.
func leftBehind(err error) bool { return isUnreachable(err) || isFormer(err) }
