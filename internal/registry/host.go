package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// records returns what is registered on the host: what was read once, with what this process has joined and unjoined since.
func (r *Registry) records(ctx context.Context) (map[string]record, error) {
	if r.host == nil {
		return nil, nil
	}
	_, err := r.reading.get(ctx, r.readHost)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		var absent *member.NotServedError
		if !errors.As(err, &absent) || !r.controlPlane {
			return nil, unreadable(err)
		}
	}
	return r.readLocked(), nil
}

// readLocked is what records returns, as far as the host has been read by now.
func (r *Registry) readLocked() map[string]record {
	known := maps.Clone(r.reading.known())
	if known == nil {
		known = map[string]record{}
	}
	for name := range r.left {
		delete(known, name)
	}
	maps.Copy(known, r.joined)
	return known
}

func unreadable(err error) error {
	var absent *member.NotServedError
	if errors.As(err, &absent) {
		err = fmt.Errorf("the host cluster does not know KubeFedCluster; install it with a kubefed_control_plane, and let what needs it depend on that: %w", err)
	}
	return &UnreadableError{Err: err}
}

func (r *Registry) readHost(ctx context.Context) (map[string]record, error) {
	var list []unstructured.Unstructured
	err := r.attempt(ctx, func(ctx context.Context) (err error) {
		list, err = r.host.ListObjects(ctx, kubeFedClusterKind, r.config.Namespace, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	records := make(map[string]record, len(list))
	for i := range list {
		rec, err := recordOf(&list[i])
		if err != nil {
			return nil, err
		}
		records[rec.name] = rec
	}
	return records, nil
}

// attempt asks a cluster as often as the health check says, while the reason to fail is that it does not answer.
func (r *Registry) attempt(ctx context.Context, ask func(context.Context) error) error {
	health := r.config.Options.Health
	for n := 1; ; n++ {
		start := time.Now()
		err := within(ctx, health.Timeout, ask)
		if err == nil || n >= health.Attempts || !worthRepeating(err) {
			return err
		}
		select {
		case <-time.After(health.Interval - time.Since(start)):
		case <-ctx.Done():
			return err
		}
	}
}

func within(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return ask(ctx)
}

func worthRepeating(err error) bool {
	var u *member.UnreachableError
	if !errors.As(err, &u) {
		return false
	}
	return slices.Contains([]member.Class{member.ClassNetwork, member.ClassServer, member.ClassStrange, member.ClassThrottled}, u.Class)
}

// token finds the credential of a registered member on the host: with one LIST for all members, or, where listing Secrets is forbidden,
// with a GET.
func (r *Registry) token(ctx context.Context, rec record) (string, error) {
	if rec.token != "" {
		return rec.token, nil
	}
	tokens, err := r.tokens.get(ctx, r.listTokens)
	if isForbidden(err) {
		return r.getToken(ctx, rec.secret)
	}
	if err != nil {
		return "", err
	}
	if tokens[rec.secret] == "" {
		return "", &NoTokenError{Secret: rec.secret}
	}
	return tokens[rec.secret], nil
}

func (r *Registry) listTokens(ctx context.Context) (map[string]string, error) {
	var list []unstructured.Unstructured
	err := r.attempt(ctx, func(ctx context.Context) (err error) {
		list, err = r.host.ListObjects(ctx, secretKind, r.config.Namespace, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for i := range list {
		if token := secretValue(&list[i], "token"); token != "" {
			tokens[list[i].GetName()] = token
		}
	}
	return tokens, nil
}

func (r *Registry) getToken(ctx context.Context, name string) (string, error) {
	secret, err := r.host.Get(ctx, object(secretKind, r.config.Namespace, name))
	if err != nil {
		return "", err
	}
	token := ""
	if secret != nil {
		token = secretValue(secret, "token")
	}
	if token == "" {
		return "", &NoTokenError{Secret: name}
	}
	return token, nil
}

func secretValue(secret *unstructured.Unstructured, key string) string {
	encoded, _, err := unstructured.NestedString(secret.Object, "data", key)
	if err != nil {
		return ""
	}
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	return string(value)
}

func isForbidden(err error) bool {
	var refused *member.RefusedError
	return errors.As(err, &refused) && refused.Code == http.StatusForbidden
}
