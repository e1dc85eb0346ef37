package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// Preflight asks the API server of every member that is to be written whether it would accept what is planned, all members at once. What
// this same run makes first (a member, a namespace, a kind) is checked when it is there, at apply. Answers become findings only: planned
// values do not depend on them. creating says that there is no state yet.
func (f *Fleet) Preflight(ctx context.Context, t *Target, writes []Write, creating bool) []Finding {
	p := putter{fleet: f, target: t, dry: true}
	byName := map[string]Write{}
	names := make([]string, len(writes))
	for i, w := range writes {
		names[i], byName[w.Member] = w.Member, w
	}
	answers := each(ctx, f, names, func(ctx context.Context, name string) []Finding {
		done, err := p.put(ctx, byName[name])
		if err != nil {
			return f.refusals(t, byName[name], err, creating)
		}
		return done.notes(t, name)
	})
	findings := slices.Concat(answers...)
	if creating && !HasError(findings) {
		for _, name := range f.memory.noteCreation(t.ID.String(), names) {
			findings = append(findings, t.finding(name, &DeclaredTwiceError{Member: name}))
		}
	}
	return findings
}

// PreflightKind asks the members whether they serve a kind of which nobody has said whether it lives in a namespace: as long as that is open,
// there is no object to ask about.
func (f *Fleet) PreflightKind(ctx context.Context, t *Target, names []string, creating bool) []Finding {
	answers := each(ctx, f, names, func(ctx context.Context, name string) []Finding {
		if _, err := f.kindOn(ctx, name, t.GVK); err != nil {
			return f.refusals(t, Write{Member: name}, err, creating)
		}
		return nil
	})
	return slices.Concat(answers...)
}

// PreflightLeaving says what becomes of the object on the members that are to lose it, where that is not simply its deletion, or where the
// plan does not show it: shown are the members whose departure it does.
func (f *Fleet) PreflightLeaving(ctx context.Context, t *Target, record *Record, leaving, shown []string) []Finding {
	var findings []Finding
	var names []string
	for _, name := range leaving {
		if record.Copies[name].Foreign {
			findings = append(findings, Finding{Path: []string{"placement"}, Members: []string{name}, Summary: "Imported object is left where it is",
				Detail: t.ID.String() + " was imported there too, and the placement leaves the member out. The apply forgets it and does not delete it.",
				Advice: "To manage it, add the member to the placement."})
			continue
		}
		names = append(names, name)
	}
	var reached []string
	for i, err := range f.ask(ctx, names) {
		if err == nil {
			reached = append(reached, names[i])
			continue
		}
		err = f.orRenamed(ctx, t, record, names[i], err)
		findings = append(findings, t.undeletable(names[i], err, f.memory.wasRead(record.Resource))...)
	}
	return append(findings, f.tellLeaving(ctx, t, reached, shown)...)
}

// tellLeaving tells of members that lose the object: where it will be left behind, and where a former run could not delete it.
func (f *Fleet) tellLeaving(ctx context.Context, t *Target, names, shown []string) []Finding {
	kept := f.protected(ctx, t, names)
	var findings []Finding
	for _, finding := range kept {
		finding.Error, finding.Path, finding.Summary = false, []string{"placement"}, "Object will be left behind"
		finding.Advice = "It is protected (deletion.protection), so the apply takes its mark off and leaves it where it is."
		findings = append(findings, finding)
	}
	for _, name := range names {
		if !slices.Contains(shown, name) && !slices.Contains(membersOf(kept), name) {
			findings = append(findings, Finding{Path: []string{"placement"}, Members: []string{name}, Summary: "Deletion is tried again",
				Detail: t.ID.String() + " is deleted there: a former run could not."})
		}
	}
	return findings
}

// PreflightReplacement says which members would keep the object from being replaced: it would be gone from the others, and stay so.
func (f *Fleet) PreflightReplacement(ctx context.Context, t *Target, record *Record) []Finding {
	names := record.Members()
	var findings []Finding
	for i, err := range f.ask(ctx, names) {
		if forgotten := t.Policy.OnUnreachableDelete == PolicyForget && leftBehind(err); err != nil && !forgotten {
			findings = append(findings, t.unreplaceable(names[i], err))
		}
	}
	return findings
}

// ask asks all members at once whether they are there.
func (f *Fleet) ask(ctx context.Context, names []string) []error {
	return each(ctx, f, names, func(ctx context.Context, name string) error {
		m, err := f.config.Registry.Open(ctx, name)
		if err == nil {
			_, err = m.Kinds(ctx)
		}
		return inTime(ctx, err)
	})
}

// refusals judges an error of a dry run by the policy.
func (f *Fleet) refusals(t *Target, w Write, err error, creating bool) []Finding {
	var (
		notJoined *registry.NotJoinedError
		unknown   *registry.UnknownError
		notMember *registry.NotMemberError
		held      *member.TerminatingError
		namespace *member.NamespaceMissingError
		conflict  *member.ConflictError
		foreign   *ForeignError
		refused   *member.RefusedError
	)
	finding := t.writeFinding(w, err)
	switch {
	case errors.As(err, &notJoined), errors.As(err, &unknown):
		return nil
	case errors.As(err, &conflict) && t.Policy.OnConflict == PolicyUnknown, errors.As(err, &foreign) && foreign.adoptable() && t.Policy.OnExisting == PolicyUnknown:
		return nil
	case errors.As(err, &refused) && refused.Code == http.StatusForbidden && f.config.Registry.RightsAnnounced(w.Member):
		return nil
	case errors.As(err, &notMember):
		return nil // told once, by the refresh or by CheckNames
	case isNotServed(err) && f.memory.kindAnnounced(w.Member, t.GVK.GroupKind()):
		return nil
	case errors.As(err, &namespace):
		if maySay(t.Policy.OnMissingNamespace, PolicyCreate) || f.memory.namespaceAnnounced(w.Member, namespace.Namespace) {
			return nil
		}
	case errors.As(err, &held):
		finding.Error = false
		finding.Advice = "The apply waits until it is gone. " + finding.Advice
	case isUnreachable(err):
		finding.Error = creating && t.Policy.OnUnreachable == PolicyError
		if !finding.Error {
			finding.Advice = unreachableLater(t.Policy)
		}
	}
	if finding.Error && !creating && (isNotServed(err) || namespace != nil) {
		finding.Advice += " `terraform destroy` meets this error too, unless it is given -refresh=false."
	}
	return []Finding{finding}
}

func unreachableLater(p Policy) string {
	if p.OnUnreachable == PolicySkip {
		return "The apply leaves the member for a later run (policy.on_unreachable = \"skip\")."
	}
	return "The apply writes the other members and then ends in an error for this one, unless it is back by then."
}

// notes are the warnings that go with an accepted write.
func (w *written) notes(t *Target, name string) []Finding {
	var findings []Finding
	for _, text := range w.warnings {
		if t.hidesText() {
			text = "about " + t.ID.String() + "; " + hiddenWords + "."
		}
		findings = append(findings, Finding{Path: []string{"template"}, Members: []string{name}, Summary: "API server warning", Detail: text})
	}
	for _, field := range sortedKeys(w.stays) {
		findings = append(findings, Finding{Path: []string{"template"}, Members: []string{name}, Summary: "Dropped field stays",
			Detail: fmt.Sprintf("%s of %s is in the template no more, and stays: %q applies it too.", field, t.ID, w.stays[field])})
	}
	if w.adopts != "" {
		findings = append(findings, Finding{Path: []string{"template"}, Members: []string{name}, Summary: t.ID.String() + " exists and is taken over", Detail: w.adopts, Advice: t.afterAdoption()})
	}
	return append(findings, w.takenOver(t, name)...)
}

// afterAdoption says what becomes of an object that had a life before ours.
func (t *Target) afterAdoption() string {
	if t.Deletion.Orphan {
		return "A destroy releases it and leaves it there (deletion.policy = \"orphan\")."
	}
	return "A destroy deletes it, with what others keep in it, unless deletion.policy = \"orphan\"."
}

// takenOver tells that an object was there already.
func (w *written) takenOver(t *Target, name string) []Finding {
	if !w.resumed {
		return nil
	}
	return []Finding{{Path: []string{"template"}, Members: []string{name}, Summary: "Object of an interrupted run is taken over",
		Detail: t.ID.String() + " carries this configuration's mark, and no state that was read knows it."}}
}
