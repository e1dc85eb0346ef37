package kubetest

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Fault is a way in which a [Proxy] fails, from when it is set until it is
// healed or used up. Several may be active; for a request they are asked in
// the order they were set, and the first one that answers ends it.
type Fault struct {
	name  string
	proxy *Proxy
	// strike does to a request what the fault does, and says whether that was
	// the end of it.
	strike func(*exchange) bool
	match  func(Request) bool // nil: every request

	// What the fault does to the port as a whole, whatever is requested.
	refuses     atomic.Bool
	silent      atomic.Bool
	certificate Certificate

	// The answer of a Status fault.
	retryAfter      time.Duration
	reason, message string
	carriedOut      bool

	mutex sync.Mutex
	times int // how often it may still strike; -1: no limit
	hits  int
	over  chan struct{} // closed when healed
}

// Option narrows a fault down or details its answer.
type Option func(*Fault)

// When limits a fault to the requests that match says yes to. Given twice, both
// have to.
func When(match func(Request) bool) Option {
	return func(f *Fault) {
		if before := f.match; before != nil {
			f.match = func(r Request) bool { return before(r) && match(r) }
			return
		}
		f.match = match
	}
}

// Times limits a fault to the first n requests that it strikes.
func Times(n int) Option { return func(f *Fault) { f.times = n } }

// Heal ends the fault. It may be called again.
func (f *Fault) Heal() {
	if f.finish() {
		f.proxy.remove(f)
	}
}

// finish marks the fault as over and says whether it was not before.
func (f *Fault) finish() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.isOver() {
		return false
	}
	close(f.over)
	return true
}

func (f *Fault) isOver() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// Hits returns how many requests the fault struck so far. Those that never got
// through a shut or silent port are not known.
func (f *Fault) Hits() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.hits
}

// takes says whether the fault strikes a request, and counts that.
func (f *Fault) takes(request Request) bool {
	if f.match != nil && !f.match(request) {
		return false
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.isOver() || f.times == 0 {
		return false
	}
	if f.times > 0 {
		f.times--
	}
	f.hits++
	return true
}

// Heal ends all faults.
func (p *Proxy) Heal() {
	for _, f := range p.active() {
		f.Heal()
	}
}

// active returns the faults, in the order they were set.
func (p *Proxy) active() []*Fault {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.faults)
}

// set makes a fault active.
func (p *Proxy) set(f *Fault, options []Option) *Fault {
	f.proxy, f.times, f.over = p, -1, make(chan struct{})
	for _, option := range options {
		option(f)
	}
	if f.match != nil || f.times >= 0 {
		f.refuses.Store(false) // it is about requests, not about the port
		f.silent.Store(false)
	}
	p.mutex.Lock()
	p.faults = append(p.faults, f)
	p.mutex.Unlock()
	p.settle(f)
	return f
}

func (p *Proxy) remove(f *Fault) {
	p.mutex.Lock()
	p.faults = slices.DeleteFunc(slices.Clone(p.faults), func(active *Fault) bool { return active == f })
	p.mutex.Unlock()
	p.settle(f)
}

// settle brings the port into the state that the active faults call for, after
// f began or ended. Connections are dropped then, and the clients open new
// ones, except that those which fall silent stay.
func (p *Proxy) settle(f *Fault) {
	if !f.refuses.Load() && !f.silent.Load() && f.certificate == "" {
		return
	}
	p.settling.Lock()
	defer p.settling.Unlock()
	var refuses, silent bool
	for _, active := range p.active() {
		refuses = refuses || active.refuses.Load()
		silent = silent || active.silent.Load()
	}
	if err := p.gate.shut(refuses); err != nil {
		p.t.Errorf("proxy %s: %v", p.Name, err)
	}
	if f.silent.Load() && !f.isOver() {
		p.gate.silence(true)
		return
	}
	p.gate.dropAll()
	p.gate.silence(silent)
}

// certificate returns what the TLS server is to show.
func (p *Proxy) certificate() Certificate {
	kind := valid
	for _, f := range p.active() {
		if f.certificate != "" {
			kind = f.certificate
		}
	}
	return kind
}

// abort ends a request without an answer, and its connection with it.
func (f *Fault) abort(x *exchange) {
	x.note(func(r *Request) { r.Fault = f.name })
	cut(x.source)
}

// hold keeps a request waiting until the fault is healed or d (if positive) has
// passed. If its client goes away meanwhile, the request ends there.
func (f *Fault) hold(x *exchange, d time.Duration) {
	x.note(func(r *Request) { r.Fault = f.name })
	var elapsed <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-elapsed:
	case <-f.over:
	case <-x.source.Context().Done():
		panic(http.ErrAbortHandler)
	}
}
