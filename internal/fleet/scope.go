package fleet

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Scope is what of a kind planned values depend on.
type Scope struct {
	Namespaced bool `json:"namespaced"`
	Status     bool `json:"status"` // has a status subresource
}

// clusterScoped are the kinds of Kubernetes itself that live in no namespace; all its others do. It is asked where no member can be: all
// that a placement names are joined by the same run.
var clusterScoped = map[schema.GroupKind]bool{}

func init() {
	for group, kinds := range map[string]string{
		"":                             "Namespace Node PersistentVolume ComponentStatus",
		"admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding",
		"apiextensions.k8s.io":         "CustomResourceDefinition",
		"apiregistration.k8s.io":       "APIService",
		"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle",
		"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
		"networking.k8s.io":            "IngressClass IPAddress ServiceCIDR",
		"node.k8s.io":                  "RuntimeClass",
		"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding",
		"resource.k8s.io":              "DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice",
		"scheduling.k8s.io":            "PriorityClass",
		"storage.k8s.io":               "StorageClass CSIDriver CSINode VolumeAttachment VolumeAttributesClass",
	} {
		for _, kind := range strings.Fields(kinds) {
			clusterScoped[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
}

// builtinGroups are the API groups of Kubernetes itself.
var builtinGroups = map[string]bool{
	"": true, "apps": true, "batch": true, "autoscaling": true, "policy": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true, "flowcontrol.apiserver.k8s.io": true,
	"networking.k8s.io": true, "node.k8s.io": true, "rbac.authorization.k8s.io": true, "resource.k8s.io": true,
	"scheduling.k8s.io": true, "storage.k8s.io": true,
}

// builtinScope answers for the kinds of Kubernetes itself, and nil for all others.
func builtinScope(kind schema.GroupKind) *Scope {
	if !builtinGroups[kind.Group] {
		return nil
	}
	return &Scope{Namespaced: !clusterScoped[kind], Status: true}
}

// scopeOf finds the scope of a kind: known for Kubernetes' own kinds, announced by a CustomResourceDefinition of the same run, or asked
// from the members; nil when nobody can say.
func (f *Fleet) scopeOf(ctx context.Context, gvk schema.GroupVersionKind, members []string) *Scope {
	if scope := builtinScope(gvk.GroupKind()); scope != nil {
		return scope
	}
	if scope := f.memory.announcedScope(gvk.GroupKind()); scope != nil {
		return scope
	}
	found := each(ctx, f, members, func(ctx context.Context, name string) *Scope {
		kind, err := f.kindOn(ctx, name, gvk)
		if err != nil {
			return nil
		}
		return &Scope{Namespaced: kind.Namespaced, Status: kind.HasStatus}
	})
	for _, scope := range found {
		if scope != nil {
			return scope
		}
	}
	return nil
}

// kindOn asks one member how it serves a kind.
func (f *Fleet) kindOn(ctx context.Context, name string, gvk schema.GroupVersionKind) (member.Kind, error) {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return member.Kind{}, err
	}
	kinds, err := m.Kinds(ctx)
	if err != nil {
		return member.Kind{}, err
	}
	return kinds.Find(gvk)
}
