package member_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// tunnel is a proxy of the HTTP kind: it connects whoever asks (CONNECT) and counts.
func tunnel(t *testing.T) (address string, used *atomic.Int32) {
	t.Helper()
	used = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		used.Add(1)
		connectThrough(t, w, r.Host)
	}))
	t.Cleanup(server.Close)
	return server.URL, used
}

func connectThrough(t *testing.T, w http.ResponseWriter, target string) {
	there, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	here, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	go func() {
		defer func() { _ = there.Close() }()
		_, _ = io.Copy(there, here)
	}()
	go func() {
		defer func() { _ = here.Close() }()
		_, _ = io.Copy(here, there)
	}()
}

// answers asks the cluster that a registration describes.
func answers(t *testing.T, r member.Registered) error {
	t.Helper()
	cfg, err := r.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	m, err := member.New("a", cfg, member.Options{RequestTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Kinds(t.Context())
	return err
}

func TestRelaxedTLSLeavesOutWhatIsNamedAndNothingElseAlsoThroughAProxy(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Member(t, 1)
	kinds := []kubetest.Certificate{"", kubetest.UnknownAuthority, kubetest.Expired, kubetest.WrongHost}
	for name, c := range map[string]struct {
		disabled []string
		accepts  []kubetest.Certificate
	}{
		"nothing":         {nil, kinds[:1]},
		"all":             {[]string{"*"}, kinds},
		"the name":        {[]string{"SubjectName"}, []kubetest.Certificate{"", kubetest.WrongHost}},
		"the time":        {[]string{"ValidityPeriod"}, []kubetest.Certificate{"", kubetest.Expired}},
		"name and time":   {[]string{"SubjectName", "ValidityPeriod"}, []kubetest.Certificate{"", kubetest.WrongHost, kubetest.Expired}},
		"all, twice told": {[]string{"*", "SubjectName"}, kinds},
	} {
		t.Run(name, func(t *testing.T) {
			address, used := tunnel(t)
			for _, certificate := range kinds {
				proxy := kubetest.NewProxy(t, cluster)
				if certificate != "" {
					proxy.BreakTLS(certificate)
				}
				for _, through := range []string{"", address} {
					before := used.Load()
					err := answers(t, member.Registered{Endpoint: proxy.Host(), CABundle: proxy.CA(), Token: proxy.Token(), ProxyURL: through, DisabledTLSValidations: c.disabled})
					accepted := contains(c.accepts, certificate)
					if (err == nil) != accepted {
						t.Errorf("certificate %q, proxy %q: got %v", certificate, through, err)
					}
					var down *member.UnreachableError
					if err != nil && (!errors.As(err, &down) || down.Class != member.ClassTLS) {
						t.Errorf("certificate %q: want a TLS error, got %v", certificate, err)
					}
					if went := used.Load() > before; went != (through != "") {
						t.Errorf("certificate %q: through the proxy %v, want %v", certificate, went, through != "")
					}
				}
			}
		})
	}
}

func contains(list []kubetest.Certificate, one kubetest.Certificate) bool {
	for _, c := range list {
		if c == one {
			return true
		}
	}
	return false
}

func TestRegisteredServerNameIsExpectedInTheCertificate(t *testing.T) {
	t.Parallel()
	for certificate, works := range map[string]bool{"localhost": true, "elsewhere.example": false} {
		proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
		for _, disabled := range [][]string{nil, {"ValidityPeriod"}} {
			err := answers(t, member.Registered{Endpoint: proxy.Host(), CABundle: proxy.CA(), Token: proxy.Token(), TLSServerName: certificate, DisabledTLSValidations: disabled})
			if (err == nil) != works {
				t.Errorf("server name %q, relaxed %v: got %v", certificate, disabled, err)
			}
		}
	}
}

func TestRegistrationThatCannotBeUsedIsAConnectionError(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]member.Registered{
		"endpoint": {Endpoint: "ftp://a"},
		"CA":       {Endpoint: "https://a", CABundle: []byte("x")},
		"proxy":    {Endpoint: "https://a", ProxyURL: "ftp://p"},
	} {
		_, err := r.RESTConfig()
		var wrong *member.ConnectionError
		if !errors.As(err, &wrong) || wrong.Attribute == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
