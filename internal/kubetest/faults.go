package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RetryAfter adds a Retry-After header, in whole seconds, to a Status fault.
func RetryAfter(d time.Duration) Option { return func(f *Fault) { f.retryAfter = d } }

// Reason sets the reason in the body of a Status fault, such as "Forbidden".
func Reason(reason string) Option { return func(f *Fault) { f.reason = reason } }

// Message sets the message in the body of a Status fault.
func Message(message string) Option { return func(f *Fault) { f.message = message } }

// CarriedOut lets a [Proxy.Status] fault send the request on first, and answer
// in the API server's place: the request is done, and the client hears it is
// not.
func CarriedOut() Option { return func(f *Fault) { f.carriedOut = true } }

// Refuse makes the port refuse connections and drops those there are. Limited
// by [When] or [Times], it cuts the connection of each request it strikes.
func (p *Proxy) Refuse(options ...Option) *Fault {
	f := &Fault{name: "refuse"}
	f.refuses.Store(true)
	f.strike = func(x *exchange) bool {
		f.abort(x)
		return true
	}
	return p.set(f, options)
}

// BlackHole makes the port accept connections and never answer; those there
// are fall silent too. Limited by [When] or [Times], only the requests it
// strikes get no answer. None reaches the API server, not even after healing:
// that drops what was silent.
func (p *Proxy) BlackHole(options ...Option) *Fault {
	f := &Fault{name: "black hole"}
	f.silent.Store(true)
	f.strike = func(x *exchange) bool {
		f.hold(x, 0)
		panic(http.ErrAbortHandler)
	}
	return p.set(f, options)
}

// BreakTLS drops all connections and shows the given certificate to new ones.
func (p *Proxy) BreakTLS(certificate Certificate) *Fault {
	f := &Fault{name: "TLS: " + string(certificate), certificate: certificate}
	f.strike = func(*exchange) bool { return false } // the client did not mind
	return p.set(f, nil)
}

// Status answers with an HTTP status of 400 or more and a Kubernetes Status as
// body, whose reason and message are the usual ones unless set by [Reason] and
// [Message].
func (p *Proxy) Status(code int, options ...Option) *Fault {
	f := &Fault{name: "status " + strconv.Itoa(code), reason: reasons[code]}
	f.message = fmt.Sprintf("the proxy answers %d", code)
	f.strike = func(x *exchange) bool {
		status := metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: int32(code), Reason: metav1.StatusReason(f.reason), Message: f.message,
		}
		header := http.Header{"Content-Type": {"application/json"}}
		if seconds := int(f.retryAfter / time.Second); seconds > 0 {
			header.Set("Retry-After", strconv.Itoa(seconds))
			status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)}
		}
		if f.carriedOut {
			x.deliver()
		}
		body, err := json.Marshal(status)
		if err != nil {
			panic(err) // a Status always has a JSON form
		}
		x.answer(f.name, code, header, body)
		return true
	}
	return p.set(f, options)
}

// reasons are those that API servers give with a status.
var reasons = map[int]string{
	http.StatusBadRequest:          string(metav1.StatusReasonBadRequest),
	http.StatusUnauthorized:        string(metav1.StatusReasonUnauthorized),
	http.StatusForbidden:           string(metav1.StatusReasonForbidden),
	http.StatusNotFound:            string(metav1.StatusReasonNotFound),
	http.StatusConflict:            string(metav1.StatusReasonConflict),
	http.StatusGone:                string(metav1.StatusReasonExpired),
	http.StatusUnprocessableEntity: string(metav1.StatusReasonInvalid),
	http.StatusTooManyRequests:     string(metav1.StatusReasonTooManyRequests),
	http.StatusInternalServerError: string(metav1.StatusReasonInternalError),
	http.StatusServiceUnavailable:  string(metav1.StatusReasonServiceUnavailable),
	http.StatusGatewayTimeout:      string(metav1.StatusReasonTimeout),
}

// BareNotFound answers 404 in plain text, as a server does that is no API
// server, or one that does not serve a group.
func (p *Proxy) BareNotFound(options ...Option) *Fault {
	f := &Fault{name: "bare 404"}
	f.strike = func(x *exchange) bool {
		header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
		x.answer(f.name, http.StatusNotFound, header, []byte("404 page not found\n"))
		return true
	}
	return p.set(f, options)
}

// CutAfterWrites lets k-1 writes (see [Request.Write]) pass. The k-th reaches
// the API server, but its answer does not reach the client: from then on all
// connections are cut and new ones refused until healed. Writes pass one at a
// time meanwhile, so that exactly k arrive. k is at least 1.
func (p *Proxy) CutAfterWrites(k int, options ...Option) *Fault {
	f := &Fault{name: fmt.Sprintf("cut after %d writes", k)}
	var turn sync.Mutex
	passed := 0
	f.strike = func(x *exchange) bool {
		turn.Lock()
		defer turn.Unlock()
		if passed >= k {
			f.abort(x)
		}
		passed++
		if passed < k {
			x.forward()
			return true
		}
		x.deliver()
		f.refuses.Store(true)
		p.settle(f)
		f.abort(x)
		return true
	}
	return p.set(f, append([]Option{When(Request.Write)}, options...))
}

// LoseAnswer lets writes (see [Request.Write]) reach the API server and cuts
// the connection instead of passing the answer on.
func (p *Proxy) LoseAnswer(options ...Option) *Fault {
	f := &Fault{name: "lose answer"}
	f.strike = func(x *exchange) bool {
		x.deliver()
		f.abort(x)
		return true
	}
	return p.set(f, append([]Option{When(Request.Write)}, options...))
}

// Delay holds requests back for d before they go on. Healing lets them go.
func (p *Proxy) Delay(d time.Duration, options ...Option) *Fault {
	f := &Fault{name: "delay"}
	f.strike = func(x *exchange) bool {
		f.hold(x, d)
		return false
	}
	return p.set(f, options)
}

// DropConnections cuts all connections, once; new ones are accepted. When it
// returns, the clients have noticed.
func (p *Proxy) DropConnections() { p.gate.dropAll() }
