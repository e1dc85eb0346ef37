package registry

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// The kinds that the registry itself writes and reads. They are the same on every cluster, so no discovery is needed for them.
var (
	kubeFedClusterKind      = kind("core.kubefed.io", "v1beta1", "KubeFedCluster", "kubefedclusters", true)
	crdKind                 = kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false)
	federatedTypeConfigKind = kind("core.kubefed.io", "v1beta1", "FederatedTypeConfig", "federatedtypeconfigs", true)

	namespaceKind      = kind("", "v1", "Namespace", "namespaces", false)
	secretKind         = kind("", "v1", "Secret", "secrets", true)
	serviceAccountKind = kind("", "v1", "ServiceAccount", "serviceaccounts", true)
	nodeKind           = kind("", "v1", "Node", "nodes", false)
	podKind            = kind("", "v1", "Pod", "pods", true)

	clusterRoleKind        = kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false)
	clusterRoleBindingKind = kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false)
	roleKind               = kind("rbac.authorization.k8s.io", "v1", "Role", "roles", true)
	roleBindingKind        = kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", true)
)

func kind(group, version, name, resource string, namespaced bool) member.Kind {
	return member.Kind{
		GVK: schema.GroupVersionKind{Group: group, Version: version, Kind: name}, Resource: resource, Namespaced: namespaced, Listable: true,
	}
}

func object(k member.Kind, namespace, name string) member.Object {
	return member.Object{Kind: k, Namespace: namespace, Name: name}
}
