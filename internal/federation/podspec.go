package federation

import (
	"fmt"
	"strings"
)

// podSpec is the spec of the pods an object makes.
type podSpec struct {
	fields map[string]any
	// path are the tokens of its JSON pointer.
	path []string
}

// container is one container of a pod, of any of its three lists.
type container struct {
	name   string
	fields map[string]any
}

// containerLists are the lists of containers in a pod spec.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

// findPodSpec finds the spec of the pods of an object: of a Pod, a PodTemplate, a CronJob, and whatever has a pod template at
// /spec/template/spec, custom resources included.
func findPodSpec(tree map[string]any) (podSpec, bool) {
	paths := [][]string{{"spec", "jobTemplate", "spec", "template", "spec"}, {"spec", "template", "spec"}}
	if tree["apiVersion"] == "v1" {
		switch tree["kind"] {
		case "Pod":
			paths = [][]string{{"spec"}}
		case "PodTemplate":
			paths = [][]string{{"template", "spec"}}
		}
	}
	for _, path := range paths {
		value, _ := valueAt(tree, path)
		fields, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if _, ok := fields["containers"].([]any); ok {
			return podSpec{fields: fields, path: path}, true
		}
	}
	return podSpec{}, false
}

// containers lists the containers of all three lists, in that order.
func (p podSpec) containers() []container {
	var all []container
	for _, list := range containerLists {
		elements, _ := p.fields[list].([]any)
		for _, element := range elements {
			if fields, ok := element.(map[string]any); ok {
				name, _ := fields["name"].(string)
				all = append(all, container{name: name, fields: fields})
			}
		}
	}
	return all
}

// named returns the container of a name, or all of them for "*". An unknown name is an InputError at path that lists those there.
func (p podSpec) named(name string, path []string) ([]container, error) {
	all := p.containers()
	if name == "*" && len(all) > 0 {
		return all, nil
	}
	var found []container
	names := make([]string, 0, len(all))
	for _, c := range all {
		if c.name == name {
			found = append(found, c)
		}
		names = append(names, c.name)
	}
	if len(found) > 0 {
		return found, nil
	}
	detail := fmt.Sprintf("There is no container %q: the object has %s.", name, quotedList(names))
	if len(names) == 0 {
		detail = "The object has no containers."
	}
	return nil, &InputError{Path: path, Summary: "Unknown container", Detail: detail}
}

// changeContainers applies images, env and args of an entry to the pod of an object.
func changeContainers(tree map[string]any, o Override) ([]string, error) {
	attribute := ""
	switch {
	case len(o.Images) > 0:
		attribute = "images"
	case len(o.Env) > 0:
		attribute = "env"
	case len(o.Args) > 0:
		attribute = "args"
	default:
		return nil, nil
	}
	pod, ok := findPodSpec(tree)
	if !ok {
		return nil, &InputError{Path: []string{attribute}, Summary: "No containers", Detail: fmt.Sprintf("Kind %v has no containers: "+
			"images, env and args change Pods and kinds with a pod template.", tree["kind"])}
	}
	if err := setImages(pod, o.Images); err != nil {
		return nil, err
	}
	if err := setEnv(pod, o.Env); err != nil {
		return nil, err
	}
	return setArgs(pod, o.Args)
}

// quotedList writes names as "a", "b" and "c".
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " and " + quoted[len(quoted)-1]
}
