package member

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Connection says how to reach one cluster: either by a kubeconfig (ConfigPath) or by an address (Host). An empty field is one that was not
// given.
type Connection struct {
	ConfigPath    string // a kubeconfig; a leading "~/" is the home directory
	ConfigContext string // a context in it, as written there; "" = its current-context

	Host              string // https://name:port; https is assumed where no scheme is given
	CACertificate     string // PEM
	ClientCertificate string // PEM
	ClientKey         string // PEM
	Token             string
	Exec              *Exec

	Insecure      bool
	TLSServerName string
	ProxyURL      string // http, https or socks5
}

// Exec is a credential plugin. It is never given a terminal to prompt on.
type Exec struct {
	APIVersion string // client.authentication.k8s.io/v1 or /v1beta1
	Command    string
	Args       []string
	Env        map[string]string
}

// ConnectionError says which part of a connection cannot be used. It never quotes a secret.
type ConnectionError struct {
	Attribute string // as the connection is written in a configuration, e.g. "config_context"; "" = the connection as a whole
	Summary   string
	Detail    string
	Err       error // the cause, where a caller may need it (fs.ErrNotExist)
	Default   bool  // it is the connector's default kubeconfig that is at fault, which the connection does not name
}

func (e *ConnectionError) Error() string {
	switch {
	case e.Default:
		return "default " + e.Attribute + ": " + e.Summary + ": " + e.Detail
	case e.Attribute == "":
		return e.Summary + ": " + e.Detail
	}
	return e.Attribute + ": " + e.Summary + ": " + e.Detail
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// RESTConfig translates the connection for client-go. Nothing that the connection does not name is tried: no $KUBECONFIG, no localhost, no
// service account of a pod. It reads files, dials nobody, and its error is a *ConnectionError.
func (c Connection) RESTConfig() (*rest.Config, error) {
	return new(Connector).RESTConfig(c)
}

// Check finds what is wrong with the connection in itself, without reading a file. Its error is a *ConnectionError.
func (c Connection) Check() error {
	switch {
	case c.ConfigPath != "" && c.Host != "":
		return &ConnectionError{Attribute: "host", Summary: "Two ways to reach one cluster", Detail: "`config_path` and `host` exclude each other; give one of them."}
	case c.ConfigPath == "" && c.Host == "" && c.ConfigContext != "":
		return &ConnectionError{Attribute: "config_context", Summary: "Missing kubeconfig",
			Detail: "`config_context` names a context, but no kubeconfig is given: set `config_path` here or on the provider."}
	case c.ConfigPath == "" && c.Host == "":
		return &ConnectionError{Summary: "Missing connection",
			Detail: "Set `config_path` (a kubeconfig) or `host` (an address). No other place, such as $KUBECONFIG, is ever tried."}
	case c.Host != "" && c.ConfigContext != "":
		return &ConnectionError{Attribute: "config_context", Summary: "Two ways to reach one cluster", Detail: "`config_context` goes with `config_path`, not with `host`."}
	case c.ConfigPath != "":
		return c.checkKubeconfigOnly()
	}
	return c.checkExplicit()
}

// checkKubeconfigOnly refuses what would silently outrank the kubeconfig's own credentials.
func (c Connection) checkKubeconfigOnly() error {
	for _, a := range []struct {
		name string
		set  bool
	}{
		{"cluster_ca_certificate", c.CACertificate != ""},
		{"client_certificate", c.ClientCertificate != ""},
		{"client_key", c.ClientKey != ""},
		{"token", c.Token != ""},
		{"exec", c.Exec != nil},
	} {
		if a.set {
			return &ConnectionError{Attribute: a.name, Summary: "Two sources of credentials",
				Detail: fmt.Sprintf("`%s` goes with `host`; with `config_path` the kubeconfig says it.", a.name)}
		}
	}
	return c.checkProxy()
}

func (c Connection) checkExplicit() error {
	for _, check := range []func() error{c.checkHost, c.checkCA, c.checkClientCertificate, c.checkCredentials, c.checkProxy} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c Connection) checkHost() error {
	u, err := serverURL(c.Host)
	if err != nil {
		return &ConnectionError{Attribute: "host", Summary: "Invalid host", Detail: fmt.Sprintf("%s is not the address of an API server: %v. Write it as https://name:port.", quoted(c.Host), err)}
	}
	credentials := c.Token != "" || c.ClientKey != "" || c.Exec != nil
	if u.Scheme == "http" && credentials {
		return &ConnectionError{Attribute: "host", Summary: "Credentials without TLS", Detail: "Over http the credentials would be sent in the clear; use https."}
	}
	return nil
}

func (c Connection) checkCA() error {
	if c.CACertificate == "" {
		return nil
	}
	if c.Insecure {
		return &ConnectionError{Attribute: "insecure", Summary: "Contradictory TLS settings",
			Detail: "`insecure` and `cluster_ca_certificate` exclude each other: the certificate is either checked or not."}
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(c.CACertificate)) {
		return &ConnectionError{Attribute: "cluster_ca_certificate", Summary: "Invalid certificate",
			Detail: "There is no certificate in it. It has to be PEM text (-----BEGIN CERTIFICATE-----), not base64 of it and not a path: use base64decode() or file()."}
	}
	return nil
}

func (c Connection) checkClientCertificate() error {
	switch {
	case c.ClientCertificate == "" && c.ClientKey == "":
		return nil
	case c.ClientKey == "":
		return &ConnectionError{Attribute: "client_certificate", Summary: "Missing client key", Detail: "`client_certificate` needs its `client_key`."}
	case c.ClientCertificate == "":
		return &ConnectionError{Attribute: "client_key", Summary: "Missing client certificate", Detail: "`client_key` needs its `client_certificate`."}
	}
	if _, err := tls.X509KeyPair([]byte(c.ClientCertificate), []byte(c.ClientKey)); err != nil {
		return &ConnectionError{Attribute: "client_certificate", Summary: "Invalid client certificate",
			Detail: fmt.Sprintf("Certificate and key cannot be used together: %v. Both have to be PEM text.", err)}
	}
	return nil
}

func (c Connection) checkCredentials() error {
	if strings.ContainsFunc(c.Token, unicode.IsControl) {
		return &ConnectionError{Attribute: "token", Summary: "Invalid token", Detail: "There is a line break or another control character in it. If it was read from a file, put trimspace() around it."}
	}
	if c.Exec == nil {
		return nil
	}
	if c.Token != "" {
		return &ConnectionError{Attribute: "exec", Summary: "Two sources of credentials", Detail: "`token` and `exec` exclude each other."}
	}
	if c.Exec.Command == "" {
		return &ConnectionError{Attribute: "exec", Summary: "Missing command", Detail: "`exec.command` is the credential plugin to run."}
	}
	if v := c.Exec.APIVersion; v != "client.authentication.k8s.io/v1" && v != "client.authentication.k8s.io/v1beta1" {
		return &ConnectionError{Attribute: "exec", Summary: "Invalid exec API version",
			Detail: fmt.Sprintf("`exec.api_version` is %q; it has to be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, as the plugin speaks it.", v)}
	}
	return nil
}

func (c Connection) checkProxy() error {
	if c.ProxyURL == "" {
		return nil
	}
	if _, err := proxyURL(c.ProxyURL); err != nil {
		return &ConnectionError{Attribute: "proxy_url", Summary: "Invalid proxy", Detail: err.Error() + "."}
	}
	return nil
}

// errNoURL stands for what net/url says, which quotes the text: a password, perhaps, that somebody has not escaped.
var errNoURL = errors.New("it is not a well-formed URL")

// serverURL parses the address of an API server; without a scheme it is https, so that a credential never leaves in the clear by accident.
func serverURL(host string) (*url.URL, error) {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	switch {
	case err != nil:
		return nil, errNoURL
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("the scheme is %q, not https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("there is no host name in it")
	case u.User != nil:
		return nil, errors.New("there are credentials in it")
	}
	return u, nil
}

// quoted is an address as an error may quote it: without credentials in it.
func quoted(address string) string {
	if at := strings.LastIndex(address, "@"); at >= 0 {
		address = "…" + address[at:]
	}
	return strconv.Quote(address)
}

// proxyURL parses a proxy's address; its errors never quote it, as a password may be part of it.
func proxyURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the proxy's address cannot be read: %w", errNoURL)
	}
	switch u.Scheme {
	case "http", "https", "socks5":
	default:
		return nil, fmt.Errorf("the proxy's scheme is %q; it has to be http, https or socks5, as in http://proxy:3128", u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, errors.New("there is no host name in the proxy's address")
	}
	return u, nil
}

// explicit translates a connection that Check has found good and that names a host.
func (c Connection) explicit() (*rest.Config, error) {
	u, err := serverURL(c.Host)
	if err != nil {
		return nil, &ConnectionError{Attribute: "host", Summary: "Invalid host", Detail: err.Error() + "."}
	}
	cfg := &rest.Config{Host: u.String(), BearerToken: c.Token}
	cfg.CAData, cfg.CertData, cfg.KeyData = pemBytes(c.CACertificate), pemBytes(c.ClientCertificate), pemBytes(c.ClientKey)
	if c.Exec != nil {
		cfg.ExecProvider = c.Exec.provider()
	}
	return cfg, nil
}

// overlay adds what goes with a kubeconfig as well as with a host.
func (c Connection) overlay(cfg *rest.Config) error {
	if c.Insecure {
		if len(cfg.CAData) > 0 || cfg.CAFile != "" {
			return &ConnectionError{Attribute: "insecure", Summary: "Contradictory TLS settings", Detail: "The kubeconfig names a certificate authority for this cluster; `insecure` excludes it."}
		}
		cfg.Insecure = true
	}
	if c.TLSServerName != "" {
		cfg.ServerName = c.TLSServerName
	}
	if c.ProxyURL != "" {
		u, err := proxyURL(c.ProxyURL)
		if err != nil {
			return &ConnectionError{Attribute: "proxy_url", Summary: "Invalid proxy", Detail: err.Error() + "."}
		}
		cfg.Proxy = http.ProxyURL(u)
	}
	return nil
}

func (e *Exec) provider() *clientcmdapi.ExecConfig {
	p := &clientcmdapi.ExecConfig{APIVersion: e.APIVersion, Command: e.Command, Args: e.Args}
	for name, value := range e.Env {
		p.Env = append(p.Env, clientcmdapi.ExecEnvVar{Name: name, Value: value})
	}
	return neverPrompt(p)
}

// neverPrompt keeps a credential plugin from waiting for a human: Terraform runs it where nobody can answer.
func neverPrompt(p *clientcmdapi.ExecConfig) *clientcmdapi.ExecConfig {
	p.InteractiveMode = clientcmdapi.NeverExecInteractiveMode
	p.StdinUnavailable = true
	return p
}

func pemBytes(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// InvalidEndpoint says what is wrong with the address at which a registered member is reached; "" if nothing is. It is https: a token goes there.
func InvalidEndpoint(address string) string {
	u, err := serverURL(address)
	if err == nil && u.Scheme != "https" {
		err = fmt.Errorf("the scheme is %q, and the member's token would be sent in the clear", u.Scheme)
	}
	if err != nil {
		return fmt.Sprintf("%s is not the address of an API server: %v. Write it as https://name:port.", quoted(address), err)
	}
	return ""
}

// InvalidProxy says what is wrong with a proxy's address; "" if nothing is. It never quotes the address, as a password may be part of it.
func InvalidProxy(address string) string {
	if _, err := proxyURL(address); err != nil {
		return err.Error() + "."
	}
	return ""
}
