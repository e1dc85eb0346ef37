package fleet

import (
	"context"
	"sync"
)

// each calls do for every name, at most MaxParallel at once, and returns the answers in the order of names.
func each[T any](ctx context.Context, f *Fleet, names []string, do func(context.Context, string) T) []T {
	return eachOf(ctx, f.config.MaxParallel, names, do)
}

// eachOf is each with another bound.
func eachOf[T any](ctx context.Context, atOnce int, names []string, do func(context.Context, string) T) []T {
	answers := make([]T, len(names))
	places := make(chan struct{}, max(1, atOnce))
	var all sync.WaitGroup
	for i, name := range names {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			answers[i] = do(ctx, name)
		})
	}
	all.Wait()
	return answers
}
