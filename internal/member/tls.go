package member

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"k8s.io/client-go/rest"
)

// The TLS checks that a KubeFedCluster may switch off.
const (
	TLSAll            = "*"
	TLSSubjectName    = "SubjectName"
	TLSValidityPeriod = "ValidityPeriod"
)

// Registered is a cluster as a KubeFedCluster and its Secret describe it.
type Registered struct {
	Endpoint               string // https is assumed where no scheme is given
	CABundle               []byte // PEM; empty = the system's roots
	Token                  string
	ProxyURL               string
	DisabledTLSValidations []string
	TLSServerName          string // the name in the server's certificate; "" = the endpoint's
}

// RESTConfig translates the registration for client-go. Relaxed TLS checks and a proxy work together. Its error is a *ConnectionError.
func (r Registered) RESTConfig() (*rest.Config, error) {
	u, err := serverURL(r.Endpoint)
	if err != nil {
		return nil, &ConnectionError{Attribute: "api_endpoint", Summary: "Invalid API endpoint", Detail: fmt.Sprintf("%s is not the address of an API server: %v.", quoted(r.Endpoint), err)}
	}
	proxy := http.ProxyFromEnvironment
	if r.ProxyURL != "" {
		p, err := proxyURL(r.ProxyURL)
		if err != nil {
			return nil, &ConnectionError{Attribute: "proxy_url", Summary: "Invalid proxy", Detail: err.Error() + "."}
		}
		proxy = http.ProxyURL(p)
	}
	cfg := &rest.Config{Host: u.String(), BearerToken: r.Token, Proxy: proxy, WarningHandler: rest.NoWarnings{}}
	cfg.ServerName = r.TLSServerName
	if slices.Contains(r.DisabledTLSValidations, TLSAll) {
		cfg.Insecure = true
		return cfg, nil
	}
	roots, err := certificates(r.CABundle)
	if err != nil {
		return nil, &ConnectionError{Attribute: "cluster_ca_certificate", Summary: "Invalid certificate", Detail: fmt.Sprintf("The CA bundle cannot be read: %v.", err)}
	}
	cfg.CAData = r.CABundle
	if len(r.DisabledTLSValidations) > 0 {
		cfg.TLSClientConfig = rest.TLSClientConfig{} // client-go refuses its own settings beside a transport
		cfg.Transport, cfg.Proxy = r.relaxedTransport(u, roots, proxy), nil
	}
	return cfg, nil
}

// relaxedTransport is client-go's default transport with some checks of the server's certificate left out; crypto/tls knows only all or
// none, so all are switched off there and the others done here.
func (r Registered) relaxedTransport(u *url.URL, roots []*x509.Certificate, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	check := relaxedCheck{
		roots:        roots,
		anyName:      slices.Contains(r.DisabledTLSValidations, TLSSubjectName),
		anyTime:      slices.Contains(r.DisabledTLSValidations, TLSValidityPeriod),
		expectedName: u.Hostname(),
	}
	if r.TLSServerName != "" {
		check.expectedName = r.TLSServerName
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			ServerName:         r.TLSServerName,
			InsecureSkipVerify: true, //nolint:gosec // verified by relaxedCheck
			VerifyConnection:   check.verify,
		},
	}
}

type relaxedCheck struct {
	roots            []*x509.Certificate // nil = the system's
	anyName, anyTime bool
	expectedName     string
}

func (c relaxedCheck) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server presents no certificate")
	}
	options := x509.VerifyOptions{Intermediates: c.pool(state.PeerCertificates[1:])}
	if c.roots != nil {
		options.Roots = c.pool(c.roots)
	}
	if !c.anyName {
		options.DNSName = c.expectedName
	}
	leaf := state.PeerCertificates[0]
	if c.anyTime {
		leaf = timeless(leaf)
	}
	_, err := leaf.Verify(options)
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}

func (c relaxedCheck) pool(list []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, certificate := range list {
		if c.anyTime {
			certificate = timeless(certificate)
		}
		pool.AddCert(certificate)
	}
	return pool
}

// timeless is a copy that is valid at any time. The signature covers the raw bytes, so it still holds.
func timeless(certificate *x509.Certificate) *x509.Certificate {
	always := *certificate
	always.NotBefore, always.NotAfter = time.Unix(0, 0), time.Unix(1<<40, 0)
	return &always
}

// certificates parses PEM text; nil for none.
func certificates(text []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		list = append(list, certificate)
	}
	if len(text) > 0 && list == nil {
		return nil, errors.New("there is no PEM certificate in it")
	}
	return list, nil
}
