package provider

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestImportIDsAreReadWithAndWithoutGroupAndNamespace(t *testing.T) {
	for text, want := range map[string]struct {
		version string
		id      federation.ID
	}{
		"v1/Namespace/team":                {"v1", federation.ID{Kind: "Namespace", Name: "team"}},
		"v1/ConfigMap/default/x":           {"v1", federation.ID{Kind: "ConfigMap", Namespace: "default", Name: "x"}},
		"apps/v1/Deployment/default/nginx": {"v1", federation.ID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "nginx"}},
		"core/Namespace/team":              {"", federation.ID{Kind: "Namespace", Name: "team"}},
		"apps/Deployment/default/nginx":    {"", federation.ID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "nginx"}},
	} {
		gvk, id, err := parseImportID(text)
		if wantGVK := (schema.GroupVersionKind{Group: want.id.Group, Version: want.version, Kind: want.id.Kind}); err != nil || gvk != wantGVK || id != want.id {
			t.Errorf("%s: read is %v, %v (%v)", text, gvk, id, err)
		}
	}
	for _, text := range []string{"", "x", "ConfigMap/x", "v1/ConfigMap", "v1//default/x", "/v1/ConfigMap/default/x", "/ConfigMap/default/x", "core/ConfigMap/", "apps/v1/Deployment/default/nginx/x"} {
		if gvk, id, err := parseImportID(text); err == nil {
			t.Errorf("%q: read is %v, %v", text, gvk, id)
		}
	}
}

func TestAWrongImportIDIsCorrectedAsFarAsKnown(t *testing.T) {
	configMap := member.Kind{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespaced: true}
	namespace := member.Kind{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}}
	event := member.Kind{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Event"}, Namespaced: true}
	otherEvent := member.Kind{GVK: schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}, Namespaced: true}
	for _, c := range []struct {
		text  string
		named []member.Kind
		want  string
	}{
		{"core/ConfigMap/default/q", nil, `"v1/ConfigMap/default/q"`},
		{"apps/Deployment/default/nginx", nil, `"apps/<version>/Deployment/default/nginx"`},
		{"core/ConfigMap/q", []member.Kind{configMap}, `"v1/ConfigMap/<namespace>/q"`},
		{"v1/namespaces/default/q", []member.Kind{namespace}, `"v1/Namespace/q"`},
		{"v1/events/default/q", []member.Kind{event, otherEvent}, `"v1/Event/default/q"`},
		{"x/v1/events/default/q", []member.Kind{event, otherEvent}, `"v1/Event/default/q" or "events.k8s.io/v1/Event/default/q"`},
	} {
		gvk, id, err := parseImportID(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := correctedIDs(gvk, id, c.named); got != c.want {
			t.Errorf("%s: corrected is %s, want %s", c.text, got, c.want)
		}
	}
}

func TestAnImportThatNobodyAnswersStillCorrectsTheID(t *testing.T) {
	gvk, id, err := parseImportID("core/ConfigMap/default/q")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{errors.New("no member answers"), &fleet.UnservedError{GVK: gvk}} {
		const want = `"core/ConfigMap/default/q" names no version: that is how the id of the resource is written. Import it as "v1/ConfigMap/default/q".`
		if got := importDiagnostic("core/ConfigMap/default/q", gvk, id, err); got.Summary() != "Invalid import id" || got.Detail() != want {
			t.Errorf("told is %v", got)
		}
	}
}
