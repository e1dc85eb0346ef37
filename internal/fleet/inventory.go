package fleet

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// inventories are the metadata LISTs of one run: what of ours each member holds, one LIST per member and kind (per namespace where our
// rights end there), shared by all resources.
type inventories struct {
	mu    sync.Mutex
	lists map[inventoryKey]*inventory
}

type inventoryKey struct {
	member    string
	resource  schema.GroupVersionResource
	namespace string
}

type inventory struct {
	once    sync.Once
	objects map[string]*metav1.PartialObjectMetadata // by namespace/name
	err     error
}

func newInventories() *inventories {
	return &inventories{lists: map[inventoryKey]*inventory{}}
}

func (i *inventories) get(key inventoryKey) *inventory {
	i.mu.Lock()
	defer i.mu.Unlock()
	list, ok := i.lists[key]
	if !ok {
		list = &inventory{}
		i.lists[key] = list
	}
	return list
}

// listed looks an object up in the run's inventory. Not found there says nothing yet: its label may have been removed.
func (f *Fleet) listed(ctx context.Context, m *member.Member, o member.Object) (*metav1.PartialObjectMetadata, error) {
	found, err := f.listedIn(ctx, m, o, "")
	if isForbidden(err) && o.Namespace != "" {
		found, err = f.listedIn(ctx, m, o, o.Namespace)
	}
	if isForbidden(err) {
		return nil, nil
	}
	return found, err
}

func (f *Fleet) listedIn(ctx context.Context, m *member.Member, o member.Object, namespace string) (*metav1.PartialObjectMetadata, error) {
	list := f.inventories.get(inventoryKey{m.Name(), o.Kind.GVR(), namespace})
	list.once.Do(func() {
		items, err := m.List(context.WithoutCancel(ctx), o.Kind, namespace, member.OwnerLabel+"="+member.OwnerHash(f.config.Owner))
		list.err = err
		list.objects = make(map[string]*metav1.PartialObjectMetadata, len(items))
		for i := range items {
			list.objects[items[i].Namespace+"/"+items[i].Name] = &items[i]
		}
	})
	return list.objects[o.Namespace+"/"+o.Name], list.err
}

func isForbidden(err error) bool {
	var refused *member.RefusedError
	return errors.As(err, &refused) && refused.Code == 403
}
