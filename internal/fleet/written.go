package fleet

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// components are the parts of Kubernetes that write into objects for a cluster: where a pod runs, to what volume a claim is bound.
var components = []string{"kube-apiserver", "kube-controller-manager", "cloud-controller-manager", "kube-scheduler", "kubelet"}

// writtenBySomeone is an object without what belongs to the API server or to one cluster: the fields that some manager wrote, the status aside,
// and what Kubernetes itself wrote only where nobody else has written anything.
func writtenBySomeone(live *unstructured.Unstructured) map[string]any {
	owned, byComponents := fieldpath.NewSet(), fieldpath.NewSet()
	for _, entry := range live.GetManagedFields() {
		fields, err := member.Fields(entry)
		switch {
		case err != nil || entry.Subresource != "":
		case slices.Contains(components, entry.Manager):
			byComponents = byComponents.Union(fields)
		default:
			owned = owned.Union(fields)
		}
	}
	if owned.Empty() {
		owned = byComponents
	}
	tree := live.DeepCopy()
	if !owned.Empty() {
		part, _ := member.Project(tree.Object, owned).(map[string]any)
		tree = &unstructured.Unstructured{Object: part}
	}
	metadata := map[string]any{"name": live.GetName()}
	if live.GetNamespace() != "" {
		metadata["namespace"] = live.GetNamespace()
	}
	keepTexts(metadata, "labels", tree.GetLabels(), member.OwnerLabel)
	keepTexts(metadata, "annotations", tree.GetAnnotations(), member.OwnerAnnotation, member.ResourceAnnotation,
		"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision")
	tree.Object["metadata"] = metadata
	tree.SetAPIVersion(live.GetAPIVersion())
	tree.SetKind(live.GetKind())
	delete(tree.Object, "status")
	if live.GetAPIVersion() == "v1" {
		switch live.GetKind() {
		case "Service":
			withoutAllocations(tree.Object)
		case "ServiceAccount":
			withoutTokens(tree.Object, live.GetName())
		case "Pod":
			withoutTokenVolume(tree.Object)
		}
	}
	return tree.Object
}

func keepTexts(metadata map[string]any, key string, texts map[string]string, leave ...string) {
	kept := map[string]any{}
	for name, text := range texts {
		kept[name] = text
	}
	for _, name := range leave {
		delete(kept, name)
	}
	if len(kept) > 0 {
		metadata[key] = kept
	}
}

// withoutAllocations drops what each cluster allocates to a Service for itself.
func withoutAllocations(service map[string]any) {
	spec, _ := service["spec"].(map[string]any)
	if ip, _ := spec["clusterIP"].(string); ip != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	for _, field := range []string{"healthCheckNodePort", "ipFamilies", "ipFamilyPolicy"} {
		delete(spec, field)
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, ok := p.(map[string]any); ok {
			delete(port, "nodePort")
		}
	}
}

// generatedSecret is what the end of a name looks like of which a cluster made a Secret for an account.
var generatedSecret = regexp.MustCompile(`^-(token|dockercfg)-[a-z0-9]{5}$`)

// withoutTokens drops the Secrets that a cluster made for an account.
func withoutTokens(account map[string]any, name string) {
	for _, list := range []string{"secrets", "imagePullSecrets"} {
		keepElements(account, list, func(reference map[string]any) bool {
			secret, _ := reference["name"].(string)
			ending, ofAccount := strings.CutPrefix(secret, name)
			return !ofAccount || !generatedSecret.MatchString(ending)
		})
	}
}

// tokenMount is where every cluster mounts the token of a pod's account by itself.
const tokenMount = "/var/run/secrets/kubernetes.io/serviceaccount"

// withoutTokenVolume drops the volume that holds the token of a pod's account, which is named anew for every pod, and which node it runs on.
func withoutTokenVolume(pod map[string]any) {
	spec, _ := pod["spec"].(map[string]any)
	delete(spec, "nodeName")
	var volumes []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		containers, _ := spec[list].([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			keepElements(container, "volumeMounts", func(mount map[string]any) bool {
				if mount["mountPath"] != tokenMount {
					return true
				}
				name, _ := mount["name"].(string)
				volumes = append(volumes, name)
				return false
			})
		}
	}
	keepElements(spec, "volumes", func(volume map[string]any) bool {
		name, _ := volume["name"].(string)
		return !slices.Contains(volumes, name)
	})
}

// keepElements leaves out of a list of objects what keep does not want, and the list if nothing is left.
func keepElements(tree map[string]any, list string, keep func(map[string]any) bool) {
	elements, there := tree[list].([]any)
	if !there {
		return
	}
	elements = slices.DeleteFunc(elements, func(e any) bool {
		element, ok := e.(map[string]any)
		return ok && !keep(element)
	})
	if tree[list] = elements; len(elements) == 0 {
		delete(tree, list)
	}
}
