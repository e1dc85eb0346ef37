package federation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Render gives what a member gets: the template with every entry of overrides that matches the member, in list order, nulls dropped.
// used are the indexes of these entries, never nil. Warnings name no member, so that the same one can be told once for all. An
// InputError names the member and begins its path with overrides.
func Render(template map[string]any, overrides []Override, m Member) (out map[string]any, used []int, warnings []string, err error) {
	used = []int{}
	for i, o := range overrides {
		matches, err := o.Matches(m)
		if err != nil {
			return nil, nil, nil, o.below(i, err)
		}
		if matches {
			used = append(used, i)
		}
	}
	out, warnings, err = renderEntries(template, overrides, used)
	if err != nil {
		return nil, nil, nil, forMember(err, m.Name)
	}
	return out, used, warnings, nil
}

// RenderUsed renders again what Render gave, from the entries it used. An entry that is not there is an error.
func RenderUsed(template map[string]any, overrides []Override, used []int) (map[string]any, error) {
	for _, i := range used {
		if i < 0 || i >= len(overrides) {
			return nil, fmt.Errorf("render from remembered overrides: entry %d of %d is not there", i, len(overrides))
		}
	}
	out, _, err := renderEntries(template, overrides, used)
	return out, err
}

// renderEntries applies entries to a copy of the template and finishes the result. Without entries the template is taken to be
// normalized, as it is.
func renderEntries(template map[string]any, overrides []Override, used []int) (map[string]any, []string, error) {
	tree, err := withoutNulls(template)
	if err != nil || len(used) == 0 {
		return tree, nil, err
	}
	var warnings []string
	for _, i := range used {
		var more []string
		if tree, more, err = applyInPlace(tree, overrides[i], i); err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, more...)
		// What API servers own is no more sent from an override than from a template. Status is left to them, as the kind is not known here.
		if stripped := stripServerFields(tree, false); len(stripped) > 0 {
			warnings = append(warnings, fmt.Sprintf("overrides[%d]: fields of the server are not sent: %s.", i, strings.Join(stripped, ", ")))
		}
	}
	if tree, err = finish(tree); err != nil {
		return nil, nil, afterOverrides(err, used)
	}
	return tree, warnings, nil
}

// finish brings what overrides made to the form in which it is sent, and refuses what no template may hold either.
func finish(tree map[string]any) (map[string]any, error) {
	tree, err := withoutNulls(tree)
	if err != nil {
		return nil, err
	}
	return tree, joinFindings(slices.Concat(mergeStringData(tree), textMaps(tree), ownMarks(tree), tokenSecret(tree), duplicateKeys(tree)))
}

// afterOverrides binds what is wrong with a rendered object to the entry that was applied, or to overrides when there are several.
func afterOverrides(err error, used []int) error {
	path := []string{"overrides"}
	if len(used) == 1 {
		path = append(path, strconv.Itoa(used[0]))
	}
	findings := Findings(err)
	for i, finding := range findings {
		findings[i] = &InputError{Path: path, Summary: finding.Summary, Detail: "After the overrides: " + finding.Detail}
	}
	return joinFindings(findings)
}

// forMember puts the member's name into the findings of an error.
func forMember(err error, member string) error {
	findings := Findings(err)
	if len(findings) == 0 {
		return fmt.Errorf("render for member %s: %w", member, err)
	}
	named := make([]*InputError, len(findings))
	for i, finding := range findings {
		detail := finding.Detail
		if len(finding.Path) > 1 && finding.Path[0] == "overrides" {
			detail = fmt.Sprintf("overrides[%s]: %s", finding.Path[1], detail)
		}
		named[i] = &InputError{Path: finding.Path, Summary: finding.Summary, Detail: detail, Member: member}
	}
	return joinFindings(named)
}
