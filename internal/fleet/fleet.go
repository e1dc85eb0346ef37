// Package fleet works on many members at once: bounded fan-out, preflight, apply, delete and refresh with one result per member in stable
// order. It joins what shall be where (federation) with who is there (registry) and the one door to each cluster (member).
package fleet

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// Config is what a provider block says about the fleet.
type Config struct {
	Registry    *registry.Registry
	Owner       string // readable name of the configuration, recorded on every object
	MaxParallel int    // members asked at once
	Policy      Policy // defaults for every resource

	Now func() time.Time // the clock of rollouts; nil: the system's
}

// Fleet is the memory of one configured provider. It lives as long as the provider process.
type Fleet struct {
	config      Config
	memory      *memory
	inventories *inventories
}

// New makes a fleet; it dials nobody.
func New(c Config) *Fleet {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Fleet{config: c, memory: newMemory(), inventories: newInventories()}
}

// Registry answers which members there are.
func (f *Fleet) Registry() *registry.Registry { return f.config.Registry }

// Policy is the provider's default policy.
func (f *Fleet) Policy() Policy { return f.config.Policy }

// NoteReplaced remembers that the object of a record is being replaced: its resource is planned to be deleted and created, in this order.
// record may be nil.
func (f *Fleet) NoteReplaced(record *Record) {
	if record != nil {
		f.memory.noteReplaced(record.Resource)
	}
}

// ClaimedTwice reports whether a creation planned in this process takes the objects of this record for those of an interrupted run.
func (f *Fleet) ClaimedTwice(record *Record) bool { return f.memory.isClaimed(record.Resource) }

// NoteApplying remembers that Terraform is applying: all that this run makes first is there, and members are asked instead of left open.
func (f *Fleet) NoteApplying() { f.memory.noteApplying() }

// Applying reports whether Terraform is applying rather than planning a resource: something was written in this process, or there is a
// prior state which this process has not read (Terraform reads every resource before it plans, in the process that plans).
func (f *Fleet) Applying(prior *Record) bool {
	return f.memory.isApplying() || (prior != nil && !f.memory.wasRead(prior.Resource))
}

// Announce tells the run what a resource is going to make that others may need: a namespace, a kind. It also remembers the placement, so that
// a cluster planned later that it would have chosen is told to come first.
func (f *Fleet) Announce(spec Spec, r *Resolution) {
	if isNamespace(r.ID) {
		f.memory.announceNamespace(r.ID.Name, r.Placed)
	}
	if isDefinition(r.ID) && r.Template != nil {
		f.announceDefinition(r)
	}
	if spec.Placement.Selector == nil {
		return
	}
	f.config.Registry.NotePlacement(r.ID.String(), func(e registry.Entry) bool {
		choice, err := spec.Placement.Choose(members([]Candidate{candidate(e)}), nil)
		return err == nil && slices.Contains(choice.Clusters, e.Name)
	})
}

func (f *Fleet) announceDefinition(r *Resolution) {
	scope, _, _ := unstructured.NestedString(r.Template, "spec", "scope")
	f.memory.announceKind(definedKind(r.Template), Scope{Namespaced: scope == "Namespaced", Status: hasStatus(r.Template)}, r.Placed)
}

// hasStatus reports whether every version of a definition has the status subresource.
func hasStatus(definition map[string]any) bool {
	versions, _, _ := unstructured.NestedSlice(definition, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if _, found, _ := unstructured.NestedMap(version, "subresources", "status"); !found {
			return false
		}
	}
	return len(versions) > 0
}

// hasNamespace asks a member for a namespace.
func (f *Fleet) hasNamespace(ctx context.Context, name, namespace string) (bool, error) {
	m, err := f.config.Registry.Open(ctx, name)
	if err != nil {
		return false, err
	}
	object, err := namespaceObject(ctx, m, namespace)
	if err != nil {
		return false, err
	}
	live, err := m.Get(ctx, object)
	return live != nil && live.GetDeletionTimestamp() == nil, err
}

func namespaceObject(ctx context.Context, m *member.Member, name string) (member.Object, error) {
	object, err := (&Target{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}}).object(ctx, m)
	object.Name = name
	return object, err
}
