package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// acceptLimit bounds the wait until a member accepts a new account: its API server hears of tokens and roles a moment later.
const acceptLimit = 15 * time.Second

// joining is one join under way.
type joining struct {
	r        *Registry
	cluster  Cluster
	former   Cluster      // what the configuration said before
	cfg      *rest.Config // of the connection
	existing *record      // what the host says by now; nil = nothing
	take     bool         // objects that another configuration has made
	admin    *member.Member
	account  account
	record   record
}

// Join registers a cluster: on the member it makes an account for the federation, on the host the Secret and the KubeFedCluster. Each step
// makes or completes, so that a join that broke off anywhere is finished by the next. Nothing is written before it is certain that the
// cluster is not registered otherwise.
//
// Errors: member.ConnectionError (the connection), RegistrationError (what would be recorded), ForeignError, AlreadyJoinedError,
// DeclaredTwiceError, member.UnreachableError, UnreadableError and the others of package member.
func (r *Registry) Join(ctx context.Context, connection member.Connection, c Cluster) (*Joined, error) {
	r.mu.Lock()
	_, twice := r.joined[c.Name]
	r.mu.Unlock()
	if twice {
		return nil, &DeclaredTwiceError{Name: c.Name}
	}
	return r.join(ctx, connection, joining{cluster: c})
}

// Rejoin does the same for a cluster that is registered by this configuration, or imported into it: to change the scope, to get a new token or
// to mend what somebody has broken.
// former is what the configuration said before.
func (r *Registry) Rejoin(ctx context.Context, connection member.Connection, c, former Cluster) (*Joined, error) {
	return r.join(ctx, connection, joining{cluster: c, former: former, take: true})
}

func (r *Registry) join(ctx context.Context, connection member.Connection, j joining) (*Joined, error) {
	if r.host == nil {
		return nil, errNoHost
	}
	cfg, err := r.config.Connector.RESTConfig(connection)
	if err != nil {
		return nil, err
	}
	admin, err := member.New(j.cluster.Name, cfg, r.plainOptions())
	if err != nil {
		return nil, err
	}
	j.r, j.cfg, j.admin = r, cfg, admin
	for _, step := range []func(context.Context) error{j.readHost, j.identify, j.makeAccount, j.register, j.tidy} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	r.remember(j.record)
	return j.record.joined(), nil
}

// readHost looks at what the host says of the name, and refuses what somebody else has registered.
func (j *joining) readHost(ctx context.Context) error {
	if err := j.checkRecorded(); err != nil {
		return err
	}
	o := j.r.registered(j.cluster.Name)
	live, err := j.r.host.Get(ctx, o)
	if err != nil {
		return unreadable(err)
	}
	if live != nil {
		if err := j.writer(j.r.host).refuseForeign(o, live); err != nil {
			return err
		}
		rec, err := recordOf(live)
		if err != nil {
			return err
		}
		j.existing, j.record = &rec, rec
	}
	return j.nameAccount(ctx)
}

// checkRecorded finds out early what cannot work once it is recorded.
func (j *joining) checkRecorded() error {
	skip := len(j.cluster.DisabledTLSValidations) > 0 && j.cluster.DisabledTLSValidations[0] == member.TLSAll
	if j.cfg.Insecure && !skip {
		return &member.ConnectionError{Attribute: "insecure", Summary: "Contradictory TLS settings",
			Detail: "The connection skips the check of the certificate, but those who use the registration would not. Set `disabled_tls_validations = [\"*\"]` as well, or give the certificate authority."}
	}
	return nil
}

// nameAccount keeps the names of an existing join and else makes them from the host's identity.
func (j *joining) nameAccount(ctx context.Context) error {
	j.account = account{namespace: j.r.config.Namespace, scope: j.cluster.Scope}
	if j.existing != nil {
		if found := j.r.accountOf(ctx, *j.existing); found.Name != "" {
			j.account.namespace, j.account.name = found.Namespace, found.Name
		}
	}
	if j.account.name == "" {
		hostUID, err := j.r.hostUID(ctx)
		if err != nil {
			return err
		}
		j.account.name = accountName(j.cluster.Name, hostUID, j.r.config.Namespace)
	}
	j.account.secret = tokenSecret(j.account.name, j.cluster.TokenRotation)
	return nil
}

// identify makes sure which cluster the connection leads to: not one that is registered under another name, and for a registered name the
// one that it stands for.
func (j *joining) identify(ctx context.Context) error {
	uids := map[string]string{}
	for _, namespace := range []string{kubeSystem, j.account.namespace} {
		uid, err := j.r.namespaceUID(ctx, j.admin, namespace)
		if err != nil && !isForbidden(err) {
			return err
		}
		uids[namespace] = uid
	}
	if j.existing != nil && j.existing.clusterUID != "" && uids[j.existing.uidNamespace] != "" && j.existing.clusterUID != uids[j.existing.uidNamespace] {
		return &member.UnreachableError{
			Member: j.cluster.Name, Class: member.ClassIdentity,
			Err: fmt.Errorf("the uid of namespace %s is %q where the connection leads, and %q in the cluster that was joined", j.existing.uidNamespace, uids[j.existing.uidNamespace], j.existing.clusterUID),
		}
	}
	return j.r.reserve(ctx, j.cluster.Name, uids)
}

// reserve refuses a cluster that has another name in the registry, or is being joined under another name at this moment.
func (r *Registry) reserve(ctx context.Context, name string, uids map[string]string) error {
	records, err := r.records(ctx)
	if err != nil {
		return err
	}
	for other, rec := range records {
		if other != name && rec.clusterUID != "" && rec.clusterUID == uids[rec.uidNamespace] {
			return &AlreadyJoinedError{Name: name, Other: other}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uid := range uids {
		if uid == "" {
			continue
		}
		if other, ok := r.joining[uid]; ok && other != name {
			return &AlreadyJoinedError{Name: name, Other: other}
		}
		r.joining[uid] = name
	}
	return nil
}

func (j *joining) makeAccount(ctx context.Context) error {
	w := j.writer(j.admin)
	token, err := j.account.make(ctx, w)
	if err != nil {
		return err
	}
	if err := j.fillRecord(ctx); err != nil {
		return err
	}
	return j.tryRecord(ctx, token)
}

// fillRecord completes what will be registered.
func (j *joining) fillRecord(ctx context.Context) error {
	rec := j.record
	if rec.endpoint == "" {
		rec.endpoint = j.cfg.Host
	}
	rec = j.cluster.describe(rec)
	if rec.secret == "" {
		rec.secret = j.account.name
	}
	rec.caBundle, rec.tlsServerName = j.cfg.CAData, j.cfg.ServerName
	rec.scope, rec.uidNamespace = j.cluster.Scope, kubeSystem
	rec.serviceAccount = types.NamespacedName{Namespace: j.account.namespace, Name: j.account.name}.String()
	if len(rec.scope.Namespaces) > 0 {
		rec.uidNamespace = j.account.namespace // it may not see others
	}
	uid, err := j.r.namespaceUID(ctx, j.admin, rec.uidNamespace)
	rec.clusterUID = uid
	j.record = rec
	return err
}

// tryRecord reaches the member in the way that is going to be registered, and makes sure that it is the same cluster. It is not tried for a
// member that nobody is to dial.
func (j *joining) tryRecord(ctx context.Context, token string) error {
	cfg, err := j.record.restConfig(token)
	if err != nil {
		return registrationError(err)
	}
	if j.record.availability != Offline {
		if err := j.r.accepts(ctx, j.record, cfg); err != nil {
			return registrationError(err)
		}
	}
	j.record.token = token
	return nil
}

// accepts waits until the member accepts the account.
func (r *Registry) accepts(ctx context.Context, rec record, cfg *rest.Config) error {
	c, err := r.connect(rec.name, cfg)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, acceptLimit)
	defer cancel()
	return poll(limited, func() (bool, error) {
		err := r.checkIdentity(ctx, c.plain, rec)
		var u *member.UnreachableError
		refused := errors.As(err, &u) && (u.Class == member.ClassUnauthorized || u.Class == member.ClassForbidden)
		if refused && limited.Err() == nil {
			return false, nil
		}
		return err == nil, err
	})
}

// register writes the host's part: first the Secret, then what refers to it.
func (j *joining) register(ctx context.Context) error {
	w, token := j.writer(j.r.host), j.record.token
	data := map[string]any{"type": "Opaque", "data": map[string]any{"token": base64.StdEncoding.EncodeToString([]byte(token))}}
	if _, err := w.put(ctx, object(secretKind, j.r.config.Namespace, j.record.secret), data); err != nil {
		return err
	}
	rec, err := j.r.writeRecord(ctx, w, j.record, j.former)
	rec.token = token
	j.record = rec
	return err
}

// tidy takes away what a former join had and this one has not.
func (j *joining) tidy(ctx context.Context) error {
	w := j.writer(j.admin)
	if err := j.account.dropOldTokens(ctx, w); err != nil {
		return err
	}
	if j.existing == nil {
		return nil
	}
	return j.account.dropRoles(ctx, w, j.existing.scope)
}

func (j *joining) writer(m *member.Member) writer {
	return writer{m: m, mark: j.r.mark(clusterID(j.cluster.Name)), take: j.take}
}
