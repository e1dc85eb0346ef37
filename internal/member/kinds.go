package member

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is one kind as a member serves it.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string // plural, as in the URL
	Namespaced bool
	HasStatus  bool // has a status subresource
	Listable   bool
}

// GVR names the kind's resource.
func (k Kind) GVR() schema.GroupVersionResource { return k.GVK.GroupVersion().WithResource(k.Resource) }

// Kinds is what a member serves, from one discovery.
type Kinds struct {
	member string
	byGVK  map[schema.GroupVersionKind]Kind
	failed map[schema.GroupVersion]error // served by something that did not answer
}

// Find answers how the member serves a kind. A NotServedError is certain; when the discovery of its group did not answer, the
// error is an UnreachableError: nobody knows.
func (k *Kinds) Find(gvk schema.GroupVersionKind) (Kind, error) {
	if kind, ok := k.byGVK[gvk]; ok {
		return kind, nil
	}
	if err, ok := k.failed[gvk.GroupVersion()]; ok {
		return Kind{}, &UnreachableError{Member: k.member, Class: ClassServer, Err: fmt.Errorf("discover %s: %w", gvk.GroupVersion(), err)}
	}
	return Kind{}, &NotServedError{Member: k.member, GVK: gvk, Served: k.versions(gvk.GroupKind())}
}

func (k *Kinds) versions(kind schema.GroupKind) []string {
	var versions []string
	for gvk := range k.byGVK {
		if gvk.GroupKind() == kind {
			versions = append(versions, gvk.GroupVersion().String())
		}
	}
	sort.Strings(versions)
	return versions
}

// Named returns every kind that is called so, in any group and version and in whatever case, or whose resource is: what somebody may mean by
// "configmaps". It is in stable order.
func (k *Kinds) Named(name string) []Kind {
	var named []Kind
	for _, kind := range k.byGVK {
		if strings.EqualFold(kind.GVK.Kind, name) || strings.EqualFold(kind.Resource, name) {
			named = append(named, kind)
		}
	}
	sort.Slice(named, func(i, j int) bool { return named[i].GVK.String() < named[j].GVK.String() })
	return named
}

// Complete reports whether every API group of the member answered.
func (k *Kinds) Complete() bool { return len(k.failed) == 0 }

// Listable returns one version of every kind that can be listed, in stable order.
func (k *Kinds) Listable() []Kind {
	chosen := map[schema.GroupKind]Kind{}
	for gvk, kind := range k.byGVK {
		if other, ok := chosen[gvk.GroupKind()]; kind.Listable && (!ok || gvk.Version < other.GVK.Version) {
			chosen[gvk.GroupKind()] = kind
		}
	}
	kinds := make([]Kind, 0, len(chosen))
	for _, kind := range chosen {
		kinds = append(kinds, kind)
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].GVK.String() < kinds[j].GVK.String() })
	return kinds
}

// probe is one health check; its discovery answers both questions: is the member there, and what does it serve.
type probe struct {
	done  chan struct{}
	kinds *Kinds
	err   error
}

func (p *probe) run(ctx context.Context, m *Member) {
	defer close(p.done)
	health := m.options.Health
	for attempt := range max(1, health.Attempts) {
		start := time.Now()
		p.kinds, p.err = m.discover(ctx, health.Timeout)
		if p.err == nil || !worthRetrying(p.err) || attempt+1 >= health.Attempts {
			return
		}
		if rest := health.Interval - time.Since(start); rest > 0 {
			select {
			case <-time.After(rest):
			case <-ctx.Done():
				return
			}
		}
	}
}

// worthRetrying: a refused credential stays refused, and a wrong connection stays wrong.
func worthRetrying(err error) bool {
	var u *UnreachableError
	return !errors.As(err, &u) || (u.Class != ClassUnauthorized && u.Class != ClassForbidden && !u.Misconfigured())
}

func (m *Member) discover(ctx context.Context, timeout time.Duration) (*Kinds, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	groups, resources, failed, err := m.discovery.GroupsAndMaybeResourcesWithContext(ctx)
	if err != nil {
		return nil, m.discoveryError(err)
	}
	if resources == nil { // an API server before 1.26, or one that does not aggregate
		resources, failed = m.discoverEach(ctx, groups)
	}
	kinds := &Kinds{member: m.name, byGVK: map[schema.GroupVersionKind]Kind{}, failed: failed}
	for gv, list := range resources {
		kinds.add(gv, list)
	}
	if !kinds.plausible() {
		return nil, &UnreachableError{Member: m.name, Class: ClassStrange, Err: errors.New("its discovery lacks the kinds that every cluster has")}
	}
	return kinds, nil
}

// discoverEach asks for the resources of every version by itself, all at once. One that does not answer is failed, not absent.
func (m *Member) discoverEach(ctx context.Context, groups *metav1.APIGroupList) (map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error) {
	var (
		mu        sync.Mutex
		all       sync.WaitGroup
		resources = map[schema.GroupVersion]*metav1.APIResourceList{}
		failed    = map[schema.GroupVersion]error{}
	)
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			all.Go(func() {
				list, err := m.discovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed[gv] = err
					return
				}
				resources[gv] = list
			})
		}
	}
	all.Wait()
	return resources, failed
}

// plausible tells the answer of a cluster from that of something else in its place: what stands between may answer 404 to all or part of
// the discovery, which must not be taken for a cluster without those kinds.
func (k *Kinds) plausible() bool {
	var core, groups bool
	for gvk := range k.byGVK {
		core, groups = core || gvk.GroupKind() == (schema.GroupKind{Kind: "Namespace"}), groups || gvk.Group != ""
	}
	for gv := range k.failed {
		core, groups = core || gv.Group == "", groups || gv.Group != ""
	}
	return core && groups
}

func (m *Member) discoveryError(err error) error {
	if u := unreachable(m.name, err); u != nil {
		return u
	}
	class := ClassStrange
	if apierrors.IsForbidden(err) {
		class = ClassForbidden
	}
	return &UnreachableError{Member: m.name, Class: class, Err: err}
}

func (k *Kinds) add(gv schema.GroupVersion, list *metav1.APIResourceList) {
	status := map[string]bool{}
	for _, r := range list.APIResources {
		if name, ok := strings.CutSuffix(r.Name, "/status"); ok {
			status[name] = true
		}
	}
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		group, version := gv.Group, gv.Version
		if r.Group != "" {
			group = r.Group
		}
		if r.Version != "" {
			version = r.Version
		}
		gvk := schema.GroupVersionKind{Group: group, Version: version, Kind: r.Kind}
		k.byGVK[gvk] = Kind{
			GVK: gvk, Resource: r.Name, Namespaced: r.Namespaced, HasStatus: status[r.Name],
			Listable: hasVerb(r, "list") && hasVerb(r, "delete"),
		}
	}
}

func hasVerb(r metav1.APIResource, verb string) bool {
	for _, v := range r.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}
