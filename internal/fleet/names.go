package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// CheckNames finds names that are no members. In a placement a new one is an error, and one that was placed before a warning: it is treated
// as a leaving member that does not answer. Elsewhere (exclude, overrides, replicas) it is a warning: it may be misspelt, or of a member that
// has left or is to come.
// What the refresh of this process has told is not told again.
func (f *Fleet) CheckNames(ctx context.Context, spec Spec, record *Record) []Finding {
	aside := spec.namedAside()
	if f.config.Registry.Unknown() != "" {
		return nil
	}
	entries, err := f.config.Registry.Members(ctx)
	var twice *registry.DuplicateError
	if errors.As(err, &twice) {
		return []Finding{{Error: true, Summary: "Member is named twice", Detail: err.Error() + ".",
			Advice: "Take it out of the provider's member_clusters, or unjoin it."}}
	}
	if err != nil {
		return nil // told where something has to be written
	}
	known := make([]string, len(entries))
	for i, e := range entries {
		known[i] = e.Name
	}
	findings := append(f.checkPlaced(spec, record, known), checkGroups(spec, record, known)...)
	aside = slices.DeleteFunc(aside, func(m mention) bool { return slices.Contains(known, m.name) })
	if len(aside) > 0 {
		findings = append(findings, withoutEffect(aside, known))
	}
	return findings
}

func (f *Fleet) checkPlaced(spec Spec, record *Record, known []string) []Finding {
	var findings []Finding
	for _, name := range spec.Placement.Clusters {
		switch placed := slices.Contains(record.Members(), name); {
		case slices.Contains(known, name), placed && f.memory.wasRead(record.Resource):
		case placed:
			findings = append(findings, Finding{Path: []string{"placement", "clusters"}, Summary: formerSummary, Members: []string{name},
				Detail: "it is in the placement, and is not a member any more." + membersAre(known), Advice: formerAdvice})
		default:
			findings = append(findings, unknownName(name, known))
		}
	}
	return findings
}

// checkGroups finds the names in groups of a rollout that are no members. One of a member that was placed before is told by the placement.
func checkGroups(spec Spec, record *Record, known []string) []Finding {
	var findings []Finding
	for i, group := range spec.groups() {
		for _, name := range group.Clusters {
			if slices.Contains(known, name) || slices.Contains(record.Members(), name) {
				continue
			}
			finding := unknownName(name, known)
			finding.Path, finding.Detail = []string{"rollout", "groups", fmt.Sprint(i), "clusters"}, "In "+spec.Rollout.Label(i)+": "+finding.Detail
			findings = append(findings, finding)
		}
	}
	return findings
}

// mention is a name outside of the placement's choice, and where it stands.
type mention struct {
	name string
	path []string
}

func (s Spec) namedAside() []mention {
	var aside []mention
	for _, name := range s.Placement.Exclude {
		aside = append(aside, mention{name, []string{"placement", "exclude"}})
	}
	for i, o := range s.Overrides {
		for _, name := range o.Clusters {
			aside = append(aside, mention{name, []string{"overrides", fmt.Sprint(i), "clusters"}})
		}
	}
	for _, name := range sortedKeys(s.Replicas) {
		if name != "*" {
			aside = append(aside, mention{name, []string{"replicas", name}})
		}
	}
	return aside
}

func unknownName(name string, known []string) Finding {
	return Finding{Error: true, Path: []string{"placement", "clusters"}, Summary: "Unknown cluster", Detail: fmt.Sprintf("%q is not a member.", name) + membersAre(known),
		Advice: "Correct the name; or, if this configuration joins the cluster, refer to it by kubefed_cluster.<…>.name or depends_on, so that it is planned first."}
}

func withoutEffect(aside []mention, known []string) Finding {
	places := make([]string, len(aside))
	for i, m := range aside {
		places[i] = fmt.Sprintf("%q (%s)", m.name, m.path[0])
	}
	verb := "is not a member."
	if len(aside) > 1 {
		verb = "are not members."
	}
	return Finding{Path: aside[0].path, Summary: "Unknown cluster", Detail: strings.Join(places, ", ") + " " + verb + membersAre(known),
		Advice: "What is said of it has no effect. Correct the name, or remove it."}
}

func membersAre(known []string) string {
	if len(known) == 0 {
		return " No member is registered."
	}
	return " Members are " + quoted(known) + "."
}

func quoted(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%q", name)
	}
	return text
}
