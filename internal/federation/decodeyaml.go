package federation

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
)

// decodeYAML reads every document of a YAML text as kubectl does: with the YAML 1.1 library behind sigs.k8s.io/yaml, so that 0400 is
// octal, yes and on are booleans, and keys become text by the same rules. The library splits the documents, so that a line of three
// dashes inside a block is no separator. Unlike kubectl, a key that is there twice is an error.
func decodeYAML(text string) ([]any, error) {
	documents, err := yamlDocuments(text, true)
	var typed *yaml.TypeError
	if errors.As(err, &typed) && strings.Contains(text, "<<") {
		// The library's strict mode takes a key that overrides a merged one ("<<") for a duplicate.
		documents, err = yamlDocuments(text, false)
	}
	if err != nil {
		return nil, yamlError(err)
	}
	c := yamlConverter{}
	out := make([]any, len(documents))
	for i, document := range documents {
		if out[i], err = c.value(document, &trail{}, 0); err != nil {
			return nil, err
		}
	}
	if c.floats {
		return out, checkYAMLFloats(text, out)
	}
	return out, nil
}

func yamlDocuments(text string, strict bool) ([]any, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.SetStrict(strict)
	var documents []any
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

func yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var typed *yaml.TypeError
	if errors.As(err, &typed) && len(typed.Errors) > 0 {
		text = strings.Join(typed.Errors, "; ")
	}
	return &InputError{Summary: "Invalid YAML", Detail: sentence(withoutQuotes(text))}
}

// quotedValue finds what the library quotes of a text in its messages.
var quotedValue = regexp.MustCompile("`[^`]*`")

// withoutQuotes takes values out of a message of the YAML library: they may be secret.
func withoutQuotes(message string) string {
	switch {
	case strings.HasPrefix(message, "unknown anchor"):
		return "a value begins with * and so is an alias, but there is no anchor of that name; quote the value if it is text"
	case strings.HasPrefix(message, "invalid map key"):
		return "a key is a map or a list; quote it if it is text (it may begin with { or [)"
	}
	return quotedValue.ReplaceAllString(message, "a value")
}

// yamlConverter makes JSON trees of what the YAML library gives.
type yamlConverter struct{ floats bool }

func (c *yamlConverter) value(v any, where *trail, depth int) (any, error) {
	if depth > maxDepth {
		return nil, tooDeepError()
	}
	switch value := v.(type) {
	case map[any]any:
		return c.fields(value, where, depth)
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			var err error
			if out[i], err = c.value(element, where.index(i), depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case string:
		if !utf8.ValidString(value) {
			return nil, &InputError{Path: where.steps(), Summary: "Invalid text", Detail: at(where, "holds bytes that are not UTF-8")}
		}
		return value, nil
	case nil, bool:
		return value, nil
	case float64:
		c.floats = true
	}
	number, err := normalNumber(v)
	if err != nil {
		return nil, &InputError{Path: where.steps(), Summary: "Invalid number", Detail: at(where, err.Error())}
	}
	return number, nil
}

func (c *yamlConverter) fields(in map[any]any, where *trail, depth int) (any, error) {
	out := make(map[string]any, len(in))
	for k, v := range in {
		key, err := yamlKey(k)
		if err != nil {
			return nil, &InputError{Path: where.steps(), Summary: "Invalid key", Detail: at(where, err.Error())}
		}
		if _, twice := out[key]; twice {
			return nil, &InputError{Path: where.at(key).steps(), Summary: "Duplicate key",
				Detail: at(where, fmt.Sprintf("key %q is there twice, in two spellings", key))}
		}
		if out[key], err = c.value(v, where.at(key), depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// yamlKey makes a key text by the rules of sigs.k8s.io/yaml, so that on becomes "true" here too.
func yamlKey(key any) (string, error) {
	switch k := key.(type) {
	case string:
		if !utf8.ValidString(k) {
			return "", errors.New("a key is not UTF-8")
		}
		return k, nil
	case bool:
		return strconv.FormatBool(k), nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case float64:
		return strconv.FormatFloat(k, 'g', -1, 32), nil
	case nil:
		return "", errors.New("a key is null; quote it if it is text")
	default:
		return "", errors.New("a key is no text; quote it")
	}
}

// checkYAMLFloats reads the text once more for the digits of its floating point numbers, which the library does not keep. Few texts
// have any.
func checkYAMLFloats(text string, documents []any) error {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for _, document := range documents {
		var p floatProbe
		if err := decoder.Decode(&p); err != nil {
			return yamlError(err)
		}
		if p.problem == nil {
			continue
		}
		where := findNumber(document, p.number, &trail{})
		return &InputError{Path: where.steps(), Summary: "Invalid number", Detail: at(where, p.problem.Error())}
	}
	return nil
}

// floatProbe walks a YAML document for the first number that a float64 cannot hold as written.
type floatProbe struct {
	problem error
	number  float64
}

// UnmarshalYAML is called by the library for every node.
func (p *floatProbe) UnmarshalYAML(read func(any) error) error {
	var typed *yaml.TypeError
	var list []floatProbe
	if err := read(&list); err == nil {
		for _, child := range list {
			p.take(child)
		}
		return nil
	} else if !errors.As(err, &typed) {
		return err
	}
	var fields map[any]floatProbe
	if err := read(&fields); err == nil {
		for _, child := range fields {
			p.take(child)
		}
		return nil
	} else if !errors.As(err, &typed) {
		return err
	}
	return p.scalar(read)
}

func (p *floatProbe) take(child floatProbe) {
	if p.problem == nil {
		*p = child
	}
}

func (p *floatProbe) scalar(read func(any) error) error {
	var value any
	var text string
	if err := read(&value); err != nil {
		return err
	}
	number, ok := value.(float64)
	if !ok {
		return nil
	}
	if err := read(&text); err != nil {
		return err
	}
	if _, err := parseNumber(text); err != nil {
		*p = floatProbe{problem: err, number: number}
	}
	return nil
}

// findNumber finds the first place, in the order of the keys, that holds a number; the root when none does.
func findNumber(node any, number any, where *trail) *trail {
	switch n := node.(type) {
	case map[string]any:
		for _, key := range sortedKeys(n) {
			if found := findNumber(n[key], number, where.at(key)); found != nil {
				return found
			}
		}
	case []any:
		for i, element := range n {
			if found := findNumber(element, number, where.index(i)); found != nil {
				return found
			}
		}
	default:
		if n != nil && equalNumbers(n, number) {
			return where
		}
	}
	return nil
}
