package kubetest

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy is a TLS server in front of one cluster's API server, on a loopback
// port of its own, with a CA of its own. It passes HTTP/1.1 and HTTP/2 on,
// watches and long polls too, records every [Request], and can be made to
// fail: see [Proxy.Refuse] and the other faults. Its methods may be called at
// any time and by several goroutines.
//
// A request with the proxy's token is passed on with the rights of the
// cluster's administrator. Any other Authorization is passed on as it is, so
// that the token of a service account works through the proxy.
type Proxy struct {
	// Name of the proxy, and of the context in its kubeconfig.
	Name string

	t            testing.TB
	gate         *gate
	server       *http.Server
	token        string
	ca           []byte
	certificates map[Certificate]*tls.Certificate
	kubeconfig   string
	admin, plain *httputil.ReverseProxy // with and without the administrator's certificate

	handlers sync.WaitGroup // requests being served
	settling sync.Mutex     // held while the port changes

	mutex    sync.Mutex
	stopping bool
	requests []*Request
	faults   []*Fault
}

// NewProxy starts a proxy in front of a cluster and stops it when the test ends.
func NewProxy(t testing.TB, cluster *Cluster) *Proxy {
	t.Helper()
	p := &Proxy{Name: UniqueName(t, cluster.Name), t: t}
	if err := p.start(cluster, filepath.Join(t.TempDir(), "kubeconfig")); err != nil {
		t.Fatalf("start a proxy in front of %s: %v", cluster.Name, err)
	}
	t.Cleanup(p.stop)
	return p
}

func (p *Proxy) start(cluster *Cluster, kubeconfig string) error {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	p.token = hex.EncodeToString(secret)
	var err error
	if p.certificates, p.ca, err = serverCertificates(); err != nil {
		return err
	}
	if p.admin, err = p.forwarder(cluster.RESTConfig()); err != nil {
		return err
	}
	if p.plain, err = p.forwarder(rest.AnonymousClientConfig(cluster.RESTConfig())); err != nil {
		return err
	}
	if p.gate, err = newGate(); err != nil {
		return err
	}
	p.server = &http.Server{
		Handler:     http.HandlerFunc(p.serve),
		TLSConfig:   p.tlsConfig(),
		ErrorLog:    log.New(io.Discard, "", 0),
		ConnContext: rememberConn,
	}
	go func() { _ = p.server.ServeTLS(p.gate, "", "") }()
	p.kubeconfig = kubeconfig
	return p.writeKubeconfig()
}

// tlsConfig shows the certificate that the faults call for. Without session
// tickets, every connection gets to see it.
func (p *Proxy) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS12,
		SessionTicketsDisabled: true,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return p.certificates[p.certificate()], nil
		},
	}
}

// stop closes the port and all connections.
func (p *Proxy) stop() {
	p.mutex.Lock()
	p.stopping = true
	p.mutex.Unlock()
	p.Heal()
	_ = p.gate.Close()
	_ = p.server.Close()
	p.handlers.Wait()
	for _, forwarder := range []*httputil.ReverseProxy{p.admin, p.plain} {
		forwarder.Transport.(*http.Transport).CloseIdleConnections()
	}
}

// forwarder passes requests on to the API server with the credentials of config.
func (p *Proxy) forwarder(config *rest.Config) (*httputil.ReverseProxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     &http.Transport{TLSClientConfig: tlsConfig, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 100},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, _ error) {
			if r.Context().Err() != nil { // the client gave up on this request, and may go on with its others
				panic(http.ErrAbortHandler)
			}
			cut(r) // an API server that is gone looks through the proxy as it does without
		},
	}, nil
}

// writeKubeconfig writes a kubeconfig with the proxy's address, CA and token.
func (p *Proxy) writeKubeconfig() error {
	config := clientcmdapi.NewConfig()
	config.CurrentContext = p.Name
	config.Contexts[p.Name] = &clientcmdapi.Context{Cluster: p.Name, AuthInfo: p.Name}
	config.Clusters[p.Name] = &clientcmdapi.Cluster{Server: p.Host(), CertificateAuthorityData: p.ca}
	config.AuthInfos[p.Name] = &clientcmdapi.AuthInfo{Token: p.token}
	return clientcmd.WriteToFile(*config, p.kubeconfig)
}

// Kubeconfig returns the path of a kubeconfig that reaches the cluster through
// the proxy as its administrator. Its one context is named like the proxy.
func (p *Proxy) Kubeconfig() string { return p.kubeconfig }

// Host returns the proxy's address, as https://127.0.0.1:PORT.
func (p *Proxy) Host() string { return fmt.Sprintf("https://127.0.0.1:%d", p.gate.port) }

// CA returns the certificate authority that a client has to trust, as PEM.
func (p *Proxy) CA() []byte { return append([]byte(nil), p.ca...) }

// Token returns the bearer token with which the proxy grants the rights of the
// cluster's administrator. The cluster does not know it.
func (p *Proxy) Token() string { return p.token }

// RESTConfig returns a client configuration for the proxy, with its token and
// without rate limit.
func (p *Proxy) RESTConfig() *rest.Config {
	return &rest.Config{
		Host: p.Host(), BearerToken: p.token, QPS: -1, UserAgent: "kubetest",
		TLSClientConfig: rest.TLSClientConfig{CAData: p.CA()},
	}
}

// Requests returns what arrived since the start or [Proxy.Reset], in the order
// of arrival, requests still under way included.
func (p *Proxy) Requests() []Request {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	requests := make([]Request, len(p.requests))
	for i, r := range p.requests {
		requests[i] = *r
	}
	return requests
}

// Reset forgets the requests recorded so far.
func (p *Proxy) Reset() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.requests = nil
}

// Connections returns how many connections were accepted since the start. A
// client that retries into a black hole shows here alone.
func (p *Proxy) Connections() int { return p.gate.count() }

// Count returns how many recorded requests match says yes to.
func (p *Proxy) Count(match func(Request) bool) int {
	count := 0
	for _, r := range p.Requests() {
		if match(r) {
			count++
		}
	}
	return count
}

// Writes returns the recorded requests that could change what the cluster
// stores (see [Request.Write]), whether they reached it or not.
func (p *Proxy) Writes() []Request {
	var writes []Request
	for _, r := range p.Requests() {
		if r.Write() {
			writes = append(writes, r)
		}
	}
	return writes
}

// connKey finds the connection of a request in its context.
type connKey struct{}

func rememberConn(ctx context.Context, c net.Conn) context.Context {
	secure, ok := c.(*tls.Conn)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, connKey{}, secure.NetConn())
}

// cut drops the connection that a request came in on, and its handler with it.
func cut(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.drop()
	}
	panic(http.ErrAbortHandler)
}
