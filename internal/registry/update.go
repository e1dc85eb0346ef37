package registry

import (
	"context"
	"errors"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Update changes what the host says of a joined cluster: labels, annotations, region, zones, availability, endpoint, proxy and TLS checks. The
// member is not dialled. former is what the configuration said before. Errors: NotMemberError, UnreadableError, those of package member.
func (r *Registry) Update(ctx context.Context, c, former Cluster) (*Joined, error) {
	if r.host == nil {
		return nil, errNoHost
	}
	live, err := r.host.Get(ctx, r.registered(c.Name))
	if err != nil {
		return nil, unreadable(err)
	}
	if live == nil {
		return nil, &NotMemberError{Name: c.Name}
	}
	rec, err := recordOf(live)
	if err != nil {
		return nil, err
	}
	rec = c.describe(rec)
	if _, err := rec.restConfig(""); err != nil {
		return nil, registrationError(err)
	}
	w := writer{m: r.host, mark: r.mark(clusterID(c.Name)), take: true}
	if rec, err = r.writeRecord(ctx, w, rec, former); err != nil {
		return nil, err
	}
	r.remember(rec)
	return rec.joined(), nil
}

// registrationError says which attribute of a registration cannot be used.
func registrationError(err error) error {
	var wrong *member.ConnectionError
	if errors.As(err, &wrong) {
		return &RegistrationError{Attribute: wrong.Attribute, Err: err}
	}
	return &RegistrationError{Err: err}
}

// remember makes what has just been written outrank what was read. The next Open makes a new client.
func (r *Registry) remember(rec record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.token == "" {
		rec.token = r.joined[rec.name].token
	}
	r.joined[rec.name] = rec
	delete(r.left, rec.name)
	delete(r.clients, rec.name)
	delete(r.topologies, rec.name)
}

// writeRecord applies the KubeFedCluster and takes away what it had and the record has not.
func (r *Registry) writeRecord(ctx context.Context, w writer, rec record, former Cluster) (record, error) {
	tree, err := rec.tree()
	if err != nil {
		return record{}, err
	}
	o := r.registered(rec.name)
	live, err := w.put(ctx, o, tree)
	if err != nil {
		return record{}, err
	}
	if rest := superfluous(live, tree, former); len(rest) > 0 {
		if live, err = w.m.Merge(ctx, o, rest); err != nil {
			return record{}, err
		}
	}
	return recordOf(live)
}

// superfluous is the merge patch that removes what was in the object by another manager's doing: a note that it is leaving, what another tool
// wrote before it was imported, and labels that the configuration gave up. Labels and annotations of others stay.
func superfluous(live *unstructured.Unstructured, tree map[string]any, former Cluster) map[string]any {
	patch := map[string]any{}
	metadata, spec := map[string]any{}, map[string]any{}
	for key, had := range map[string][2]map[string]string{
		"labels":      {live.GetLabels(), former.Labels},
		"annotations": {live.GetAnnotations(), former.Annotations},
	} {
		if gone := removed(had[0], had[1], nested(tree, "metadata", key)); len(gone) > 0 {
			metadata[key] = gone
		}
	}
	wanted := nested(tree, "spec")
	for key := range nested(live.Object, "spec") {
		if _, ok := wanted[key]; !ok {
			spec[key] = nil
		}
	}
	if len(metadata) > 0 {
		patch["metadata"] = metadata
	}
	if len(spec) > 0 {
		patch["spec"] = spec
	}
	return patch
}

// removed picks the keys to remove: those of ours, and of what the configuration had, that are there and not wanted.
func removed(live, former map[string]string, wanted map[string]any) map[string]any {
	gone := map[string]any{}
	for key := range live {
		_, keep := wanted[key]
		_, had := former[key]
		if !keep && (had || (strings.HasPrefix(key, prefix) && !isMark(key))) {
			gone[key] = nil
		}
	}
	return gone
}

func isMark(key string) bool {
	return key == member.OwnerLabel || key == member.OwnerAnnotation || key == member.ResourceAnnotation
}

func nested(tree map[string]any, path ...string) map[string]any {
	found, _, err := unstructured.NestedMap(tree, path...)
	if err != nil {
		return nil
	}
	return maps.Clone(found)
}

// accountOf is the service account of a registered member; KubeFed's own registrations name it only in the token.
func (r *Registry) accountOf(ctx context.Context, rec record) types.NamespacedName {
	if namespace, name, ok := strings.Cut(rec.serviceAccount, "/"); ok {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	token, err := r.token(ctx, rec)
	if err != nil {
		return types.NamespacedName{}
	}
	return subjectOf(token)
}

// hostUID tells hosts apart: the uid of kube-system, or of the registry's namespace where that may not be read.
func (r *Registry) hostUID(ctx context.Context) (string, error) {
	uid, err := r.namespaceUID(ctx, r.host, kubeSystem)
	if isForbidden(err) {
		uid, err = r.namespaceUID(ctx, r.host, r.config.Namespace)
	}
	if err != nil {
		return "", unreadable(err)
	}
	return uid, nil
}
