package federation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// notJSONError says that a text is no sequence of JSON values by syntax, so that YAML is to be tried.
type notJSONError struct{ err error }

func (e *notJSONError) Error() string { return strings.TrimPrefix(e.err.Error(), "json: ") }

func (e *notJSONError) Unwrap() error { return e.err }

// looksLikeJSON tells whether a text begins as JSON does. YAML begins so too (flow style), hence only "looks".
func looksLikeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`)
}

// decodeJSON reads one or more JSON values behind each other. It answers a notJSONError for a text that is not JSON by syntax,
// and an InputError for JSON that cannot be kept as it is: a number too large, a key twice, nesting too deep.
func decodeJSON(text string) ([]any, error) {
	r := jsonReader{decoder: json.NewDecoder(strings.NewReader(text))}
	r.decoder.UseNumber()
	var values []any
	for {
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, &notJSONError{err}
		}
		value, err := r.value(token, &trail{}, 0)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
}

// jsonReader builds trees from the tokens of a JSON text. encoding/json by itself takes the last of two equal keys without a word.
type jsonReader struct{ decoder *json.Decoder }

func (r *jsonReader) value(token json.Token, where *trail, depth int) (any, error) {
	if depth > maxDepth {
		return nil, tooDeepError()
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(where, depth)
		}
		return r.list(where, depth)
	case json.Number:
		number, err := parseNumber(t.String())
		if err != nil {
			return nil, &InputError{Path: where.steps(), Summary: "Invalid number", Detail: at(where, err.Error())}
		}
		return number, nil
	default:
		return t, nil
	}
}

func (r *jsonReader) object(where *trail, depth int) (any, error) {
	out := map[string]any{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, &notJSONError{err}
		}
		key, ok := token.(string)
		if !ok {
			return nil, &notJSONError{errors.New("a key is not text")}
		}
		if _, twice := out[key]; twice {
			return nil, &InputError{Path: where.at(key).steps(), Summary: "Duplicate key",
				Detail: at(where, fmt.Sprintf("key %q is there twice", key))}
		}
		if token, err = r.decoder.Token(); err != nil {
			return nil, &notJSONError{err}
		}
		if out[key], err = r.value(token, where.at(key), depth+1); err != nil {
			return nil, err
		}
	}
	return out, r.end()
}

func (r *jsonReader) list(where *trail, depth int) (any, error) {
	out := []any{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, &notJSONError{err}
		}
		value, err := r.value(token, where.index(len(out)), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, r.end()
}

// end reads the bracket that closes a list or object.
func (r *jsonReader) end() error {
	if _, err := r.decoder.Token(); err != nil {
		return &notJSONError{err}
	}
	return nil
}

func tooDeepError() *InputError {
	return &InputError{Summary: "Nested too deeply",
		Detail: fmt.Sprintf("Lists and maps are nested more than %d levels deep.", maxDepth)}
}

// at makes a sentence of a problem and the place it is at.
func at(where *trail, problem string) string {
	if pointer := where.pointer(); pointer != "" {
		return pointer + ": " + problem + "."
	}
	return sentence(problem)
}
