package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// InUseError says that a control plane cannot be removed because of what it still keeps.
type InUseError struct{ Objects []string } // "KubeFedCluster kube-federation-system/eu", sorted

func (e *InUseError) Error() string {
	return "the control plane still keeps " + strings.Join(e.Objects, ", ")
}

// RemoveControlPlane removes what this configuration has created of the control plane in a namespace. It refuses (InUseError) while a member is
// registered there, and while a kind that it would remove has objects anywhere on the host. The namespace stays if there is something in
// it that the control plane did not make; left says what. The kinds stay if this process has installed a control plane elsewhere: it
// replaces this one.
func (r *Registry) RemoveControlPlane(ctx context.Context, namespace string) (left []string, err error) {
	if r.host == nil {
		return nil, errNoHost
	}
	if err := r.refuseInUse(ctx, namespace); err != nil {
		return nil, err
	}
	if !r.replaced(namespace) {
		for _, name := range CRDNames() {
			if err := r.removeIfCreated(ctx, object(crdKind, "", name)); err != nil {
				return nil, err
			}
		}
	}
	r.reading.forget()
	r.host.Forget()
	return r.removeHostNamespace(ctx, namespace)
}

// replaced reports whether this process has installed a control plane in another namespace.
func (r *Registry) replaced(namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.installed && namespace != r.config.Namespace
}

func (r *Registry) refuseInUse(ctx context.Context, namespace string) error {
	var used []string
	for _, k := range hostedKinds {
		live, err := r.readHostObject(ctx, object(crdKind, "", crdName(k)))
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		list, err := r.host.ListObjects(ctx, k, "", metav1.ListOptions{})
		if err != nil {
			return unreadable(err)
		}
		used = append(used, inUse(list, namespace, r.origin(live) == Created && !r.replaced(namespace))...)
	}
	if len(used) == 0 {
		return nil
	}
	slices.Sort(used)
	return &InUseError{Objects: used}
}

// inUse picks what stands in the way: everything, if the kind itself would be removed, else the members registered here.
func inUse(list []unstructured.Unstructured, namespace string, removed bool) (used []string) {
	for i := range list {
		o := &list[i]
		registered := o.GetKind() == kubeFedClusterKind.GVK.Kind && o.GetNamespace() == namespace
		if removed || registered {
			used = append(used, fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName()))
		}
	}
	return used
}

// removeIfCreated deletes an object if it has the control plane's mark, and waits until it is gone.
func (r *Registry) removeIfCreated(ctx context.Context, o member.Object) error {
	live, err := r.host.Get(ctx, o)
	if err != nil || live == nil {
		return err
	}
	if mark, ok := member.MarkOf(live); !ok || mark != r.mark(controlPlaneID) {
		return nil
	}
	return remove(ctx, r.host, o, live)
}

// remove deletes this very object and waits until it is gone.
func remove(ctx context.Context, m *member.Member, o member.Object, live metav1.Object) error {
	if err := m.Delete(ctx, o, live.GetUID(), member.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		return err
	}
	return m.WaitGone(ctx, o, live.GetUID())
}
