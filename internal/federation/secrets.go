package federation

import "encoding/base64"

// isSecret tells whether an object is a Secret of the core group.
func isSecret(tree map[string]any) bool {
	return tree["kind"] == "Secret" && tree["apiVersion"] == "v1"
}

// mergeStringData turns stringData of a Secret into data, as the API server does: stringData wins where both have a key. Sent as it is,
// server-side apply would own stringData, never data, and a key that is dropped later would stay.
func mergeStringData(tree map[string]any) []*InputError {
	if !isSecret(tree) || tree["stringData"] == nil {
		return nil
	}
	plain, ok := tree["stringData"].(map[string]any)
	if !ok {
		return []*InputError{notText([]string{"stringData"}, "a map", tree["stringData"])}
	}
	data, ok := tree["data"].(map[string]any)
	if !ok && tree["data"] != nil {
		return nil // textMaps says it
	}
	if data == nil {
		data = make(map[string]any, len(plain))
	}
	var findings []*InputError
	for _, key := range sortedKeys(plain) {
		text, ok := plain[key].(string)
		if !ok {
			findings = append(findings, notText([]string{"stringData", key}, "text (quote it)", plain[key]))
			continue
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(tree, "stringData")
	if len(data) > 0 || tree["data"] != nil {
		tree["data"] = data
	}
	return findings
}

// tokenSecret refuses a Secret that only means something on the member whose controller fills it.
func tokenSecret(tree map[string]any) []*InputError {
	if !isSecret(tree) || tree["type"] != "kubernetes.io/service-account-token" {
		return nil
	}
	return []*InputError{{Path: []string{"type"}, Summary: "Token Secret", Detail: "A Secret of type " +
		"kubernetes.io/service-account-token holds the token of one member's service account, filled in by that member; it means " +
		"nothing on the others. Federate the ServiceAccount, and let each member issue its own token."}}
}
