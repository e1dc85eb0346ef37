package federation

import "fmt"

// textMaps refuses labels, annotations and data of ConfigMaps and Secrets that are no maps of text: a number or boolean in them is
// the usual mistake, and what the API server says of it quotes the value.
func textMaps(tree map[string]any) []*InputError {
	paths := [][]string{{"metadata", "labels"}, {"metadata", "annotations"}}
	if tree["apiVersion"] == "v1" && (tree["kind"] == "ConfigMap" || tree["kind"] == "Secret") {
		paths = append(paths, []string{"data"}, []string{"binaryData"})
	}
	var findings []*InputError
	for _, path := range paths {
		found, _ := valueAt(tree, path)
		fields, isMap := found.(map[string]any)
		if !isMap && found != nil {
			findings = append(findings, notText(path, "a map", found))
		}
		for _, key := range sortedKeys(fields) {
			if _, isText := fields[key].(string); !isText {
				findings = append(findings, notText(append(append([]string{}, path...), key), "text (quote it)", fields[key]))
			}
		}
	}
	return findings
}

func notText(path []string, what string, found any) *InputError {
	return &InputError{Path: path, Summary: "Invalid value",
		Detail: fmt.Sprintf("%s must be %s, but is %s.", pointerOf(path...), what, kindOfValue(found))}
}
