package member

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Object names one object on a member.
type Object struct {
	Kind      Kind
	Namespace string // "" for a cluster-scoped kind
	Name      string
}

func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind.GVK.Kind + " " + o.Name
	}
	return o.Kind.GVK.Kind + " " + o.Namespace + "/" + o.Name
}

func (o Object) path() []string { return append(o.Kind.path(o.Namespace), o.Name) }

// path is that of the kind's objects in one namespace or ("") in all.
func (k Kind) path(namespace string) []string {
	path := []string{"/apis", k.GVK.Group, k.GVK.Version}
	if k.GVK.Group == "" {
		path = []string{"/api", k.GVK.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, k.Resource)
}

// Get reads an object; nil without an error means that the API server says it is not there. An object that is being deleted is returned.
func (m *Member) Get(ctx context.Context, o Object) (*unstructured.Unstructured, error) {
	return m.got(o, retry(ctx, func() rest.Result { return m.get(ctx, o) }))
}

// GetOnce is Get without repetition, for who wants to know whether the member answers.
func (m *Member) GetOnce(ctx context.Context, o Object) (*unstructured.Unstructured, error) {
	return m.got(o, m.get(ctx, o))
}

func (m *Member) get(ctx context.Context, o Object) rest.Result {
	return m.rest.Get().AbsPath(o.path()...).MaxRetries(0).Do(ctx)
}

func (m *Member) got(o Object, answer rest.Result) (*unstructured.Unstructured, error) {
	live, err := decode(answer)
	switch {
	case err == nil:
		return live, nil
	case isAbsent(err, o):
		return nil, nil
	}
	return nil, m.failure("read", o, err)
}

// isAbsent is true only for a Status that says NotFound about the very object asked for, or about its namespace.
func isAbsent(err error, o Object) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	details := statusOf(err).Details
	if details == nil {
		return false
	}
	return details.Name == o.Name || (details.Kind == "namespaces" && details.Name == o.Namespace)
}

func statusOf(err error) metav1.Status {
	if status, ok := err.(apierrors.APIStatus); ok {
		return status.Status()
	}
	return metav1.Status{}
}

// failure turns what client-go returned into one of this package's errors.
func (m *Member) failure(verb string, o Object, err error) error {
	if u := unreachable(m.name, err); u != nil {
		return u
	}
	status := statusOf(err)
	details := status.Details
	if details == nil {
		details = &metav1.StatusDetails{}
	}
	if apierrors.IsNotFound(err) {
		switch {
		case details.Kind == "namespaces" && o.Namespace != "" && details.Name == o.Namespace:
			return &NamespaceMissingError{Member: m.name, Namespace: o.Namespace}
		case details.Name == "":
			return &NotServedError{Member: m.name, GVK: o.Kind.GVK}
		}
	}
	refused := &RefusedError{Member: m.name, Object: o, Verb: verb, Code: int(status.Code), Reason: status.Reason, Message: status.Message, Causes: details.Causes}
	for _, cause := range details.Causes {
		if cause.Field != "" {
			refused.Fields = append(refused.Fields, cause.Field)
		}
	}
	return refused
}

func decode(answer rest.Result) (*unstructured.Unstructured, error) {
	if err := answer.Error(); err != nil {
		return nil, err
	}
	body, err := answer.Raw()
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	live := &unstructured.Unstructured{}
	if err := live.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("decode the answer: %w", err)
	}
	return live, nil
}
