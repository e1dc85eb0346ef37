package federation

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeOne reads a template given as text: one JSON or YAML document that is a map, as kubectl reads it. Empty and comment-only
// documents do not count. Several documents, a List, a list and a scalar are refused with an InputError, which has no path.
func DecodeOne(text string) (map[string]any, error) {
	documents, err := decodeDocuments(text)
	if err != nil {
		return nil, err
	}
	switch len(documents) {
	case 0:
		return nil, &InputError{Summary: "Empty manifest", Detail: "The text holds no document; one manifest is needed."}
	case 1:
	default:
		return nil, &InputError{Summary: "Several documents", Detail: fmt.Sprintf("The text holds %d documents; a template is exactly "+
			"one. Use for_each over provider::kubefed::manifests_by_id([text]), which gives each document by its id.", len(documents))}
	}
	tree, err := manifestMap(documents[0])
	if err != nil {
		return nil, err
	}
	if items, ok := listItems(tree); ok {
		return nil, &InputError{Summary: "List as manifest", Detail: fmt.Sprintf("The document is a %v of %d objects; a template is "+
			"exactly one object. Use for_each over provider::kubefed::manifests_by_id([text]), which unfolds Lists.",
			tree["kind"], len(items))}
	}
	return tree, nil
}

// DecodeAll reads every document of a JSON or YAML text as kubectl does, Lists unfolded, in order. Empty and comment-only documents
// are left out; a document or item that is no map is an InputError that counts from 1.
func DecodeAll(text string) ([]map[string]any, error) {
	documents, err := decodeDocuments(text)
	if err != nil {
		return nil, err
	}
	all := []map[string]any{}
	for i, document := range documents {
		tree, err := manifestMap(document)
		if err == nil {
			all, err = unfold(all, tree, 0)
		}
		var finding *InputError
		if errors.As(err, &finding) && len(documents) > 1 {
			return nil, &InputError{Summary: finding.Summary, Detail: fmt.Sprintf("Document %d: %s", i+1, finding.Detail)}
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// DecodeValue reads any single JSON or YAML value, such as a patch, as kubectl reads YAML. An empty text is an InputError.
func DecodeValue(text string) (any, error) {
	documents, err := decodeDocuments(text)
	if err != nil {
		return nil, err
	}
	switch len(documents) {
	case 0:
		return nil, &InputError{Summary: "Empty text", Detail: "The text holds no JSON or YAML value."}
	case 1:
		return documents[0], nil
	default:
		return nil, &InputError{Summary: "Several documents",
			Detail: fmt.Sprintf("The text holds %d documents; one is needed.", len(documents))}
	}
}

// decodeDocuments reads all documents of a text but the empty ones.
func decodeDocuments(text string) ([]any, error) {
	if !utf8.ValidString(text) {
		return nil, &InputError{Summary: "Invalid text", Detail: "The text is not UTF-8."}
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	documents, err := decodeJSONOrYAML(text)
	if err != nil {
		return nil, withoutPath(err)
	}
	kept := documents[:0]
	for _, document := range documents {
		if document != nil {
			kept = append(kept, document)
		}
	}
	return kept, nil
}

// withoutPath takes the paths off the findings about a text: in Terraform there is nothing below a text attribute that could be
// pointed at. The details name the place.
func withoutPath(err error) error {
	findings := Findings(err)
	if len(findings) == 0 {
		return err
	}
	for i, finding := range findings {
		findings[i] = &InputError{Summary: finding.Summary, Detail: finding.Detail}
	}
	return joinFindings(findings)
}

func decodeJSONOrYAML(text string) ([]any, error) {
	if !looksLikeJSON(text) {
		return decodeYAML(text)
	}
	values, err := decodeJSON(text)
	var notJSON *notJSONError
	if !errors.As(err, &notJSON) {
		return values, err
	}
	values, err = decodeYAML(text)
	var finding *InputError
	if errors.As(err, &finding) {
		err = &InputError{Summary: "Neither JSON nor YAML",
			Detail: fmt.Sprintf("As JSON: %s. As YAML: %s", notJSON, finding.Detail)}
	}
	return values, err
}

func manifestMap(document any) (map[string]any, error) {
	tree, ok := document.(map[string]any)
	if !ok {
		return nil, &InputError{Summary: "Not a manifest", Detail: fmt.Sprintf("The document is %s; a manifest is a map with "+
			"apiVersion, kind and metadata.", kindOfValue(document))}
	}
	return tree, nil
}

// kindOfValue names the JSON type of a value in a sentence.
func kindOfValue(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// listItems returns the items of a List: of kind List, or of a kind that ends in List and has items (ConfigMapList).
func listItems(tree map[string]any) ([]any, bool) {
	kind, _ := tree["kind"].(string)
	items, isList := tree["items"].([]any)
	if kind == "List" && tree["items"] == nil {
		return nil, true
	}
	return items, isList && strings.HasSuffix(kind, "List")
}

// unfold appends a manifest, or the items of a List. Items of a typed list may lack kind and apiVersion: they follow from the list's.
func unfold(all []map[string]any, tree map[string]any, depth int) ([]map[string]any, error) {
	items, isList := listItems(tree)
	if !isList {
		return append(all, tree), nil
	}
	if depth > maxDepth {
		return nil, tooDeepError()
	}
	listKind, _ := tree["kind"].(string)
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, &InputError{Summary: "Not a manifest",
				Detail: fmt.Sprintf("Item %d of the %s is %s; a manifest is a map.", i+1, listKind, kindOfValue(item))}
		}
		if itemKind := strings.TrimSuffix(listKind, "List"); itemKind != "" && object["kind"] == nil {
			object["kind"] = itemKind
			if object["apiVersion"] == nil {
				object["apiVersion"] = tree["apiVersion"]
			}
		}
		var err error
		if all, err = unfold(all, object, depth+1); err != nil {
			return nil, err
		}
	}
	return all, nil
}
