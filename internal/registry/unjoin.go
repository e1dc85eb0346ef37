package registry

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// What becomes of federated objects on a cluster that is unjoined, and of the unjoining if the cluster does not answer. The first of each is
// the default.
const (
	ObjectsError  = "error"
	ObjectsOrphan = "orphan"
	ObjectsDelete = "delete"

	UnreachableFails  = "error"
	UnreachableForget = "forget"
)

// Unjoining says which cluster is to be unjoined, and how.
type Unjoining struct {
	Name        string
	Objects     string
	Unreachable string
}

// Unjoined says what an unjoin has left behind.
type Unjoined struct {
	Objects   []string // on the member
	Forgotten error    // why the member was not asked; nil = it was
}

// Names lists the objects left behind, the first of them if there are many.
func (u *Unjoined) Names() string { return someOf(u.Objects) }

// Unjoin takes a cluster out of the federation: with its own account, which may do that, it takes away what the join made on the member, then
// the Secret and last the KubeFedCluster on the host, so that an unjoin that broke off anywhere is finished by the next. A cluster that is
// not registered is no error.
//
// Errors: LeftoversError, ForeignError, member.UnreachableError, UnreadableError and the others of package member.
func (r *Registry) Unjoin(ctx context.Context, u Unjoining) (*Unjoined, error) {
	if r.host == nil {
		return nil, errNoHost
	}
	o := r.registered(u.Name)
	live, err := r.readHostObject(ctx, o)
	var absent *member.NotServedError
	if (err == nil && live == nil) || errors.As(err, &absent) {
		return &Unjoined{}, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := recordOf(live)
	if err != nil {
		return nil, err
	}
	if rec.marked && rec.mark.Owner != r.config.Owner {
		return nil, &ForeignError{Cluster: "host", Object: o, Owner: rec.mark.Owner}
	}
	done, err := r.leaveMember(ctx, u, rec)
	if err != nil {
		return nil, err
	}
	if err := r.removeRecord(ctx, rec, live); err != nil {
		return nil, err
	}
	r.forgetCluster(u.Name)
	return done, nil
}

// leaveMember takes away what is on the member, or says why that was left.
func (r *Registry) leaveMember(ctx context.Context, u Unjoining, rec record) (*Unjoined, error) {
	done, err := r.askMember(ctx, u, rec)
	var down *member.UnreachableError
	if !errors.As(err, &down) {
		return done, err
	}
	var noToken *NoTokenError
	refused := down.Class == member.ClassUnauthorized || down.Class == member.ClassForbidden || errors.As(err, &noToken)
	switch {
	case rec.leaving && refused:
		return &Unjoined{}, nil // a former unjoin has come further than this
	case u.Unreachable == UnreachableForget:
		return &Unjoined{Forgotten: down}, nil
	}
	return nil, err
}

func (r *Registry) askMember(ctx context.Context, u Unjoining, rec record) (*Unjoined, error) {
	if rec.availability == Offline {
		return nil, &member.UnreachableError{Member: u.Name, Class: member.ClassOffline, Err: errors.New("nobody dials it while its availability is \"offline\"")}
	}
	c, err := r.connectRegistered(ctx, rec)
	if err != nil {
		return nil, err
	}
	if err := r.checkIdentity(ctx, c.plain, rec); err != nil {
		return nil, err
	}
	stay, err := r.clear(ctx, c.plain, rec.scope, u.Objects)
	if err != nil {
		return nil, err
	}
	leaving := map[string]any{"metadata": map[string]any{"annotations": map[string]any{leavingAnnotation: "true"}}}
	if _, err := r.host.Merge(ctx, r.registered(u.Name), leaving); err != nil {
		return nil, err
	}
	left, err := r.removeAccount(ctx, c.plain, rec)
	return &Unjoined{Objects: append(stay, left...)}, err
}

// removeAccount takes the account away with its own rights: everything else is owned by its role, and goes with that.
func (r *Registry) removeAccount(ctx context.Context, m *member.Member, rec record) (left []string, err error) {
	who := r.accountOf(ctx, rec)
	if who.Name == "" {
		return []string{"the service account of the federation, whose name is not known"}, nil
	}
	a := account{namespace: who.Namespace, name: who.Name, scope: rec.scope}
	roles := a.roles()
	slices.Reverse(roles) // its own last: with that all rights end
	for i, role := range roles {
		live, err := m.Get(ctx, role.object)
		if err != nil {
			return nil, err
		}
		if live == nil {
			left = append(left, "what belonged to the absent "+role.object.String())
			continue
		}
		if i == len(roles)-1 {
			more, err := r.prepareCollection(ctx, m, a, role, live, rec)
			if err != nil {
				return nil, err
			}
			left = append(left, more...)
		}
		if err := m.Delete(ctx, role.object, live.GetUID(), member.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// removeRecord deletes the host's part, what others refer to last.
func (r *Registry) removeRecord(ctx context.Context, rec record, live *unstructured.Unstructured) error {
	secret := object(secretKind, r.config.Namespace, rec.secret)
	found, err := r.host.Get(ctx, secret)
	if err != nil {
		return unreadable(err)
	}
	if found != nil {
		if err := remove(ctx, r.host, secret, found); err != nil {
			return err
		}
	}
	return remove(ctx, r.host, r.registered(rec.name), live)
}

// forgetCluster drops a cluster from the members. Its client stays, for those who still have to take something away from it.
func (r *Registry) forgetCluster(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[name] = true
	delete(r.joined, name)
	delete(r.announced, name)
}
