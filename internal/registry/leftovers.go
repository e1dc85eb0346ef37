package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"golang.org/x/sync/errgroup"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// listsAtOnce bounds how many kinds are listed at a time.
const listsAtOnce = 8

// leftover is an object of the federation that is still on a member.
type leftover struct {
	object member.Object
	uid    types.UID
	owner  string // readable name of the configuration
}

// leftovers finds every object on a member that carries a configuration's mark, whosever it is. Objects that a controller made, and Endpoints
// and EndpointSlices, onto which marks are copied, do not count, nor does what a join made. What an account may not list it has not made: with
// a scope, its namespaces are asked.
func leftovers(ctx context.Context, m *member.Member, scope Scope) ([]leftover, error) {
	kinds, err := m.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	if !kinds.Complete() {
		return nil, &member.UnreachableError{Member: m.Name(), Class: member.ClassServer, Err: errors.New("not all of its API groups answer, so what is left on it cannot be known")}
	}
	var (
		group errgroup.Group
		mu    sync.Mutex
		found []leftover
	)
	group.SetLimit(listsAtOnce)
	for _, k := range kinds.Listable() {
		if k.GVK.Kind == "Endpoints" || k.GVK.Kind == "EndpointSlice" {
			continue
		}
		group.Go(func() error {
			list, err := listMarked(ctx, m, k, scope)
			mu.Lock()
			defer mu.Unlock()
			found = append(found, list...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b leftover) int { return strings.Compare(a.object.String(), b.object.String()) })
	return found, nil
}

func listMarked(ctx context.Context, m *member.Member, k member.Kind, scope Scope) (found []leftover, err error) {
	namespaces := []string{""}
	if len(scope.Namespaces) > 0 {
		if !k.Namespaced {
			return nil, nil
		}
		namespaces = scope.Namespaces
	}
	for _, namespace := range namespaces {
		list, err := m.List(ctx, k, namespace, member.OwnerLabel)
		var absent *member.NotServedError
		if isForbidden(err) || errors.As(err, &absent) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list what is left of %s on member %s: %w", k.GVK.Kind, m.Name(), err)
		}
		found = append(found, marked(k, list)...)
	}
	return found, nil
}

func marked(k member.Kind, list []metav1.PartialObjectMetadata) (found []leftover) {
	for i := range list {
		o := &list[i]
		mark, ok := member.MarkOf(o)
		if ok && metav1.GetControllerOf(o) == nil && !ofJoin(mark) {
			found = append(found, leftover{object: object(k, o.Namespace, o.Name), uid: o.UID, owner: mark.Owner})
		}
	}
	return found
}

// ofJoin reports whether a mark is that of what a join, or the control plane, consists of.
func ofJoin(mark member.Mark) bool {
	return strings.HasPrefix(mark.Resource, clusterIDPrefix) || mark.Resource == controlPlaneID
}

// clear does with the objects on a member what the configuration says. The names it returns are of objects that stay there.
func (r *Registry) clear(ctx context.Context, m *member.Member, scope Scope, how string) (stay []string, err error) {
	found, err := leftovers(ctx, m, scope)
	if err != nil {
		return nil, err
	}
	refused := &LeftoversError{Member: m.Name(), ByOwner: map[string][]string{}}
	for _, o := range found {
		ours := o.owner == r.config.Owner
		switch {
		case how == ObjectsOrphan:
			stay = append(stay, o.object.String())
			if ours {
				err = m.Release(ctx, o.object, o.uid)
			}
		case how == ObjectsDelete && ours:
		default:
			refused.ByOwner[o.owner] = append(refused.ByOwner[o.owner], o.object.String())
		}
		if err != nil {
			return nil, err
		}
	}
	if len(refused.ByOwner) > 0 {
		return nil, refused
	}
	if how == ObjectsDelete {
		return nil, deleteAll(ctx, m, found)
	}
	return stay, nil
}

func deleteAll(ctx context.Context, m *member.Member, found []leftover) error {
	for _, o := range found {
		if err := m.Delete(ctx, o.object, o.uid, member.DeleteOptions{Propagation: metav1.DeletePropagationForeground}); err != nil {
			return err
		}
	}
	for _, o := range found {
		if err := m.WaitGone(ctx, o.object, o.uid); err != nil {
			return err
		}
	}
	return nil
}
