package registry

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

//go:embed crds.yaml
var crdDocuments string

// Origin says how an object of the control plane came to be.
type Origin string

// The origins.
const (
	Created Origin = "created" // by this configuration, which removes it again
	Adopted Origin = "adopted" // was there, KubeFed's own for instance; used as it is
)

// ControlPlane is what a host needs to keep members.
type ControlPlane struct {
	Namespace string            // "" if it is absent
	CRDs      map[string]Origin // by name, those that are there
}

// controlPlaneID is the mark's resource on what the control plane consists of.
const controlPlaneID = "kubefed_control_plane"

// errNoHost says that the provider has no host cluster.
var errNoHost = errors.New("the provider has no host_cluster")

// hostedKinds are the kinds that the CustomResourceDefinitions define.
var hostedKinds = []member.Kind{kubeFedClusterKind, federatedTypeConfigKind}

// crdName is the name of the CustomResourceDefinition of a kind.
func crdName(k member.Kind) string { return k.Resource + "." + k.GVK.Group }

// CRDNames lists the CustomResourceDefinitions of a control plane.
func CRDNames() []string { return slices.Sorted(maps.Keys(crds())) }

// crds are the CustomResourceDefinitions by name. They are part of this program, so that a fault in them is one of it.
func crds() map[string]*unstructured.Unstructured {
	parsed := map[string]*unstructured.Unstructured{}
	for _, document := range strings.Split(crdDocuments, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			panic(fmt.Sprintf("crds.yaml: %v", err))
		}
		parsed[o.GetName()] = o
	}
	return parsed
}

// InstallControlPlane makes what is missing of the control plane and waits until the host serves it. It may be repeated at any time.
func (r *Registry) InstallControlPlane(ctx context.Context) (*ControlPlane, error) {
	if r.host == nil {
		return nil, errNoHost
	}
	if _, err := r.ensure(ctx, r.host, namespaceTree(r.config.Namespace), object(namespaceKind, "", r.config.Namespace), r.mark(controlPlaneID)); err != nil {
		return nil, err
	}
	plane := &ControlPlane{Namespace: r.config.Namespace, CRDs: map[string]Origin{}}
	definitions := crds()
	for _, name := range CRDNames() {
		live, err := r.ensure(ctx, r.host, definitions[name].Object, object(crdKind, "", name), r.mark(controlPlaneID))
		if err != nil {
			return nil, err
		}
		plane.CRDs[name] = r.origin(live)
	}
	if err := r.waitServed(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.installed = true
	r.mu.Unlock()
	r.reading.forget()
	r.host.Forget()
	return plane, nil
}

func namespaceTree(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
}

func (r *Registry) mark(id string) member.Mark {
	return member.Mark{Owner: r.config.Owner, Resource: id}
}

// origin tells by its mark whether an object was created by this configuration.
func (r *Registry) origin(o metav1.Object) Origin {
	if mark, ok := member.MarkOf(o); ok && mark.Owner == r.config.Owner {
		return Created
	}
	return Adopted
}

// ensure makes an object that shall be there. One that is there already and does not have this very mark is left as it is.
func (r *Registry) ensure(ctx context.Context, m *member.Member, tree map[string]any, o member.Object, mark member.Mark) (*unstructured.Unstructured, error) {
	live, err := m.Get(ctx, o)
	if err != nil {
		return nil, err
	}
	options := member.ApplyOptions{Require: member.Precondition{Create: true}}
	if live != nil {
		if live.GetDeletionTimestamp() != nil {
			return nil, &member.TerminatingError{Member: m.Name(), Object: o, Since: *live.GetDeletionTimestamp(), Finalizers: live.GetFinalizers()}
		}
		if found, ok := member.MarkOf(live); !ok || found != mark {
			return live, nil
		}
		options = member.ApplyOptions{Force: true, Require: member.Precondition{UID: live.GetUID()}}
	}
	body := (&unstructured.Unstructured{Object: tree}).DeepCopy()
	mark.Put(body)
	applied, err := m.Apply(ctx, o, body.Object, options)
	var exists *member.ExistsError
	if errors.As(err, &exists) {
		return exists.Live, nil // made by somebody else in between, or by a request of ours whose answer was lost
	}
	if err != nil {
		return nil, err
	}
	return applied.Live, nil
}

// waitServed polls until the host serves both kinds: a new CustomResourceDefinition takes a moment.
func (r *Registry) waitServed(ctx context.Context) error {
	for _, k := range hostedKinds {
		err := poll(ctx, func() (bool, error) {
			_, err := r.host.ListObjects(ctx, k, r.config.Namespace, metav1.ListOptions{Limit: 1})
			var absent *member.NotServedError
			if errors.As(err, &absent) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("wait until the host serves %s %s: %w", k.GVK.GroupVersion(), k.GVK.Kind, err)
		}
	}
	return nil
}

// poll asks until done or an error, ever less often, up to once a second.
func poll(ctx context.Context, ask func() (done bool, err error)) error {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		done, err := ask()
		if done || err != nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ReadControlPlane looks at what is there; nil if nothing is.
func (r *Registry) ReadControlPlane(ctx context.Context) (*ControlPlane, error) {
	if r.host == nil {
		return nil, errNoHost
	}
	plane := &ControlPlane{CRDs: map[string]Origin{}}
	for _, name := range CRDNames() {
		live, err := r.readHostObject(ctx, object(crdKind, "", name))
		if err != nil {
			return nil, err
		}
		if live != nil {
			plane.CRDs[name] = r.origin(live)
		}
	}
	ns, err := r.readHostObject(ctx, object(namespaceKind, "", r.config.Namespace))
	if err != nil {
		return nil, err
	}
	if ns != nil {
		plane.Namespace = r.config.Namespace
	}
	if ns == nil && len(plane.CRDs) == 0 {
		return nil, nil
	}
	return plane, nil
}

// readHostObject reads an object; one that is being deleted is not there.
func (r *Registry) readHostObject(ctx context.Context, o member.Object) (live *unstructured.Unstructured, err error) {
	err = r.attempt(ctx, func(ctx context.Context) (err error) {
		live, err = r.host.Get(ctx, o)
		return err
	})
	if err != nil {
		return nil, unreadable(err)
	}
	if live != nil && live.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return live, nil
}
