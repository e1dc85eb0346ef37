package registry

import (
	"context"
	"sync"
)

// shared is an answer that is asked for once and shared by all callers, those that come while it is on its way included. The zero value
// has not been asked for.
type shared[T any] struct {
	mu    sync.Mutex
	query *query[T]
}

type query[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// get answers with what ask returned the first time. ask runs to its end even if ctx, the first caller's, ends earlier: others may wait.
func (s *shared[T]) get(ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	q := s.query
	if q == nil {
		q = &query[T]{done: make(chan struct{})}
		s.query = q
		go func() {
			defer close(q.done)
			q.value, q.err = ask(context.WithoutCancel(ctx))
		}()
	}
	s.mu.Unlock()
	select {
	case <-q.done:
		return q.value, q.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// forget makes the next get ask again.
func (s *shared[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.query = nil
}

// known is the answer if there is one by now, else the zero value.
func (s *shared[T]) known() (value T) {
	s.mu.Lock()
	q := s.query
	s.mu.Unlock()
	if q == nil {
		return value
	}
	select {
	case <-q.done:
		return q.value
	default:
		return value
	}
}
