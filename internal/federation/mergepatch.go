package federation

import "fmt"

// ParseMergePatch reads a merge patch (RFC 7386) from JSON or YAML text. It must be a map: anything else would replace the whole object.
func ParseMergePatch(text string) (any, error) {
	value, err := DecodeValue(text)
	if err != nil {
		return nil, err
	}
	return value, validateMergePatch(value)
}

// validateMergePatch refuses a patch that is no map; nil means that there is none.
func validateMergePatch(patch any, path ...string) error {
	if _, ok := patch.(map[string]any); ok || patch == nil {
		return nil
	}
	return &InputError{Path: path, Summary: "Invalid merge patch",
		Detail: fmt.Sprintf("A merge patch is a map, but this is %s, which would replace the whole object.", kindOfValue(patch))}
}

// MergePatch merges a patch into a target as RFC 7386 says: maps are merged, null removes, anything else replaces. Neither is changed,
// and the result shares nothing with the patch.
func MergePatch(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return plainCopy(patch)
	}
	old, _ := target.(map[string]any)
	out := make(map[string]any, len(old)+len(fields))
	for key, value := range old {
		if _, patched := fields[key]; !patched {
			out[key] = plainCopy(value)
		}
	}
	for key, value := range fields {
		if value != nil {
			out[key] = MergePatch(old[key], value)
		}
	}
	return out
}

// plainCopy copies maps and lists and keeps everything else as it is.
func plainCopy(v any) any {
	switch value := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, child := range value {
			out[key] = plainCopy(child)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, child := range value {
			out[i] = plainCopy(child)
		}
		return out
	}
	return v
}
