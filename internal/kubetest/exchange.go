package kubetest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"time"
)

// exchange is one request on its way through a proxy.
type exchange struct {
	proxy  *Proxy
	record *Request // shared with the proxy; guarded by its mutex
	writer http.ResponseWriter
	source *http.Request
	body   []byte
}

// serve records a request, lets the faults have it, and passes it on if none
// of them answered.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	x := p.begin(w, r, body)
	defer x.end()
	request := *x.record
	for _, fault := range p.active() {
		if fault.takes(request) && fault.strike(x) {
			return
		}
	}
	x.forward()
}

// enter counts a handler in, unless the proxy is about to stop.
func (p *Proxy) enter() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.stopping {
		p.handlers.Add(1)
	}
	return !p.stopping
}

func (p *Proxy) begin(w http.ResponseWriter, r *http.Request, body []byte) *exchange {
	record := describe(r, body)
	record.Start = time.Now()
	p.mutex.Lock()
	p.requests = append(p.requests, &record)
	p.mutex.Unlock()
	x := &exchange{proxy: p, record: &record, source: r, body: body}
	x.writer = &recorder{ResponseWriter: w, exchange: x}
	return x
}

// note changes the record of the exchange.
func (x *exchange) note(change func(*Request)) {
	x.proxy.mutex.Lock()
	defer x.proxy.mutex.Unlock()
	change(x.record)
}

func (x *exchange) end() {
	x.note(func(r *Request) { r.Duration = time.Since(r.Start) })
}

// forward passes the request on and its answer back.
func (x *exchange) forward() { x.send(x.source.Context(), x.writer) }

// deliver passes the request on, even if its client goes away, and keeps the
// answer back.
func (x *exchange) deliver() {
	x.send(context.WithoutCancel(x.source.Context()), &discard{header: http.Header{}})
}

func (x *exchange) send(ctx context.Context, w http.ResponseWriter) {
	request := x.source.Clone(ctx)
	request.Body = io.NopCloser(bytes.NewReader(x.body))
	request.ContentLength = int64(len(x.body))
	request.TransferEncoding = nil
	forwarder := x.proxy.plain
	if request.Header.Get("Authorization") == "Bearer "+x.proxy.token {
		request.Header.Del("Authorization")
		forwarder = x.proxy.admin
	}
	x.note(func(r *Request) { r.Forwarded = true })
	forwarder.ServeHTTP(w, request)
}

// answer answers instead of the API server, on behalf of a fault.
func (x *exchange) answer(fault string, status int, header http.Header, body []byte) {
	x.note(func(r *Request) { r.Fault = fault })
	maps.Copy(x.writer.Header(), header)
	x.writer.WriteHeader(status)
	_, _ = x.writer.Write(body)
}

// recorder notes the status of the answer that a client gets.
type recorder struct {
	http.ResponseWriter
	exchange *exchange
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	w.exchange.note(func(r *Request) { r.Status = status })
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find the flusher.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// discard is a ResponseWriter for an answer that nobody gets.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
