package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Registration is a registered cluster as it is found.
type Registration struct {
	Cluster
	Joined

	// Broken says what is wrong with what the join made, so that joining again mends it; "" = nothing.
	Broken string
	// Unknown is why the member could not be looked at; nil = it was.
	Unknown error
}

// ReadCluster looks at a registered cluster: at what the host says, and with the member's own account at the roles. A cluster that is not
// registered is nil without an error. Errors: UnknownError, UnreadableError, DuplicateError.
func (r *Registry) ReadCluster(ctx context.Context, name string) (*Registration, error) {
	if r.host == nil {
		return nil, errNoHost
	}
	if r.config.Unknown != "" {
		return nil, &UnknownError{Why: r.config.Unknown}
	}
	records, err := r.records(ctx)
	if err != nil {
		return nil, err
	}
	rec, ok := records[name]
	if !ok {
		return nil, nil
	}
	found := &Registration{
		Cluster: Cluster{
			Name: name, APIEndpoint: rec.endpoint, Labels: rec.labels, Annotations: rec.annotations, Region: rec.region, Zones: rec.zones,
			Availability: rec.availability, Scope: rec.scope, DisabledTLSValidations: rec.disabledTLS, ProxyURL: rec.proxyURL,
		},
		Joined: *rec.joined(),
	}
	found.ServiceAccount = r.accountOf(ctx, rec).String()
	found.Broken, found.Unknown = r.lookAt(ctx, rec)
	return found, nil
}

// lookAt says what is broken on the member, or why that is not known.
func (r *Registry) lookAt(ctx context.Context, rec record) (broken string, unknown error) {
	if rec.leaving {
		return "unjoining it has begun and was not finished", nil
	}
	c, err := r.open(ctx, rec.name)
	if err == nil && rec.marked {
		broken, err = r.checkRoles(ctx, c.plain, rec)
	}
	var down *member.UnreachableError
	if errors.As(err, &down) {
		switch down.Class {
		case member.ClassUnauthorized, member.ClassForbidden, member.ClassConfig:
			return down.Error(), nil
		}
	}
	return broken, err
}

// checkRoles compares the roles on the member with those that the scope asks for. That the account may read them tells that it is there and
// bound.
func (r *Registry) checkRoles(ctx context.Context, m *member.Member, rec record) (broken string, err error) {
	who := r.accountOf(ctx, rec)
	a := account{namespace: who.Namespace, name: who.Name, scope: rec.scope}
	for _, role := range a.roles() {
		live, err := m.Get(ctx, role.object)
		switch {
		case isForbidden(err):
			return fmt.Sprintf("its account may not read %s", role.object), nil
		case err != nil:
			return "", err
		case live == nil:
			return fmt.Sprintf("%s is gone", role.object), nil
		case !sameRules(live, role.rules):
			return fmt.Sprintf("%s has other rules than the join gave it", role.object), nil
		}
	}
	return "", nil
}

func sameRules(live *unstructured.Unstructured, want []any) bool {
	have, _, err := unstructured.NestedSlice(live.Object, "rules")
	if err != nil {
		return false
	}
	a, err1 := json.Marshal(have)
	b, err2 := json.Marshal(want)
	return err1 == nil && err2 == nil && slices.Equal(a, b)
}
