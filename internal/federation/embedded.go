package federation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// EmbeddedOverride patches a document that an object holds as text, such as a key of a ConfigMap.
type EmbeddedOverride struct {
	// Path is a JSON pointer to the text. In data of a Secret the text is base64, which is taken off and put back.
	Path string
	// Format is "yaml" (the default when empty) or "json".
	Format string
	// JSONPatch runs before MergePatch; nil means absent.
	JSONPatch  []Operation
	MergePatch any
}

// validateEmbedded checks embedded overrides.
func validateEmbedded(embedded []EmbeddedOverride) error {
	var errs []error
	for i, e := range embedded {
		var findings []*InputError
		refuse := func(field, detail string) {
			findings = append(findings, &InputError{Path: []string{field}, Summary: "Invalid embedded override", Detail: detail})
		}
		if _, err := parsePointer(e.Path); err != nil {
			refuse("path", sentence(err.Error()))
		}
		if e.Format != "" && e.Format != "yaml" && e.Format != "json" {
			refuse("format", fmt.Sprintf("%q is no format: yaml and json are.", e.Format))
		}
		if e.JSONPatch == nil && e.MergePatch == nil {
			refuse("path", "The entry changes nothing: set json_patch or merge_patch.")
		}
		for _, err := range []error{joinFindings(findings), validateOperations(e.JSONPatch, "json_patch"),
			validateMergePatch(e.MergePatch, "merge_patch")} {
			if err != nil {
				errs = append(errs, Below(err, "embedded", strconv.Itoa(i)))
			}
		}
	}
	return joined(errs)
}

// applyEmbedded patches the documents in an object, which it changes. Comments in YAML do not survive.
func applyEmbedded(tree map[string]any, embedded []EmbeddedOverride) (warnings []string, err error) {
	if err := validateEmbedded(embedded); err != nil {
		return nil, err
	}
	for i, e := range embedded {
		more, err := e.apply(tree)
		if err != nil {
			return nil, Below(err, "embedded", strconv.Itoa(i))
		}
		for _, warning := range more {
			warnings = append(warnings, fmt.Sprintf("embedded[%d]: %s", i, warning))
		}
	}
	return warnings, nil
}

func (e EmbeddedOverride) apply(tree map[string]any) ([]string, error) {
	path, err := parsePointer(e.Path)
	if err != nil {
		return nil, e.refuse(err)
	}
	value, err := find(tree, path)
	if err != nil {
		return nil, operationFinding(fmt.Errorf("path %s: %w", e.Path, err), "path")
	}
	text, isText := value.(string)
	if !isText {
		return nil, e.refuse(fmt.Errorf("%s must be text, but is %s", e.Path, kindOfValue(value)))
	}
	inBase64 := isSecret(tree) && len(path) == 2 && path[0] == "data"
	if inBase64 {
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, e.refuse(fmt.Errorf("%s is not base64", e.Path))
		}
		text = string(decoded)
	}
	text, warnings, err := e.patch(text)
	if err != nil {
		return nil, err
	}
	if inBase64 {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	_, err = replace(tree, path, text)
	return warnings, err
}

// refuse is the finding that what the path leads to cannot be patched.
func (e EmbeddedOverride) refuse(err error) error {
	return &InputError{Path: []string{"path"}, Summary: "Invalid embedded override", Detail: sentence(err.Error())}
}

// patch reads the text, patches the document and writes it again in the same format.
func (e EmbeddedOverride) patch(text string) (string, []string, error) {
	document, err := e.decode(text)
	if err != nil {
		return "", nil, err
	}
	document, warnings, err := patchInPlace(document, e.JSONPatch)
	if err != nil {
		return "", nil, operationFinding(err, "json_patch")
	}
	if e.MergePatch != nil {
		document = MergePatch(document, e.MergePatch)
	}
	encoded, err := e.encode(document, text)
	return encoded, warnings, err
}

func (e EmbeddedOverride) decode(text string) (any, error) {
	if e.Format == "json" {
		values, err := decodeJSON(text)
		if err == nil && len(values) == 1 {
			return values[0], nil
		}
		return nil, e.refuse(fmt.Errorf("the text at %s is not one JSON value", e.Path))
	}
	document, err := DecodeValue(text)
	if err != nil {
		// What the parser says may quote the text, and that may be secret.
		return nil, e.refuse(fmt.Errorf("the text at %s is not one YAML document", e.Path))
	}
	return document, nil
}

// encode writes a document as the text before was written: JSON over several lines stays so, and so does a line break at the end.
func (e EmbeddedOverride) encode(document any, before string) (string, error) {
	if e.Format != "json" {
		text, err := Encode(document)
		if err == nil && !strings.HasSuffix(before, "\n") {
			text = strings.TrimSuffix(text, "\n")
		}
		return text, err
	}
	compact, err := Canonical(document)
	if err != nil {
		return "", err
	}
	text := string(compact)
	if strings.Contains(strings.TrimSpace(before), "\n") {
		var indented bytes.Buffer
		if err := json.Indent(&indented, compact, "", "  "); err != nil {
			return "", fmt.Errorf("indent the text at %s: %w", e.Path, err)
		}
		text = indented.String()
	}
	if strings.HasSuffix(before, "\n") {
		text += "\n"
	}
	return text, nil
}
