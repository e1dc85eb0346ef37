package federation

import (
	"fmt"
	"slices"
	"strings"
)

// builtinScaled are the kinds of Kubernetes itself that have spec.replicas, as group/kind.
var builtinScaled = []string{"apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "/ReplicationController"}

// SetReplicas sets spec.replicas of a rendered object; it changes the tree. Kinds of Kubernetes itself that have no spec.replicas
// are refused; a custom resource is taken to have it. Errors are InputErrors at "replicas".
func SetReplicas(tree map[string]any, n int64) error {
	refuse := func(format string, args ...any) error {
		return &InputError{Path: []string{"replicas"}, Summary: "Invalid replicas", Detail: fmt.Sprintf(format, args...)}
	}
	if n < 0 {
		return refuse("%d is negative.", n)
	}
	_, id, err := Identify(tree)
	if err != nil {
		return err
	}
	if isBuiltin(id.Group) && !slices.Contains(builtinScaled, id.Group+"/"+id.Kind) {
		hint := ""
		if id.Kind == "Job" || id.Kind == "CronJob" {
			hint = " Use json_patch for parallelism, or kubefed_replica_scheduling_preference, which divides Jobs."
		}
		return refuse("Kind %s has no spec.replicas.%s", id.Kind, hint)
	}
	spec, ok := tree["spec"].(map[string]any)
	if !ok && tree["spec"] != nil {
		return refuse("spec must be a map, but is %s.", kindOfValue(tree["spec"]))
	}
	if spec == nil {
		spec = map[string]any{}
		tree["spec"] = spec
	}
	spec["replicas"] = n
	return nil
}

// isBuiltin tells whether an API group is Kubernetes' own: those without a dot, and those below k8s.io that are not marked as
// community extensions (x-k8s.io is another domain).
func isBuiltin(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
