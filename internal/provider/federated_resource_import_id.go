package provider

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

var (
	versionSegment = regexp.MustCompile(`^v[0-9][a-z0-9]*$`)
	kindSegment    = regexp.MustCompile(`^[A-Z]`) // of a kind as manifests write it; versions and groups are lower case
)

// parseImportID reads <apiVersion>/<Kind>/[<namespace>/]<name>. Of an id as the resource has it, <group>/<Kind>/[<namespace>/]<name>, the version
// stays empty: no member serves that, and importDiagnostic says how it is meant.
func parseImportID(text string) (schema.GroupVersionKind, federation.ID, error) {
	malformed := fmt.Errorf("%q is not of the form <apiVersion>/<Kind>/[<namespace>/]<name>, such as apps/v1/Deployment/default/nginx, v1/ConfigMap/default/settings or v1/Namespace/team", text)
	parts := strings.Split(text, "/")
	if slices.Contains(parts, "") {
		return schema.GroupVersionKind{}, federation.ID{}, malformed
	}
	gv := schema.GroupVersion{}
	switch {
	case versionSegment.MatchString(parts[0]):
		gv.Version, parts = parts[0], parts[1:]
	case len(parts) > 1 && kindSegment.MatchString(parts[1]):
		gv.Group, parts = parts[0], parts[1:]
		if gv.Group == "core" {
			gv.Group = ""
		}
	case len(parts) > 1:
		gv.Group, gv.Version, parts = parts[0], parts[1], parts[2:]
	}
	id := federation.ID{Group: gv.Group}
	switch len(parts) {
	case 2:
		id.Kind, id.Name = parts[0], parts[1]
	case 3:
		id.Kind, id.Namespace, id.Name = parts[0], parts[1], parts[2]
	default:
		return schema.GroupVersionKind{}, federation.ID{}, malformed
	}
	return gv.WithKind(id.Kind), id, nil
}

// importDiagnostic says why nothing was imported, with the id that is meant where it was not that.
func importDiagnostic(text string, gvk schema.GroupVersionKind, id federation.ID, err error) diag.Diagnostic {
	const invalid = "Invalid import id"
	var (
		scope    *fleet.ScopeError
		unserved *fleet.UnservedError
	)
	switch served := errors.As(err, &unserved); {
	case gvk.Version == "" && served:
		return diag.NewErrorDiagnostic(invalid, withoutVersion(text)+correctedIDs(gvk, id, unserved.Named)+".")
	case gvk.Version == "":
		return diag.NewErrorDiagnostic(invalid, withoutVersion(text)+correctedIDs(gvk, id, nil)+".")
	case served && len(unserved.Named) > 0:
		return diag.NewErrorDiagnostic(invalid, fmt.Sprintf("No member that answers serves %s %s; kinds are written as in a manifest. Import it as %s.", gvk.GroupVersion(), gvk.Kind, correctedIDs(gvk, id, unserved.Named)))
	case served:
		return diag.NewErrorDiagnostic(invalid, fmt.Sprintf("No member that answers serves %s %s. Correct apiVersion and kind, which are written as in a manifest, or install the API there first.", gvk.GroupVersion(), gvk.Kind))
	case errors.As(err, &scope):
		return diag.NewErrorDiagnostic(invalid, fmt.Sprintf("%s. Import it as %q.", scope, importID(gvk, id, scope.Namespaced)))
	}
	return diag.NewErrorDiagnostic("Unable to import "+id.String(), err.Error()+".")
}

func withoutVersion(text string) string {
	return fmt.Sprintf("%q names no version: that is how the id of the resource is written. Import it as ", text)
}

// correctedIDs are the ids by which the object is imported if its kind is one of those named: those of its own group, if there are any.
func correctedIDs(gvk schema.GroupVersionKind, id federation.ID, named []member.Kind) string {
	if slices.ContainsFunc(named, func(k member.Kind) bool { return k.GVK.Group == gvk.Group }) {
		named = slices.DeleteFunc(slices.Clone(named), func(k member.Kind) bool { return k.GVK.Group != gvk.Group })
	}
	if len(named) == 0 {
		gvk.Version = "<version>"
		if gvk.Group == "" {
			gvk.Version = "v1"
		}
		named = []member.Kind{{GVK: gvk, Namespaced: id.Namespace != ""}}
	}
	ids := make([]string, len(named))
	for i, kind := range named {
		ids[i] = fmt.Sprintf("%q", importID(kind.GVK, id, kind.Namespaced))
	}
	return strings.Join(ids, " or ")
}

// importID is how an object is imported whose kind lives in a namespace, or in none.
func importID(gvk schema.GroupVersionKind, id federation.ID, namespaced bool) string {
	parts := []string{gvk.GroupVersion().String(), gvk.Kind, id.Name}
	switch {
	case namespaced && id.Namespace == "":
		parts = slices.Insert(parts, 2, "<namespace>")
	case namespaced:
		parts = slices.Insert(parts, 2, id.Namespace)
	}
	return strings.Join(parts, "/")
}
