package member_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

const kubeconfig = `apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster: {server: "https://prod.example:6443"}
- name: open
  cluster: {server: "https://open.example:6443", insecure-skip-tls-verify: true}
- name: proxied
  cluster: {server: "https://proxied.example:6443", proxy-url: "ftp://proxy.example"}
users:
- name: admin
  user: {token: kubeconfig-secret}
- name: plugin
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: get-token, interactiveMode: Always}
contexts:
- name: prod
  context: {cluster: prod, user: admin}
- name: open
  context: {cluster: open, user: admin}
- name: plugin
  context: {cluster: prod, user: plugin}
- name: proxied
  context: {cluster: proxied, user: admin}
- name: dangling
  context: {cluster: nowhere, user: admin}
`

func writeKubeconfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes a self-signed certificate and its key as PEM text.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	key = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
	return cert, key
}

func TestConnectionRefusesWhatCannotBeUsedAtTheAttributeAtFault(t *testing.T) {
	t.Parallel()
	file := writeKubeconfig(t, kubeconfig)
	cert, key := certificate(t)
	_, otherKey := certificate(t)
	const secret = "hunter2"
	for name, c := range map[string]struct {
		connection member.Connection
		attribute  string
		says       string
	}{
		"nothing at all":               {member.Connection{}, "", "config_path"},
		"a context and no kubeconfig":  {member.Connection{ConfigContext: "prod"}, "config_context", "no kubeconfig"},
		"both ways":                    {member.Connection{ConfigPath: file, Host: "https://a"}, "host", "exclude"},
		"a context beside a host":      {member.Connection{Host: "https://a", ConfigContext: "prod"}, "config_context", "config_path"},
		"a token beside a kubeconfig":  {member.Connection{ConfigPath: file, Token: secret}, "token", "kubeconfig"},
		"no such kubeconfig":           {member.Connection{ConfigPath: file + ".absent"}, "config_path", "no such file"},
		"a kubeconfig of nonsense":     {member.Connection{ConfigPath: writeKubeconfig(t, "token: "+secret+"\n- x")}, "config_path", "not a kubeconfig"},
		"an empty kubeconfig":          {member.Connection{ConfigPath: writeKubeconfig(t, "")}, "config_path", "no context at all"},
		"an absent context":            {member.Connection{ConfigPath: file, ConfigContext: "prd"}, "config_context", `"dangling", "open", "plugin", "prod", "proxied"`},
		"a context with a blank":       {member.Connection{ConfigPath: file, ConfigContext: " prod"}, "config_context", `no context " prod"`},
		"a context without a cluster":  {member.Connection{ConfigPath: file, ConfigContext: "dangling"}, "config_path", "nowhere"},
		"a kubeconfig's bad proxy":     {member.Connection{ConfigPath: file, ConfigContext: "proxied"}, "config_path", "ftp"},
		"a host with a blank":          {member.Connection{Host: " https://a"}, "host", "address"},
		"a host that is no URL":        {member.Connection{Host: "https://a:port"}, "host", "well-formed URL"},
		"a host with another scheme":   {member.Connection{Host: "ftp://a"}, "host", "ftp"},
		"a token over http":            {member.Connection{Host: "http://a", Token: secret}, "host", "in the clear"},
		"insecure and a CA":            {member.Connection{Host: "https://a", CACertificate: cert, Insecure: true}, "insecure", "exclude"},
		"a CA that is not PEM":         {member.Connection{Host: "https://a", CACertificate: "MIIB"}, "cluster_ca_certificate", "PEM"},
		"a certificate without key":    {member.Connection{Host: "https://a", ClientCertificate: cert}, "client_certificate", "client_key"},
		"a key without certificate":    {member.Connection{Host: "https://a", ClientKey: key}, "client_key", "client_certificate"},
		"a key of another certificate": {member.Connection{Host: "https://a", ClientCertificate: cert, ClientKey: otherKey}, "client_certificate", "does not match"},
		"a proxy of another scheme":    {member.Connection{Host: "https://a", ProxyURL: "ftp://user:" + secret + "@p"}, "proxy_url", "socks5"},
		"a proxy that is no URL":       {member.Connection{Host: "https://a", ProxyURL: "http://user:" + secret + "@p:port"}, "proxy_url", "well-formed URL"},
		"a token and a plugin":         {member.Connection{Host: "https://a", Token: secret, Exec: &member.Exec{Command: "x"}}, "exec", "exclude"},
		"a plugin without command":     {member.Connection{Host: "https://a", Exec: &member.Exec{APIVersion: "client.authentication.k8s.io/v1"}}, "exec", "command"},
		"a plugin of another API":      {member.Connection{Host: "https://a", Exec: &member.Exec{APIVersion: "v1", Command: "x"}}, "exec", "v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.connection.RESTConfig()
			var wrong *member.ConnectionError
			if !errors.As(err, &wrong) {
				t.Fatalf("want a ConnectionError, got %v", err)
			}
			if wrong.Attribute != c.attribute || !strings.Contains(wrong.Detail, c.says) {
				t.Errorf("want attribute %q and a text with %q, got %q: %s", c.attribute, c.says, wrong.Attribute, wrong.Detail)
			}
			if strings.Contains(wrong.Error(), secret) {
				t.Errorf("the error quotes a secret: %s", wrong)
			}
		})
	}
}

func TestConnectionTriesNoOtherPlace(t *testing.T) {
	t.Setenv("KUBECONFIG", writeKubeconfig(t, kubeconfig))
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	t.Setenv("KUBERNETES_MASTER", "https://elsewhere.example")
	for _, c := range []member.Connection{{}, {ConfigContext: "prod"}, {ConfigPath: filepath.Join(t.TempDir(), "absent")}} {
		if cfg, err := c.RESTConfig(); err == nil {
			t.Errorf("connection %+v ends at %s", c, cfg.Host)
		}
	}
}

func TestConnectionByContext(t *testing.T) {
	t.Parallel()
	file := writeKubeconfig(t, kubeconfig)
	for context, want := range map[string]string{"": "https://prod.example:6443", "prod": "https://prod.example:6443", "open": "https://open.example:6443"} {
		cfg, err := member.Connection{ConfigPath: file, ConfigContext: context}.RESTConfig()
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Host != want || cfg.BearerToken != "kubeconfig-secret" {
			t.Errorf("context %q ends at %s", context, cfg.Host)
		}
	}
}

func TestKubeconfigThatSkipsTLSNeedsNoCA(t *testing.T) {
	t.Parallel()
	cfg, err := member.Connection{ConfigPath: writeKubeconfig(t, kubeconfig), ConfigContext: "open"}.RESTConfig()
	if err != nil || !cfg.Insecure {
		t.Fatalf("insecure is %v, error %v", cfg != nil && cfg.Insecure, err)
	}
	if _, err := member.New("open", cfg, member.Options{}); err != nil {
		t.Error(err)
	}
}

func TestCredentialPluginNeverPrompts(t *testing.T) {
	t.Parallel()
	explicit := member.Connection{Host: "https://a", Exec: &member.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "get-token", Args: []string{"-x"}, Env: map[string]string{"A": "b"}}}
	for name, c := range map[string]member.Connection{
		"explicit":      explicit,
		"of kubeconfig": {ConfigPath: writeKubeconfig(t, kubeconfig), ConfigContext: "plugin"},
	} {
		cfg, err := c.RESTConfig()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if cfg.ExecProvider == nil || cfg.ExecProvider.InteractiveMode != "Never" || !cfg.ExecProvider.StdinUnavailable {
			t.Errorf("%s: %v", name, cfg.ExecProvider)
		}
		if _, err := member.New("a", cfg, member.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTildeIsTheHomeDirectory(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, "kube"), []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (member.Connection{ConfigPath: "~/kube"}).RESTConfig(); err != nil {
		t.Error(err)
	}
}

func TestHostWithoutSchemeIsHTTPS(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"a.example:6443": "https://a.example:6443", "127.0.0.1:6443": "https://127.0.0.1:6443", "a": "https://a", "http://a": "http://a"} {
		cfg, err := member.Connection{Host: host}.RESTConfig()
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		if cfg.Host != want {
			t.Errorf("%s becomes %s, not %s", host, cfg.Host, want)
		}
	}
}

func TestProxyAndServerNameGoWithEitherWay(t *testing.T) {
	t.Parallel()
	for _, c := range []member.Connection{{Host: "https://a"}, {ConfigPath: writeKubeconfig(t, kubeconfig)}} {
		c.ProxyURL, c.TLSServerName = "socks5://proxy.example:1080", "other"
		cfg, err := c.RESTConfig()
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := cfg.Proxy(&http.Request{})
		if err != nil || proxy.Host != "proxy.example:1080" || cfg.ServerName != "other" {
			t.Errorf("proxy %v (%v), server name %q", proxy, err, cfg.ServerName)
		}
	}
}

func TestConnectorCompletesAConnectionThatGivesOnlyAContext(t *testing.T) {
	t.Parallel()
	connector := &member.Connector{DefaultConfigPath: writeKubeconfig(t, kubeconfig)}
	if _, err := connector.RESTConfig(member.Connection{ConfigContext: "open"}); err != nil {
		t.Error(err)
	}
	if _, err := connector.RESTConfig(member.Connection{}); err == nil {
		t.Error("an empty connection has been completed")
	}
}

func TestAFaultOfTheDefaultKubeconfigIsNotTheConnections(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent")
	connector := &member.Connector{DefaultConfigPath: absent}
	for name, c := range map[string]struct {
		connection member.Connection
		isDefault  bool
	}{
		"by the default":       {member.Connection{ConfigContext: "open"}, true},
		"by its own":           {member.Connection{ConfigContext: "open", ConfigPath: absent}, false},
		"not the kubeconfig's": {member.Connection{ConfigContext: "open", Host: "https://a"}, false},
	} {
		_, err := connector.RESTConfig(c.connection)
		var wrong *member.ConnectionError
		if !errors.As(err, &wrong) || wrong.Default != c.isDefault {
			t.Errorf("%s: the error is %#v", name, err)
		}
	}
}

func TestAbsentKubeconfigIsToldApart(t *testing.T) {
	t.Parallel()
	_, err := member.Connection{ConfigPath: filepath.Join(t.TempDir(), "absent")}.RESTConfig()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want fs.ErrNotExist, got %v", err)
	}
}

func TestImpersonationOfAKubeconfigIsKeptUnlessTheProviderHasItsOwn(t *testing.T) {
	t.Parallel()
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	text, err := os.ReadFile(proxy.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	file := writeKubeconfig(t, strings.Replace(string(text), "    token:", "    as: jane\n    token:", 1))
	cfg, err := member.Connection{ConfigPath: file}.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{"", "john"} {
		proxy.Reset()
		m, err := member.New("a", cfg, member.Options{Impersonate: rest.ImpersonationConfig{UserName: own}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = m.Kinds(t.Context()) // jane may not
		want := own
		if want == "" {
			want = "jane"
		}
		for _, r := range proxy.Requests() {
			if got := r.Header.Get("Impersonate-User"); got != want {
				t.Errorf("%s acts as %q, want %q", r, got, want)
			}
		}
		if len(proxy.Requests()) == 0 {
			t.Error("nothing was asked")
		}
	}
}
