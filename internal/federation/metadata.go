package federation

import (
	"fmt"
	"slices"
	"strings"
)

// MarkPrefix begins the labels and annotations by which the provider knows its own objects. Users must not set them.
const MarkPrefix = "terraform.kubefed.io/"

// OptOutLabel is KubeFed's label by which, set to "false", an object on a member asks every federation to leave it alone.
const OptOutLabel = "kubefed.io/managed"

// metadataMaps are the maps in metadata that users fill.
var metadataMaps = []string{"labels", "annotations"}

// setMetadata sets the labels and annotations of an entry on an object.
func setMetadata(tree map[string]any, o Override) error {
	for _, attribute := range metadataMaps {
		wanted := o.Labels
		if attribute == "annotations" {
			wanted = o.Annotations
		}
		if len(wanted) == 0 {
			continue
		}
		if err := validateMarks(wanted, attribute); err != nil {
			return err
		}
		metadata, ok := tree["metadata"].(map[string]any)
		if !ok {
			return &InputError{Summary: "Override breaks the identity", Detail: "After json_patch and merge_patch the object has no metadata."}
		}
		current, ok := metadata[attribute].(map[string]any)
		if !ok && metadata[attribute] != nil {
			return &InputError{Path: []string{attribute}, Summary: "Invalid " + attribute,
				Detail: fmt.Sprintf("metadata.%s must be a map, but is %s.", attribute, kindOfValue(metadata[attribute]))}
		}
		if current == nil {
			current = make(map[string]any, len(wanted))
		}
		for key, value := range wanted {
			current[key] = value
		}
		metadata[attribute] = current
	}
	return nil
}

// validateMarks refuses the provider's own keys in labels or annotations.
func validateMarks(values map[string]string, attribute string) error {
	var findings []*InputError
	for _, key := range sortedKeys(values) {
		if strings.HasPrefix(key, MarkPrefix) {
			findings = append(findings, reservedMark(key, attribute, key))
		}
	}
	return joinFindings(findings)
}

// ownMarks refuses the provider's own keys in the labels and annotations of an object.
func ownMarks(tree map[string]any) []*InputError {
	var findings []*InputError
	metadata, _ := tree["metadata"].(map[string]any)
	for _, attribute := range metadataMaps {
		values, _ := metadata[attribute].(map[string]any)
		for _, key := range sortedKeys(values) {
			if strings.HasPrefix(key, MarkPrefix) {
				findings = append(findings, reservedMark(key, "metadata", attribute, key))
			}
		}
	}
	return append(findings, optOut(metadata)...)
}

// optOut refuses the label with which the object that is sent would ask not to be sent again.
func optOut(metadata map[string]any) []*InputError {
	labels, _ := metadata["labels"].(map[string]any)
	if labels[OptOutLabel] != "false" {
		return nil
	}
	return []*InputError{{Path: []string{"metadata", "labels", OptOutLabel}, Summary: "Reserved label", Detail: OptOutLabel +
		" = \"false\" is how an object on a member asks federations to leave it alone: it would be written once and never again. Remove it."}}
}

func reservedMark(key string, path ...string) *InputError {
	return &InputError{Path: path, Summary: "Reserved key", Detail: fmt.Sprintf("%s: keys that begin with %s are the provider's own "+
		"marks, by which it knows its objects. Remove it.", key, MarkPrefix)}
}

// serverFields are the fields of metadata that API servers fill.
var serverFields = []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
	"resourceVersion", "selfLink", "uid"}

// serverAnnotations are the annotations that a controller or kubectl writes and that would never settle when sent.
var serverAnnotations = []string{"deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration"}

// stripServerFields takes out what API servers own and returns what it found, as JSON pointers in order.
func stripServerFields(tree map[string]any, hasStatus bool) []string {
	var stripped []string
	metadata, _ := tree["metadata"].(map[string]any)
	for _, field := range serverFields {
		if _, there := metadata[field]; there {
			delete(metadata, field)
			stripped = append(stripped, pointerOf("metadata", field))
		}
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, key := range serverAnnotations {
		if _, there := annotations[key]; there {
			delete(annotations, key)
			stripped = append(stripped, pointerOf("metadata", "annotations", key))
			if len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		}
	}
	if _, there := tree["status"]; there && hasStatus {
		delete(tree, "status")
		stripped = append(stripped, "/status")
	}
	slices.Sort(stripped)
	return stripped
}
