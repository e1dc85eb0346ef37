package federation

import (
	"errors"
	"strings"
)

// InputError is a fault in what the user wrote. Callers bind it to the attribute at fault.
type InputError struct {
	// Path leads from the value the caller passed in to the place at fault, one step per element: attribute names, map keys and
	// list indexes in decimal. Errors of overrides start at the resource: "overrides", "2", "json_patch".
	Path []string
	// Summary is a title of a few words, such as "Invalid override path".
	Summary string
	// Detail says which value is wrong and what to do.
	Detail string
	// Member is the one that gets what is wrong; empty where it is not about a member.
	Member string
}

// Text is the detail, with the member's name.
func (e *InputError) Text() string {
	if e.Member == "" {
		return e.Detail
	}
	return "Member " + e.Member + ": " + e.Detail
}

// Error gives path, summary and text in one line.
func (e *InputError) Error() string {
	text := e.Summary + ": " + e.Text()
	if len(e.Path) == 0 {
		return text
	}
	return strings.Join(e.Path, ".") + ": " + text
}

// Below returns the InputErrors in err with the steps put before their paths. An error that holds none stays as it is.
func Below(err error, steps ...string) error {
	if err == nil {
		return nil
	}
	findings := Findings(err)
	if len(findings) == 0 {
		return err
	}
	moved := make([]error, len(findings))
	for i, finding := range findings {
		path := append(append([]string{}, steps...), finding.Path...)
		moved[i] = &InputError{Path: path, Summary: finding.Summary, Detail: finding.Detail, Member: finding.Member}
	}
	return joined(moved)
}

// Findings lists the InputErrors in err, in order; nil when err is none or holds an error of another kind only.
func Findings(err error) []*InputError {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*InputError
		for _, one := range several.Unwrap() {
			all = append(all, Findings(one)...)
		}
		return all
	}
	var finding *InputError
	if errors.As(err, &finding) {
		return []*InputError{finding}
	}
	return nil
}

// maxFindings bounds how many findings one input is answered with.
const maxFindings = 20

// joinFindings makes one error of the first findings.
func joinFindings(findings []*InputError) error {
	findings = findings[:min(len(findings), maxFindings)]
	errs := make([]error, len(findings))
	for i, finding := range findings {
		errs[i] = finding
	}
	return joined(errs)
}

// joined is errors.Join, but a single error stays what it is.
func joined(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
