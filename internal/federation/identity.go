package federation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ID says which object something is, on whatever member. The API version is no part of it: a new version is the same object.
type ID struct {
	// Group is the API group, empty for the core group.
	Group string
	// Kind is the object's kind.
	Kind string
	// Namespace is empty for cluster-scoped objects.
	Namespace string
	// Name is metadata.name.
	Name string
}

// String gives the id as users see it: apps/Deployment/default/nginx, core/ConfigMap/default/x, core/Namespace/team.
func (id ID) String() string {
	group := id.Group
	if group == "" {
		group = "core"
	}
	parts := []string{group, id.Kind}
	if id.Namespace != "" {
		parts = append(parts, id.Namespace)
	}
	return strings.Join(append(parts, id.Name), "/")
}

// Identify reads from a manifest what it says it is: the API version and the id, with the namespace the manifest itself names. What is
// missing or malformed is an InputError at its path; so is generateName, which would give every member another name.
func Identify(tree map[string]any) (apiVersion string, id ID, err error) {
	r := identityReader{tree: tree}
	apiVersion = r.text("apiVersion")
	id.Kind = r.text("kind")
	if apiVersion != "" {
		id.Group = r.group(apiVersion)
	}
	if id.Kind != "" && len(validation.IsDNS1035Label(strings.ToLower(id.Kind))) > 0 {
		r.refuse("Invalid kind", fmt.Sprintf("%q is not a kind.", id.Kind), "kind")
	}
	metadata, ok := tree["metadata"].(map[string]any)
	if !ok {
		r.refuse("Missing metadata", missingMetadata(tree), "metadata")
		return apiVersion, id, joinFindings(r.findings)
	}
	id.Name, id.Namespace = r.name(metadata), r.namespace(metadata)
	return apiVersion, id, joinFindings(r.findings)
}

func missingMetadata(tree map[string]any) string {
	if value, there := tree["metadata"]; there && value != nil {
		return fmt.Sprintf("metadata must be a map with a name, but is %s.", kindOfValue(value))
	}
	return "The manifest needs metadata with a name."
}

// identityReader gathers what is wrong with a manifest's identity.
type identityReader struct {
	tree     map[string]any
	findings []*InputError
}

func (r *identityReader) refuse(summary, detail string, steps ...string) {
	r.findings = append(r.findings, &InputError{Path: steps, Summary: summary, Detail: detail})
}

// text reads a required text field of the root.
func (r *identityReader) text(field string) string {
	value := r.tree[field]
	text, isText := value.(string)
	switch {
	case value == nil || text == "" && isText:
		r.refuse("Missing "+field, fmt.Sprintf("The manifest has no %s.", field), field)
	case !isText:
		r.refuse("Invalid "+field, fmt.Sprintf("%s must be text, but is %s.", field, kindOfValue(value)), field)
	}
	return text
}

func (r *identityReader) group(apiVersion string) string {
	parsed, err := schema.ParseGroupVersion(apiVersion)
	group, _, hasGroup := strings.Cut(apiVersion, "/")
	malformed := err != nil || hasGroup && len(validation.IsDNS1123Subdomain(group)) > 0
	if malformed || len(validation.IsDNS1035Label(parsed.Version)) > 0 {
		r.refuse("Invalid apiVersion", fmt.Sprintf("%q is not an API version: write group/version (apps/v1), or the version alone "+
			"for the core group (v1).", apiVersion), "apiVersion")
	}
	return parsed.Group
}

func (r *identityReader) name(metadata map[string]any) string {
	if metadata["generateName"] != nil {
		r.refuse("Generated name", "metadata.generateName is not possible: every member would have an object of another name, and "+
			"server-side apply needs a name. Set metadata.name.", "metadata", "generateName")
		return ""
	}
	value := metadata["name"]
	name, isText := value.(string)
	switch {
	case value == nil || isText && name == "":
		r.refuse("Missing name", "The manifest has no metadata.name.", "metadata", "name")
	case !isText:
		r.refuse("Invalid name", fmt.Sprintf("metadata.name must be text, but is %s: quote it.", kindOfValue(value)), "metadata", "name")
	default:
		if problems := content.IsPathSegmentName(name); len(problems) > 0 {
			r.refuse("Invalid name", fmt.Sprintf("metadata.name %q %s.", name, strings.Join(problems, "; ")), "metadata", "name")
		}
	}
	return name
}

func (r *identityReader) namespace(metadata map[string]any) string {
	value := metadata["namespace"]
	namespace, isText := value.(string)
	switch {
	case value == nil || isText && namespace == "":
	case !isText:
		r.refuse("Invalid namespace", fmt.Sprintf("metadata.namespace must be text, but is %s: quote it.", kindOfValue(value)),
			"metadata", "namespace")
	default:
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			r.refuse("Invalid namespace", fmt.Sprintf("metadata.namespace %q: %s.", namespace, strings.Join(problems, "; ")),
				"metadata", "namespace")
		}
	}
	return namespace
}
