package federation

import (
	"fmt"
	"strconv"
	"strings"
)

// keyedList is a list whose elements Kubernetes tells apart by key fields. Server-side apply refuses two elements with the same key.
type keyedList struct {
	// path leads to the list from the object, or from the pod spec or container it belongs to.
	path []string
	keys []string
}

// Lists of any object, of pods and of containers; from the listMapKeys of Kubernetes' own OpenAPI schema.
var (
	objectLists = []keyedList{{[]string{"metadata", "ownerReferences"}, []string{"uid"}}}
	podLists    = []keyedList{
		{[]string{"initContainers"}, []string{"name"}},
		{[]string{"containers"}, []string{"name"}},
		{[]string{"ephemeralContainers"}, []string{"name"}},
		{[]string{"volumes"}, []string{"name"}},
		{[]string{"imagePullSecrets"}, []string{"name"}},
		{[]string{"hostAliases"}, []string{"ip"}},
		{[]string{"resourceClaims"}, []string{"name"}},
		{[]string{"schedulingGates"}, []string{"name"}},
		{[]string{"topologySpreadConstraints"}, []string{"topologyKey", "whenUnsatisfiable"}},
	}
	containerKeyedLists = []keyedList{
		{[]string{"env"}, []string{"name"}},
		{[]string{"ports"}, []string{"containerPort", "protocol"}},
		{[]string{"volumeMounts"}, []string{"mountPath"}},
		{[]string{"volumeDevices"}, []string{"devicePath"}},
	}
)

// kindLists are the keyed lists of single kinds, by group and kind.
var kindLists = map[string][]keyedList{
	"/Service":        {{[]string{"spec", "ports"}, []string{"port", "protocol"}}},
	"/ServiceAccount": {{[]string{"secrets"}, []string{"name"}}},
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":   {{[]string{"webhooks"}, []string{"name"}}},
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration": {{[]string{"webhooks"}, []string{"name"}}},
}

// keyDefaults are what an API server takes for a key field that is not there.
var keyDefaults = map[string]string{"protocol": "TCP"}

// duplicateKeys finds elements with the same key in the keyed lists of an object.
func duplicateKeys(tree map[string]any) []*InputError {
	findings := inLists(tree, objectLists, nil)
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	findings = append(findings, inLists(tree, kindLists[group+"/"+kind], nil)...)
	pod, ok := findPodSpec(tree)
	if !ok {
		return findings
	}
	findings = append(findings, inLists(pod.fields, podLists, pod.path)...)
	for _, list := range containerLists {
		elements, _ := pod.fields[list].([]any)
		for i, element := range elements {
			if fields, ok := element.(map[string]any); ok {
				path := append(append([]string{}, pod.path...), list, strconv.Itoa(i))
				findings = append(findings, inLists(fields, containerKeyedLists, path)...)
			}
		}
	}
	return findings
}

// inLists looks through lists below a node whose own path is given.
func inLists(node map[string]any, lists []keyedList, path []string) []*InputError {
	var findings []*InputError
	for _, list := range lists {
		value, _ := valueAt(node, list.path)
		elements, _ := value.([]any)
		first := make(map[string]int, len(elements))
		for i, element := range elements {
			key, ok := list.keyOf(element)
			if !ok {
				continue
			}
			before, twice := first[key]
			if !twice {
				first[key] = i
				continue
			}
			where := append(append([]string{}, path...), list.path...)
			findings = append(findings, &InputError{Path: append(where, strconv.Itoa(i)), Summary: "Duplicate list key",
				Detail: fmt.Sprintf("%s has two elements with %s, at indexes %d and %d. Server-side apply tells them apart by it: "+
					"keep one.", pointerOf(where...), key, before, i)})
		}
	}
	return findings
}

// keyOf spells out the key of an element; ok is false when a part of it is missing, which the API server will say itself.
func (l keyedList) keyOf(element any) (string, bool) {
	fields, ok := element.(map[string]any)
	if !ok {
		return "", false
	}
	parts := make([]string, len(l.keys))
	for i, key := range l.keys {
		value, there := fields[key]
		if fallback, ok := keyDefaults[key]; ok && (!there || value == "") {
			value, there = fallback, true
		}
		if !there {
			return "", false
		}
		parts[i] = fmt.Sprintf("%s %q", key, fmt.Sprint(value))
	}
	return strings.Join(parts, " and "), true
}
