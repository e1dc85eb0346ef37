package member

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// retryFor bounds how long a request that is throttled or meets a server error is repeated.
const retryFor = 10 * time.Second

// retry repeats a request that may safely be sent again: throttled (429), or a server error that is not about the object. It waits as long
// as the API server asks, else from 100 ms on twice as long each time, and gives up when the next wait would end after retryFor or with ctx.
// (client-go's own repetition is switched off where it can be: it knows no bound but a number, and waits whatever it is told.)
func retry[A interface{ Error() error }](ctx context.Context, send func() A) A {
	deadline := time.Now().Add(retryFor)
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		answer := send()
		err := answer.Error()
		wait := pause
		if seconds, asked := apierrors.SuggestsClientDelay(err); asked && seconds > 0 {
			wait = time.Duration(seconds) * time.Second
		}
		if err == nil || !temporary(err) || time.Now().Add(wait).After(deadline) {
			return answer
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return answer
		}
	}
}

// temporary reports whether an API server answered that it could not serve a request now.
func temporary(err error) bool {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return false
	}
	class := classify(err)
	return class == ClassThrottled || class == ClassServer
}
