package provider_test

import (
	"encoding/json"
	"slices"
)

// attributes are the attributes of a resource: in a state, or before and after in a plan.
type attributes map[string]any

// change is what a plan says of one resource.
type change struct {
	Actions []string   `json:"actions"`
	Before  attributes `json:"before"`
	After   attributes `json:"after"`
	Unknown attributes `json:"after_unknown"`
}

// planned reads from the saved plan what becomes of a resource.
func (tf *terraform) planned(address string) change {
	tf.t.Helper()
	changes, _ := tf.savedPlan()
	c, ok := changes[address]
	if !ok {
		tf.t.Fatalf("the plan does not speak of %s", address)
	}
	return c
}

// savedPlan reads from the saved plan what becomes of each resource, and what the refresh before it has made of the state.
func (tf *terraform) savedPlan() (changes map[string]change, refreshed []stateResource) {
	tf.t.Helper()
	var plan struct {
		Changes []struct {
			Address string `json:"address"`
			Change  change `json:"change"`
		} `json:"resource_changes"`
		Prior stateFile `json:"prior_state"`
	}
	tf.decode(&plan, "show", "-json", "saved")
	changes = map[string]change{}
	for _, c := range plan.Changes {
		changes[c.Address] = c.Change
	}
	return changes, plan.Prior.Values.Root.Resources
}

// stateOf reads the attributes of a resource in the state; nil if it is not there.
func (tf *terraform) stateOf(address string) attributes {
	tf.t.Helper()
	for _, r := range tf.resources() {
		if r.Address == address {
			return r.Values
		}
	}
	return nil
}

// stateResource is a resource in the state.
type stateResource struct {
	Address string     `json:"address"`
	Values  attributes `json:"values"`
	Tainted bool       `json:"tainted"`
}

// stateFile is what Terraform shows of a state.
type stateFile struct {
	Values struct {
		Root struct {
			Resources []stateResource `json:"resources"`
		} `json:"root_module"`
	} `json:"values"`
}

func (tf *terraform) resources() []stateResource {
	tf.t.Helper()
	var state stateFile
	tf.decode(&state, "show", "-json")
	return state.Values.Root.Resources
}

// untainted fails the test if the state has a tainted resource.
func (tf *terraform) untainted() {
	tf.t.Helper()
	for _, r := range tf.resources() {
		if r.Tainted {
			tf.t.Errorf("%s is tainted", r.Address)
		}
	}
}

func (tf *terraform) decode(into any, arguments ...string) {
	tf.t.Helper()
	text, err := tf.output(arguments...)
	if err != nil {
		tf.t.Fatalf("%v: %v\n%s", arguments, err, text)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		tf.t.Fatalf("%v: %v", arguments, err)
	}
}

// names reads a set of strings, sorted.
func (a attributes) names(attribute string) []string {
	var names []string
	elements, _ := a[attribute].([]any)
	for _, element := range elements {
		if name, ok := element.(string); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// at reads a value inside nested objects and maps; nil where there is none.
func (a attributes) at(steps ...string) any {
	var value any = map[string]any(a)
	for _, step := range steps {
		node, _ := value.(map[string]any)
		value = node[step]
	}
	return value
}
