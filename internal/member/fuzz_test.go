package member

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

const fuzzSecret = "canary-of-a-secret"

// fuzzKubeconfigs are files that tools write, and some that break readers.
var fuzzKubeconfigs = []string{
	"", "\x00", "---\n", "[]", "apiVersion: v1\nkind: Config\n", "kind: Secret\napiVersion: v1\n", "contexts: [{name: a, context: {cluster: c, user: u}}]\ncurrent-context: a\n",
	"{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: u, user: {token: " + fuzzSecret + "}}]}",
	"{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: '::', certificate-authority-data: YQ==}}], users: [{name: u, user: {exec: {command: x}}}]}",
	"{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: h, proxy-url: 'http://u:" + fuzzSecret + "@p'}}], users: [{name: u, user: {token: [" + fuzzSecret + "]}}]}",
	"{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: h, insecure-skip-tls-verify: true, certificate-authority: /nowhere}}], users: [{name: u, user: {auth-provider: {name: x}}}]}",
	"{users: [{name: u, user: {password: " + fuzzSecret + ", client-key-data: '" + fuzzSecret + "'}}]}", "a: &a [*a]", "contexts: null\nclusters: [null]\n",
}

func FuzzKubeconfig(f *testing.F) {
	for _, text := range fuzzKubeconfigs {
		f.Add(text, "")
		f.Add(text, "a")
	}
	file := filepath.Join(f.TempDir(), "config")
	f.Fuzz(func(t *testing.T, text, context string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		made, err := (&Connector{}).RESTConfig(Connection{ConfigPath: file, ConfigContext: context})
		wantConnection(t, made, err, fuzzSecret)
	})
}

func FuzzConnection(f *testing.F) {
	for _, host := range []string{"", "h", "https://127.0.0.1:6443", "http://h", "ftp://h", "https://", "https://h/p?q#f", "https://u:" + fuzzSecret + "@h", "[::1]:6443", "h:x", "h:99999", "\x00", " h", "https://h:1:2"} {
		f.Add(host, "", "", "", "", "")
		f.Add(host, "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n", fuzzSecret, fuzzSecret, "n", "http://u:"+fuzzSecret+"@p:1")
		f.Add(host, "pem", "", "t", "", "socks5://p")
	}
	f.Fuzz(func(t *testing.T, host, ca, key, token, server, proxy string) {
		for _, c := range []Connection{{Host: host, CACertificate: ca, Token: token, TLSServerName: server, ProxyURL: proxy}, {Host: host, CACertificate: ca, ClientCertificate: ca, ClientKey: key},
			{Host: host, Insecure: true, Token: token, ProxyURL: proxy}} {
			made, err := (&Connector{}).RESTConfig(c)
			wantConnection(t, made, err, key+token)
		}
	})
}

// wantConnection: a connection is usable or refused at an attribute, in words that quote no secret.
func wantConnection(t *testing.T, made *rest.Config, err error, secret string) {
	t.Helper()
	var refused *ConnectionError
	switch {
	case err == nil && made.Host == "":
		t.Fatal("a connection to nowhere is accepted")
	case err == nil:
		return
	case !errors.As(err, &refused):
		t.Fatalf("%v is no ConnectionError", err)
	case len(secret) >= len(fuzzSecret) && strings.Contains(err.Error(), secret), strings.Contains(err.Error(), ":"+fuzzSecret+"@"):
		t.Fatalf("a secret is quoted: %v", err)
	}
}

// FuzzNames: an object that a manifest may name is found at a path that says the same.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"", "a", "a/b", "..", ".", "%2f", "a%2fb", "a b", "é", "\x00", "a?b", "a#b", "a:b", "system:node", "-", strings.Repeat("a", 300), "A", "a\n"} {
		f.Add("v1", "ConfigMap", name, name)
		f.Add("apps/v1", "Deployment", "default", name)
		f.Add(name, name, "", "x")
	}
	f.Fuzz(func(t *testing.T, apiVersion, kind, namespace, name string) {
		version, id, err := federation.Identify(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}})
		if err != nil {
			if len(federation.Findings(err)) == 0 {
				t.Fatalf("%v is no InputError", err)
			}
			return
		}
		gv, err := schema.ParseGroupVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		object := Object{Kind: Kind{GVK: gv.WithKind(kind), Resource: "things"}, Namespace: id.Namespace, Name: id.Name}
		request := rest.NewRequestWithClient(&url.URL{Scheme: "https", Host: "h"}, "", rest.ClientContentConfig{}, nil).AbsPath(object.path()...)
		back, err := url.Parse(request.URL().String())
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(object.path(), "/"); back.Path != want || back.RawQuery != "" || back.Fragment != "" {
			t.Fatalf("%q is asked for at %q", want, request.URL())
		}
	})
}
