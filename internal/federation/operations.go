package federation

import (
	"fmt"
	"slices"
	"strings"
)

// Operation is one step of a JSON patch (RFC 6902).
type Operation struct {
	// Op is add, remove, replace, move, copy or test.
	Op string
	// Path and From are JSON pointers.
	Path, From string
	// Value is what add, replace and test bring; HasValue tells a null apart from no value.
	Value    any
	HasValue bool
}

// OperationError says which operation of a patch failed and why.
type OperationError struct {
	// Number counts from 1, Of is how many operations the patch has.
	Number, Of int
	Operation  Operation
	// Reason is a clause without a full stop; Hint a sentence that says what to do, perhaps empty.
	Reason, Hint string
}

// Error names the operation and gives reason and hint.
func (e *OperationError) Error() string {
	text := fmt.Sprintf("Operation %d of %d (%s): %s.", e.Number, e.Of, e.Operation, e.Reason)
	if e.Hint != "" {
		text += " " + e.Hint
	}
	return text
}

// String gives operation and path, without the value: it may be secret.
func (o Operation) String() string {
	if o.Op == "move" || o.Op == "copy" {
		return fmt.Sprintf("%s %s to %s", o.Op, o.From, o.Path)
	}
	return strings.TrimSpace(o.Op + " " + o.Path)
}

// operationFields are the fields an operation may have.
var operationFields = []string{"op", "path", "from", "value"}

// ParseOperations reads a JSON patch from JSON or YAML text: a list of operations. op defaults to replace, as in KubeFed. Errors are
// InputErrors without a path that say the number of the operation, counted from 1.
func ParseOperations(text string) ([]Operation, error) {
	value, err := DecodeValue(text)
	if err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, &InputError{Summary: "Invalid JSON patch", Detail: fmt.Sprintf("A JSON patch is a list of operations, but this is %s.",
			kindOfValue(value))}
	}
	operations := make([]Operation, len(list))
	var findings []*InputError
	for i, entry := range list {
		operation, problem := parseOperation(entry)
		if problem == "" {
			problem = operation.check()
		}
		if problem != "" {
			findings = append(findings, &InputError{Summary: "Invalid JSON patch",
				Detail: (&OperationError{Number: i + 1, Of: len(list), Operation: operation, Reason: problem}).Error()})
		}
		operations[i] = operation
	}
	if len(findings) > 0 {
		return nil, joinFindings(findings)
	}
	return operations, nil
}

// parseOperation reads one operation; problem says what is wrong with its shape.
func parseOperation(entry any) (o Operation, problem string) {
	fields, ok := entry.(map[string]any)
	if !ok {
		return o, fmt.Sprintf("an operation is a map with op, path and value, but this is %s", kindOfValue(entry))
	}
	o.Op = "replace"
	for _, field := range []struct {
		name string
		to   *string
	}{{"op", &o.Op}, {"path", &o.Path}, {"from", &o.From}} {
		value, there := fields[field.name]
		if !there {
			continue
		}
		text, isText := value.(string)
		if !isText {
			return o, fmt.Sprintf("%s must be text, but is %s", field.name, kindOfValue(value))
		}
		*field.to = text
	}
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(operationFields, name) {
			return o, fmt.Sprintf("unknown field %q; an operation has op, path, from and value", name)
		}
	}
	if _, there := fields["path"]; !there {
		return o, "path is missing"
	}
	o.Value, o.HasValue = fields["value"]
	return o, ""
}

// check says what is wrong with an operation whatever it is applied to, or "".
func (o Operation) check() string {
	switch o.Op {
	case "add", "replace", "test":
		if !o.HasValue {
			return "value is missing (null has to be written)"
		}
	case "remove":
	case "move", "copy":
		if o.From == "" {
			return "from is missing"
		}
		if _, err := parsePointer(o.From); err != nil {
			return "from: " + err.Error()
		}
	default:
		return fmt.Sprintf("unknown op %q; add, remove, replace, move, copy and test are known", o.Op)
	}
	if _, err := parsePointer(o.Path); err != nil {
		return err.Error()
	}
	if o.Op == "move" && strings.HasPrefix(o.Path, o.From+"/") {
		return fmt.Sprintf("%s cannot be moved into itself", o.From)
	}
	return ""
}

// validateOperations checks parsed operations; the paths of InputErrors begin with attribute.
func validateOperations(operations []Operation, attribute string) error {
	var findings []*InputError
	for i, operation := range operations {
		if problem := operation.check(); problem != "" {
			failed := &OperationError{Number: i + 1, Of: len(operations), Operation: operation, Reason: problem}
			findings = append(findings, &InputError{Path: []string{attribute}, Summary: "Invalid JSON patch", Detail: failed.Error()})
		}
	}
	return joinFindings(findings)
}

// operationFinding makes an InputError of a failed operation, at the attribute that holds the patch.
func operationFinding(err error, attribute ...string) error {
	return &InputError{Path: attribute, Summary: "Invalid override path", Detail: err.Error()}
}
