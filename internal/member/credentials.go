package member

import (
	"context"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// CredentialsError says that a request was not sent, because what it has to carry could not be had: a credential plugin failed, a token's file
// cannot be read. The API server was not asked.
type CredentialsError struct{ Err error }

func (e *CredentialsError) Error() string { return e.Err.Error() }

func (e *CredentialsError) Unwrap() error { return e.Err }

// sentKey is the key under which a request's context holds whether it has come as far as the connection.
type sentKey struct{}

// watchConnection makes what client-go wraps around the connection, credential plugins among it, lie between two marks. It returns the outer
// one: an error of a request that has not reached the inner one is about credentials, whatever client-go calls it.
func watchConnection(cfg *rest.Config) func(http.RoundTripper) http.RoundTripper {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return connection{next} })
	return func(next http.RoundTripper) http.RoundTripper { return beforeCredentials{next} }
}

type connection struct{ next http.RoundTripper }

func (c connection) RoundTrip(request *http.Request) (*http.Response, error) {
	if sent, ok := request.Context().Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
	return c.next.RoundTrip(request)
}

type beforeCredentials struct{ next http.RoundTripper }

func (b beforeCredentials) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent atomic.Bool
	answer, err := b.next.RoundTrip(request.WithContext(context.WithValue(request.Context(), sentKey{}, &sent)))
	if err != nil && !sent.Load() {
		return answer, &CredentialsError{Err: err}
	}
	return answer, err
}
