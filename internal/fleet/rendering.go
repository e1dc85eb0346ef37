package fleet

import (
	"fmt"
	"sync"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// Rendering renders again what was last written, from the state and the override entries each copy was made with. Members that got the
// same share one tree, which must not be modified.
type Rendering struct {
	spec      Spec
	template  map[string]any
	overrides []federation.Override

	mu    sync.Mutex
	trees map[string]map[string]any
}

// NewRendering prepares the rendering of what a state says.
func NewRendering(state Spec, scope *Scope) (*Rendering, error) {
	options := federation.TemplateOptions{DefaultNamespace: state.DefaultNamespace}
	if scope != nil {
		options.Namespaced, options.HasStatus = &scope.Namespaced, scope.Status
	}
	template, _, err := federation.Normalize(state.Template, options)
	if err != nil {
		return nil, fmt.Errorf("read the template in state: %w", err)
	}
	return &Rendering{spec: state, template: template, overrides: state.overrides(), trees: map[string]map[string]any{}}, nil
}

// Template is the template in the form that is sent.
func (r *Rendering) Template() map[string]any { return r.template }

// Of returns what was last written to a member.
func (r *Rendering) Of(record *Record, name string) (map[string]any, error) {
	return record.former(name, r.render)
}

func (r *Rendering) render(used []int, name string) (map[string]any, error) {
	replicas, sets := r.spec.replicasOf(name)
	key := fmt.Sprint(used, sets, replicas)
	r.mu.Lock()
	defer r.mu.Unlock()
	if tree, ok := r.trees[key]; ok {
		return tree, nil
	}
	tree, err := federation.RenderUsed(r.template, r.overrides, used)
	if err != nil {
		return nil, err
	}
	if sets {
		if err := federation.SetReplicas(tree, replicas); err != nil {
			return nil, err
		}
	}
	r.trees[key] = tree
	return tree, nil
}
