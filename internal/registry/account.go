package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// tokenLimit bounds the wait for the token of a new account.
const tokenLimit = 30 * time.Second

// account is what a join makes on a member. Names are those of kubefedctl, where it gives any:
//
//	namespace                              the registry's
//	service account                        <cluster>-<hash of the host>
//	ClusterRole and ClusterRoleBinding     kubefed-controller-manager:<service account>
//	Role and RoleBinding                   the same, in each namespace of a scope
//	Secret                                 <service account>-token[-<hash of token_rotation>]
//
// Everything is owned, by ownerReferences, by the role, so that one DELETE of that takes all away, for which no other right is needed.
type account struct {
	namespace string
	name      string // of the service account
	secret    string
	scope     Scope
}

// accountName is stable for a cluster and a host, and differs between hosts: a cluster may be a member of several federations.
func accountName(cluster, hostUID, namespace string) string {
	return cluster + "-" + shortHash(hostUID+"/"+namespace)
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// tokenSecret names the Secret of the token, a new one for each value of the rotation trigger.
func tokenSecret(account string, rotation map[string]string) string {
	name := account + "-token"
	if len(rotation) == 0 {
		return name
	}
	text := ""
	for _, key := range slices.Sorted(maps.Keys(rotation)) {
		text += fmt.Sprintf("%q=%q,", key, rotation[key])
	}
	return name + "-" + shortHash(text)
}

func (a account) role() string { return "kubefed-controller-manager:" + a.name }

// make makes the account or completes it, and returns its token.
func (a account) make(ctx context.Context, w writer) (token string, err error) {
	roles, err := a.makeRoles(ctx, w)
	if err != nil {
		return "", err
	}
	if _, err := w.put(ctx, object(serviceAccountKind, a.namespace, a.name), ownedBy(roles[0], map[string]any{})); err != nil {
		return "", err
	}
	if err := a.bind(ctx, w, roles); err != nil {
		return "", err
	}
	secret := map[string]any{
		"type":     "kubernetes.io/service-account-token",
		"metadata": map[string]any{"annotations": map[string]any{"kubernetes.io/service-account.name": a.name}},
	}
	if _, err := w.put(ctx, object(secretKind, a.namespace, a.secret), secret); err != nil {
		return "", err
	}
	return a.waitToken(ctx, w.m)
}

// waitToken waits until the cluster's controller has put a token into the Secret.
func (a account) waitToken(ctx context.Context, m *member.Member) (token string, err error) {
	limited, cancel := context.WithTimeout(ctx, tokenLimit)
	defer cancel()
	err = poll(limited, func() (bool, error) {
		secret, err := m.Get(ctx, object(secretKind, a.namespace, a.secret))
		if secret != nil {
			token = secretValue(secret, "token")
		}
		return token != "", err
	})
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return "", fmt.Errorf("member %s has put no token into Secret %s/%s within %s: its kube-controller-manager does not run, or does not make tokens", m.Name(), a.namespace, a.secret, tokenLimit)
	}
	return token, err
}

// ownedBy adds a reference to the role that owns an object. It does not hold the role's deletion up.
func ownedBy(owner *unstructured.Unstructured, tree map[string]any) map[string]any {
	metadata := map[string]any{}
	if old, ok := tree["metadata"].(map[string]any); ok {
		maps.Copy(metadata, old)
	}
	metadata["ownerReferences"] = []any{ownerReference(owner)}
	tree["metadata"] = metadata
	return tree
}

func ownerReference(owner *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID())}
}

// dropOldTokens deletes the Secrets of this account other than the present one; their tokens end with them.
func (a account) dropOldTokens(ctx context.Context, w writer) error {
	list, err := w.m.List(ctx, secretKind, a.namespace, member.OwnerLabel+"="+member.OwnerHash(w.mark.Owner))
	if err != nil {
		return err
	}
	for i := range list {
		found, _ := member.MarkOf(&list[i])
		if found != w.mark || list[i].Name == a.secret || list[i].Annotations["kubernetes.io/service-account.name"] != a.name {
			continue
		}
		if err := w.m.Delete(ctx, object(secretKind, a.namespace, list[i].Name), list[i].UID, member.DeleteOptions{Propagation: "Background"}); err != nil {
			return err
		}
	}
	return nil
}

// subjectOf reads from a token whose it is: what KubeFed registered says it nowhere else. The token is not verified, as nothing but the
// name of objects to look for depends on it.
func subjectOf(token string) types.NamespacedName {
	var claims struct {
		Subject string `json:"sub"`
	}
	payload, ok := jwtPayload(token)
	if !ok || json.Unmarshal(payload, &claims) != nil {
		return types.NamespacedName{}
	}
	return splitSubject(claims.Subject)
}
