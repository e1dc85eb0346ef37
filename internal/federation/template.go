package federation

import (
	"fmt"
	"slices"
	"strings"
)

// TemplateOptions is what is known of a template's kind beside the template.
type TemplateOptions struct {
	// Namespaced is the scope of the kind, nil when not known yet: then the namespace stays as written.
	Namespaced *bool
	// DefaultNamespace is for a namespaced kind whose template names no namespace; empty means "default".
	DefaultNamespace string
	// HasStatus says that the kind has a status subresource: only then is status the server's.
	HasStatus bool
}

// Normalize brings a template to the form in which it is rendered and sent, and refuses what cannot work on several members. It returns
// a copy: nulls dropped, {} and [] kept, stringData of a Secret turned into data, the namespace filled in, fields of the server
// left out. Warnings say what was left out and what will hurt. Paths of InputErrors begin at the template.
func Normalize(tree map[string]any, o TemplateOptions) (out map[string]any, warnings []string, err error) {
	out, err = withoutNulls(tree)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := Identify(out); err != nil {
		return nil, nil, err
	}
	findings := slices.Concat(setNamespace(out, o), textMaps(out), ownMarks(out), tokenSecret(out), mergeStringData(out), duplicateKeys(out))
	if len(findings) > 0 {
		return nil, nil, joinFindings(findings)
	}
	if stripped := stripServerFields(out, o.HasStatus); len(stripped) > 0 {
		warnings = append(warnings, fmt.Sprintf("Fields of the server in the template are not sent: %s.", strings.Join(stripped, ", ")))
	}
	if perCluster := allocatedFields(out); len(perCluster) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: each cluster allocates its own; sent to every member as they are, they may be "+
			"taken there. Leave them out, or set them by override where one member needs them.", strings.Join(perCluster, ", ")))
	}
	return out, append(warnings, fileModes(out)...), nil
}

// setNamespace fills in the namespace of a namespaced kind, and refuses one on any other.
func setNamespace(tree map[string]any, o TemplateOptions) []*InputError {
	metadata, _ := tree["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	if o.Namespaced == nil {
		return nil
	}
	if *o.Namespaced {
		if namespace == "" {
			metadata["namespace"] = defaultTo(o.DefaultNamespace, "default")
		}
		return nil
	}
	if namespace != "" {
		return []*InputError{{Path: []string{"metadata", "namespace"}, Summary: "Namespace on a cluster-scoped kind",
			Detail: fmt.Sprintf("Kind %v is cluster-scoped: remove metadata.namespace %q.", tree["kind"], namespace)}}
	}
	delete(metadata, "namespace")
	return nil
}

func defaultTo(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// allocatedFields lists, as JSON pointers, the fields of a Service that each cluster allocates for itself.
func allocatedFields(tree map[string]any) []string {
	if tree["kind"] != "Service" || tree["apiVersion"] != "v1" {
		return nil
	}
	spec, _ := tree["spec"].(map[string]any)
	var found []string
	if ip, ok := spec["clusterIP"].(string); ok && ip != "" && ip != "None" {
		found = append(found, "/spec/clusterIP")
	}
	ips, _ := spec["clusterIPs"].([]any)
	if slices.ContainsFunc(ips, func(ip any) bool { return ip != "None" && ip != "" }) {
		found = append(found, "/spec/clusterIPs")
	}
	if port, there := spec["healthCheckNodePort"]; there && !equalValues(port, int64(0)) {
		found = append(found, "/spec/healthCheckNodePort")
	}
	ports, _ := spec["ports"].([]any)
	for i, element := range ports {
		fields, _ := element.(map[string]any)
		if port, there := fields["nodePort"]; there && !equalValues(port, int64(0)) {
			found = append(found, pointerOf("spec", "ports", fmt.Sprint(i), "nodePort"))
		}
	}
	return found
}

// fileModes warns of file modes that cannot be meant. Terraform's yamldecode reads 0644 as 644, where kubectl reads octal: 420.
func fileModes(tree map[string]any) []string {
	pod, ok := findPodSpec(tree)
	if !ok {
		return nil
	}
	var found []string
	volumes, _ := pod.fields["volumes"].([]any)
	for i, volume := range volumes {
		where := (&trail{}).at("volumes").index(i)
		found = append(found, modesAbove(volume, where, pod.path)...)
	}
	if len(found) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: larger than 0777. A file mode that was read by yamldecode lost its octal notation (0644 became 644): "+
		"give the template as text, or write the mode in decimal (0644 is 420).", strings.Join(found, ", "))}
}

// modesAbove lists the defaultMode and mode fields above 0777 in a volume.
func modesAbove(node any, where *trail, prefix []string) []string {
	var found []string
	switch n := node.(type) {
	case map[string]any:
		for _, key := range sortedKeys(n) {
			mode, isNumber := n[key].(int64)
			if isNumber && (key == "mode" || key == "defaultMode") && mode > 0o777 {
				found = append(found, pointerOf(append(append([]string{}, prefix...), where.at(key).steps()...)...))
				continue
			}
			found = append(found, modesAbove(n[key], where.at(key), prefix)...)
		}
	case []any:
		for i, element := range n {
			found = append(found, modesAbove(element, where.index(i), prefix)...)
		}
	}
	return found
}
