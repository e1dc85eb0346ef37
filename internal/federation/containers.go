package federation

import (
	"fmt"
	"slices"
	"strconv"
)

// EnvOverride sets an environment variable of containers.
type EnvOverride struct {
	// Container is a name, or "*" for every container.
	Container   string
	Name, Value string
}

// ArgsOverride changes the arguments of containers: first Remove, then Add at the end.
type ArgsOverride struct {
	// Container is a name, or "*" for every container.
	Container string
	// Add are arguments put at the end, Remove arguments taken out wherever they are equal.
	Add, Remove []string
}

// validateEnv checks env overrides.
func validateEnv(env []EnvOverride) error {
	var findings []*InputError
	for i, e := range env {
		for _, field := range []struct{ name, value string }{{"container", e.Container}, {"name", e.Name}} {
			if field.value == "" {
				findings = append(findings, &InputError{Path: []string{"env", strconv.Itoa(i), field.name}, Summary: "Invalid env override",
					Detail: field.name + " is missing."})
			}
		}
	}
	return joinFindings(findings)
}

// validateArgs checks args overrides.
func validateArgs(args []ArgsOverride) error {
	var findings []*InputError
	for i, a := range args {
		var problem string
		switch {
		case a.Container == "":
			problem = `container is missing: give a name, or "*" for every container.`
		case len(a.Add) == 0 && len(a.Remove) == 0:
			problem = "The entry changes nothing: set add or remove."
		default:
			continue
		}
		findings = append(findings, &InputError{Path: []string{"args", strconv.Itoa(i), "container"}, Summary: "Invalid args override",
			Detail: problem})
	}
	return joinFindings(findings)
}

// setEnv sets environment variables: one that is there keeps its place in the list, where references between variables depend on it.
func setEnv(pod podSpec, env []EnvOverride) error {
	if err := validateEnv(env); err != nil {
		return err
	}
	for i, e := range env {
		containers, err := pod.named(e.Container, []string{"env", strconv.Itoa(i), "container"})
		if err != nil {
			return err
		}
		for _, c := range containers {
			list, err := c.list("env", i)
			if err != nil {
				return err
			}
			variable := map[string]any{"name": e.Name, "value": e.Value}
			at := slices.IndexFunc(list, func(element any) bool {
				fields, _ := element.(map[string]any)
				return fields["name"] == e.Name
			})
			if at < 0 {
				list = append(list, variable)
			} else {
				list[at] = variable
			}
			c.fields["env"] = list
		}
	}
	return nil
}

// setArgs changes arguments and warns of a removal that finds nothing.
func setArgs(pod podSpec, args []ArgsOverride) (warnings []string, err error) {
	if err := validateArgs(args); err != nil {
		return nil, err
	}
	for i, a := range args {
		containers, err := pod.named(a.Container, []string{"args", strconv.Itoa(i), "container"})
		if err != nil {
			return nil, err
		}
		removed := make([]bool, len(a.Remove))
		for _, c := range containers {
			list, err := c.list("args", i)
			if err != nil {
				return nil, err
			}
			list = slices.DeleteFunc(list, func(element any) bool {
				text, isText := element.(string)
				at := slices.Index(a.Remove, text)
				if !isText || at < 0 {
					return false
				}
				removed[at] = true
				return true
			})
			for _, text := range a.Add {
				list = append(list, text)
			}
			c.fields["args"] = list
		}
		for at, text := range a.Remove {
			if !removed[slices.Index(a.Remove, text)] {
				warnings = append(warnings, fmt.Sprintf("args[%d]: remove[%d] is no argument of container %q", i, at, a.Container))
			}
		}
	}
	return warnings, nil
}

// list returns a list field of a container; entry is the index of the override, for the error when it is no list.
func (c container) list(field string, entry int) ([]any, error) {
	value := c.fields[field]
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, &InputError{Path: []string{field, strconv.Itoa(entry)}, Summary: "Invalid " + field,
			Detail: fmt.Sprintf("%s of container %q must be a list, but is %s.", field, c.name, kindOfValue(value))}
	}
	return list, nil
}
