// Package member reaches one cluster: connects, discovers what it serves, reads, dry-runs, applies and deletes objects. It is the one door
// through which this provider touches a cluster, and knows nothing of Terraform or of other members.
package member

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// HealthCheck says how a member is asked whether it answers. Interval runs from start to start of two attempts; an attempt that takes
// longer is followed at once.
type HealthCheck struct {
	Attempts int
	Timeout  time.Duration
	Interval time.Duration
}

// Options are the same for every member of a provider.
type Options struct {
	FieldManager   string
	UserAgent      string
	Impersonate    rest.ImpersonationConfig
	QPS            float32 // requests per second, 0 = no limit
	RequestTimeout time.Duration
	Health         HealthCheck
}

// Member is a client for one cluster. It is safe for concurrent use and dials nothing before it is asked something.
type Member struct {
	name      string
	options   Options
	discovery *discovery.DiscoveryClient
	rest      rest.Interface // JSON
	metadata  rest.Interface // protobuf, which not every kind has

	mu    sync.Mutex
	probe *probe
}

// New makes the client for the cluster that cfg reaches. An error means that cfg itself cannot be used; it has the class ClassConfig.
func New(name string, cfg *rest.Config, o Options) (*Member, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = o.UserAgent
	if o.Impersonate.UserName != "" { // else the kubeconfig's own, if it has one
		cfg.Impersonate = o.Impersonate
	}
	cfg.QPS, cfg.Burst = -1, 0
	if o.QPS > 0 {
		cfg.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(o.QPS, max(1, int(2*o.QPS))) // one for all clients
	}
	cfg.Timeout = o.RequestTimeout
	cfg.WarningHandler, cfg.WarningHandlerWithContext = rest.NoWarnings{}, nil // they are in the answers; client-go would log them
	watch := watchConnection(cfg)
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, &UnreachableError{Member: name, Class: ClassConfig, Err: err}
	}
	client.Transport = watch(client.Transport)
	m := &Member{name: name, options: o}
	if err := m.connect(cfg, client); err != nil {
		return nil, &UnreachableError{Member: name, Class: ClassConfig, Err: err}
	}
	return m, nil
}

func (m *Member) connect(cfg *rest.Config, client *http.Client) (err error) {
	lists := metadata.ConfigFor(cfg)
	lists.GroupVersion, lists.APIPath = &schema.GroupVersion{}, "/"
	if m.metadata, err = rest.RESTClientForConfigAndClient(lists, client); err != nil {
		return fmt.Errorf("make the metadata client: %w", err)
	}
	if m.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(cfg, impatient(client)); err != nil {
		return fmt.Errorf("make the discovery client: %w", err)
	}
	others, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, client)
	if err != nil {
		return fmt.Errorf("make the client: %w", err)
	}
	m.rest = others.RESTClient()
	return nil
}

// impatient is a client over the same connections that does not hear when a server asks to come again later. Discovery by client-go would wait
// as long as it is told, ten times over, until its time is up, and what throttles would be taken for what does not answer.
func impatient(client *http.Client) *http.Client {
	deaf := *client
	deaf.Transport = withoutRetryAfter{client.Transport}
	return &deaf
}

type withoutRetryAfter struct{ http.RoundTripper }

func (t withoutRetryAfter) RoundTrip(r *http.Request) (*http.Response, error) {
	next := t.RoundTripper
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err == nil {
		answer.Header.Del("Retry-After")
	}
	return answer, err
}

// Name is the member's name in the federation.
func (m *Member) Name() string { return m.name }

// FieldManager is the name under which this member's objects are applied.
func (m *Member) FieldManager() string { return m.options.FieldManager }

// Kinds answers what the member serves. The first call probes the member's health, as often as Options.Health says, and its answer, good or
// bad, is kept for the life of the process; all callers share it. The error is an UnreachableError.
func (m *Member) Kinds(ctx context.Context) (*Kinds, error) {
	m.mu.Lock()
	if m.probe == nil {
		m.probe = &probe{done: make(chan struct{})}
		go m.probe.run(context.WithoutCancel(ctx), m)
	}
	p := m.probe
	m.mu.Unlock()
	select {
	case <-p.done:
		return p.kinds, p.err
	case <-ctx.Done():
		return nil, &UnreachableError{Member: m.name, Class: ClassNetwork, Err: ctx.Err()}
	}
}

// Forget drops what was learned about the member's health and kinds, so that the next call of Kinds asks again: after a
// CustomResourceDefinition was made, or after the member was joined.
func (m *Member) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.probe = nil
}
