package registry

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// client is an opened member.
type client struct {
	member *member.Member // acts as the provider says, impersonation included
	plain  *member.Member // acts as the account it was registered with
}

// Open returns the client of a member. A member that is registered with a cluster uid is asked for it, once per process; nothing else is
// dialled. The client of a cluster that this process unjoins afterwards is still returned until the process ends.
//
// Besides the errors of Members it returns a NotMemberError, a NotJoinedError, or a member.UnreachableError: the member is set offline,
// does not answer, has a connection that cannot be used, or is another cluster than the one registered.
func (r *Registry) Open(ctx context.Context, name string) (*member.Member, error) {
	c, err := r.open(ctx, name)
	return c.member, err
}

// open opens a member once for all callers.
func (r *Registry) open(ctx context.Context, name string) (client, error) {
	entry, err := r.find(ctx, name)
	var unknown *NotMemberError
	if errors.As(err, &unknown) && r.hasLeft(name) {
		return r.slot(name).get(ctx, func(context.Context) (client, error) { return client{}, err })
	}
	if err != nil {
		return client{}, err
	}
	if entry.Availability == Offline {
		return client{}, &member.UnreachableError{Member: name, Class: member.ClassOffline, Err: errors.New("nobody dials it while its availability is \"offline\"")}
	}
	if s, ok := r.config.Static[name]; ok {
		if s.Config == nil {
			return client{}, &NotJoinedError{Name: name}
		}
		return r.slot(name).get(ctx, func(ctx context.Context) (client, error) { return r.openStatic(ctx, name, s) })
	}
	r.mu.Lock()
	rec, ok := r.readLocked()[name]
	r.mu.Unlock()
	if !ok {
		return client{}, &NotJoinedError{Name: name}
	}
	return r.slot(name).get(ctx, func(ctx context.Context) (client, error) { return r.openRegistered(ctx, rec) })
}

func (r *Registry) hasLeft(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left[name]
}

// slot is where the client of a member is kept.
func (r *Registry) slot(name string) *shared[client] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients[name] == nil {
		r.clients[name] = &shared[client]{}
	}
	return r.clients[name]
}

// connect makes the clients for one configuration; they share their connections.
func (r *Registry) connect(name string, cfg *rest.Config) (client, error) {
	m, err := member.New(name, cfg, r.config.Options)
	if err != nil {
		return client{}, err
	}
	c := client{member: m, plain: m}
	if r.config.Options.Impersonate.UserName != "" {
		c.plain, err = member.New(name, cfg, r.plainOptions())
	}
	return c, err
}

// openStatic makes the clients of a member of the provider block. The cluster must not be a member under another name: the objects of the one
// would be taken for those of the other, and deleted with them. An account that may not see kube-system is not checked.
func (r *Registry) openStatic(ctx context.Context, name string, s Static) (client, error) {
	c, err := r.connect(name, s.Config)
	if err != nil {
		return client{}, err
	}
	uid, err := r.identity(ctx, c.plain, kubeSystem)
	if err != nil || uid == "" {
		return c, unlessForbidden(err)
	}
	return c, r.claim(name, uid)
}

func unlessForbidden(err error) error {
	var down *member.UnreachableError
	if errors.As(err, &down) && down.Class == member.ClassForbidden {
		return nil
	}
	return err
}

// claim notes that the cluster with this uid of kube-system is opened under a name; under a second one it is an error.
func (r *Registry) claim(name, uid string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, ok := r.opened[uid]; ok && other != name && !r.left[other] {
		return &member.UnreachableError{Member: name, Class: member.ClassTwice,
			Err: fmt.Errorf("it is the cluster that is the member %q; a cluster has one name in a federation", other)}
	}
	r.opened[uid] = name
	return nil
}

func (r *Registry) openRegistered(ctx context.Context, rec record) (client, error) {
	c, err := r.connectRegistered(ctx, rec)
	if err != nil {
		return client{}, err
	}
	if err := r.checkIdentity(ctx, c.plain, rec); err != nil || rec.uidNamespace != kubeSystem || rec.clusterUID == "" {
		return c, err
	}
	return c, r.claim(rec.name, rec.clusterUID)
}

// connectRegistered makes the clients for what the host says about a member, without dialling it.
func (r *Registry) connectRegistered(ctx context.Context, rec record) (client, error) {
	token, err := r.token(ctx, rec)
	var down *member.UnreachableError
	if errors.As(err, &down) {
		return client{}, unreadable(err) // it is the host that does not answer
	}
	if err != nil {
		return client{}, &member.UnreachableError{Member: rec.name, Class: member.ClassConfig, Err: err}
	}
	cfg, err := rec.restConfig(token)
	if err != nil {
		return client{}, &member.UnreachableError{Member: rec.name, Class: member.ClassConfig, Err: err}
	}
	return r.connect(rec.name, cfg)
}

// checkIdentity makes sure that the cluster that answers is the one that was joined. A record without a uid, as KubeFed writes it, is
// not checked.
func (r *Registry) checkIdentity(ctx context.Context, m *member.Member, rec record) error {
	if rec.clusterUID == "" {
		return nil
	}
	uid, err := r.identity(ctx, m, rec.uidNamespace)
	if err != nil {
		return err
	}
	if uid != rec.clusterUID {
		return &member.UnreachableError{
			Member: rec.name, Class: member.ClassIdentity,
			Err: fmt.Errorf("the uid of its namespace %s is %q; joined was the cluster where it is %q", rec.uidNamespace, uid, rec.clusterUID),
		}
	}
	return nil
}

// identity is the uid of a namespace, "" if it is absent. Every API server serves namespaces: what neither has an answer nor forbids it is
// none. Every error is a member.UnreachableError.
func (r *Registry) identity(ctx context.Context, m *member.Member, namespace string) (string, error) {
	uid, err := r.namespaceUID(ctx, m, namespace)
	var down *member.UnreachableError
	switch {
	case isForbidden(err):
		return "", &member.UnreachableError{Member: m.Name(), Class: member.ClassForbidden, Err: err}
	case err != nil && !errors.As(err, &down):
		return "", &member.UnreachableError{Member: m.Name(), Class: member.ClassStrange, Err: err}
	}
	return uid, err
}

// namespaceUID is the uid of a namespace, "" if it is absent. It is asked for as often as the health check says, and no oftener.
func (r *Registry) namespaceUID(ctx context.Context, m *member.Member, name string) (string, error) {
	uid := ""
	err := r.attempt(ctx, func(ctx context.Context) error {
		ns, err := m.GetOnce(ctx, object(namespaceKind, "", name))
		if ns != nil {
			uid = string(ns.GetUID())
		}
		return err
	})
	return uid, err
}
