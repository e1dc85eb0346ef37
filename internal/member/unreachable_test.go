package member_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// unreachable checks that an error says that nothing is known, and why.
func unreachable(t *testing.T, what string, err error, class member.Class) {
	t.Helper()
	var u *member.UnreachableError
	if !errors.As(err, &u) {
		t.Errorf("%s: want an UnreachableError, got %v", what, err)
		return
	}
	if u.Class != class || u.Member != "eu" || u.Err == nil {
		t.Errorf("%s: member %s, class %q (want %q): %v", what, u.Member, u.Class, class, u.Err)
	}
	if down := class == member.ClassNetwork; u.Down() != down {
		t.Errorf("%s: down is %v", what, u.Down())
	}
}

// faults are the ways in which a member can fail as a whole.
var faults = map[string]struct {
	set   func(*kubetest.Proxy)
	class member.Class
}{
	"refused":          {func(p *kubetest.Proxy) { p.Refuse() }, member.ClassNetwork},
	"black hole":       {func(p *kubetest.Proxy) { p.BlackHole() }, member.ClassNetwork},
	"unknown CA":       {func(p *kubetest.Proxy) { p.BreakTLS(kubetest.UnknownAuthority) }, member.ClassTLS},
	"expired":          {func(p *kubetest.Proxy) { p.BreakTLS(kubetest.Expired) }, member.ClassTLS},
	"wrong host":       {func(p *kubetest.Proxy) { p.BreakTLS(kubetest.WrongHost) }, member.ClassTLS},
	"401":              {func(p *kubetest.Proxy) { p.Status(http.StatusUnauthorized) }, member.ClassUnauthorized},
	"403":              {func(p *kubetest.Proxy) { p.Status(http.StatusForbidden) }, member.ClassForbidden},
	"429":              {func(p *kubetest.Proxy) { p.Status(http.StatusTooManyRequests) }, member.ClassThrottled},
	"429, Retry-After": {func(p *kubetest.Proxy) { p.Status(http.StatusTooManyRequests, kubetest.RetryAfter(time.Hour)) }, member.ClassThrottled},
	"503, Retry-After": {func(p *kubetest.Proxy) { p.Status(http.StatusServiceUnavailable, kubetest.RetryAfter(time.Hour)) }, member.ClassServer},
	"500":              {func(p *kubetest.Proxy) { p.Status(http.StatusInternalServerError) }, member.ClassServer},
	"503":              {func(p *kubetest.Proxy) { p.Status(http.StatusServiceUnavailable) }, member.ClassServer},
	"503 on /apis":     {func(p *kubetest.Proxy) { p.Status(503, kubetest.When(below("/apis"))) }, member.ClassServer},
	"404 on all":       {func(p *kubetest.Proxy) { p.BareNotFound() }, member.ClassStrange},
	"404 on /api":      {func(p *kubetest.Proxy) { p.BareNotFound(kubetest.When(below("/api"))) }, member.ClassStrange},
	"404 on /apis":     {func(p *kubetest.Proxy) { p.BareNotFound(kubetest.When(below("/apis"))) }, member.ClassStrange},
	"answer is cut":    {func(p *kubetest.Proxy) { p.Refuse(kubetest.When(isDiscovery)) }, member.ClassNetwork},
}

func below(path string) func(kubetest.Request) bool {
	return func(r kubetest.Request) bool { return r.Path == path }
}

func TestAMemberThatFailsIsUnknownWhateverTheWay(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Member(t, 1)
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := kubetest.NewProxy(t, cluster)
			o := options()
			o.Health = member.HealthCheck{Attempts: 2, Timeout: 4 * time.Second, Interval: 10 * time.Millisecond}
			m := dial(t, proxy.RESTConfig(), o)
			fault.set(proxy)
			_, err := m.Kinds(t.Context())
			unreachable(t, "probe", err, fault.class)
			proxy.Heal()
			if _, again := m.Kinds(t.Context()); again == nil || again.Error() != err.Error() {
				t.Errorf("the second caller gets %v instead of %v", again, err)
			}
		})
	}
}

func TestProbeIsRepeatedUnlessTheCredentialsAreRefused(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Member(t, 1)
	for code, attempts := range map[int]int{401: 1, 403: 1, 429: 3, 500: 3, 503: 3} {
		proxy := kubetest.NewProxy(t, cluster)
		o := options()
		o.Health = member.HealthCheck{Attempts: 3, Timeout: 10 * time.Second, Interval: time.Millisecond}
		proxy.Status(code)
		if _, err := dial(t, proxy.RESTConfig(), o).Kinds(t.Context()); err == nil {
			t.Errorf("%d: no error", code)
		}
		if n := proxy.Count(isDiscovery); n != attempts {
			t.Errorf("%d: %d attempts, want %d", code, n, attempts)
		}
	}
}

func TestProbeSucceedsWithinItsAttempts(t *testing.T) {
	t.Parallel()
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	o := options()
	o.Health = member.HealthCheck{Attempts: 3, Timeout: 10 * time.Second, Interval: time.Millisecond}
	proxy.Status(503, kubetest.Times(2))
	if _, err := dial(t, proxy.RESTConfig(), o).Kinds(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestABlackHoleCostsNoMoreThanAttemptsTimesTimeout(t *testing.T) {
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	o := options()
	o.Health = member.HealthCheck{Attempts: 3, Timeout: 400 * time.Millisecond, Interval: 100 * time.Millisecond}
	proxy.BlackHole()
	start := time.Now()
	_, err := dial(t, proxy.RESTConfig(), o).Kinds(t.Context())
	if took := time.Since(start); took < 1200*time.Millisecond || took > 2200*time.Millisecond {
		t.Errorf("the probe took %s", took)
	}
	unreachable(t, "probe", err, member.ClassNetwork)
}

// requests are all that a member is asked about one object.
func requests(w *world, o member.Object) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"get":  func(ctx context.Context) error { _, err := w.Get(ctx, o); return err },
		"list": func(ctx context.Context) error { _, err := w.List(ctx, o.Kind, o.Namespace, ""); return err },
		"list objects": func(ctx context.Context) error {
			_, err := w.ListObjects(ctx, o.Kind, o.Namespace, metav1.ListOptions{})
			return err
		},
		"apply": func(ctx context.Context) error {
			_, err := w.Apply(ctx, o, data(o, "a", "1"), member.ApplyOptions{Require: createOnly})
			return err
		},
		"delete": func(ctx context.Context) error {
			return w.Delete(ctx, o, "0", member.DeleteOptions{Propagation: "Background"})
		},
		"release": func(ctx context.Context) error { return w.Release(ctx, o, "0") },
	}
}

func TestAnyRequestToAMemberThatFailsIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	for name, class := range map[string]member.Class{
		"refused": member.ClassNetwork, "unknown CA": member.ClassTLS, "expired": member.ClassTLS, "401": member.ClassUnauthorized,
	} {
		faults[name].set(w.proxy)
		for what, request := range requests(w, cm) {
			unreachable(t, name+", "+what, request(t.Context()), class)
		}
		w.proxy.Heal()
	}
	w.proxy.BlackHole()
	for what, request := range requests(w, cm) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		unreachable(t, "black hole, "+what, request(ctx), member.ClassNetwork)
		cancel()
	}
}

func TestAForbiddenRequestIsRefusedAndABare404IsNoAbsentObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.proxy.Status(http.StatusForbidden)
	for what, request := range requests(w, cm) {
		var refused *member.RefusedError
		if err := request(t.Context()); !errors.As(err, &refused) || refused.Code != http.StatusForbidden {
			t.Errorf("403, %s: %v", what, err)
		}
	}
	w.proxy.Heal()
	w.proxy.BareNotFound()
	for what, request := range requests(w, cm) {
		var notServed *member.NotServedError
		if err := request(t.Context()); !errors.As(err, &notServed) {
			t.Errorf("bare 404, %s: %v", what, err)
		}
	}
}

func TestThrottlesAndServerErrorsAreRepeated(t *testing.T) {
	w := newWorld(t)
	cm := w.configMap(t)
	for name, fault := range map[string][]kubetest.Option{"429": nil, "429 with Retry-After": {kubetest.RetryAfter(time.Second)}, "500": nil, "503": nil, "504": nil} {
		code := map[string]int{"500": 500, "503": 503, "504": 504}[name]
		if code == 0 {
			code = http.StatusTooManyRequests
		}
		for what, request := range requests(w, cm) {
			w.cluster.Delete(t, "v1", "ConfigMap", w.namespace, "cm")
			hit := w.proxy.Status(code, append([]kubetest.Option{kubetest.Times(2)}, fault...)...)
			start := time.Now()
			if err := request(t.Context()); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if hit.Hits() != 2 {
				t.Errorf("%s, %s: sent %d times into the fault", name, what, hit.Hits())
			}
			if took := time.Since(start); fault != nil && took < 2*time.Second {
				t.Errorf("%s, %s: Retry-After was not respected: %s", name, what, took)
			}
			hit.Heal()
		}
	}
}

func TestRepetitionIsBounded(t *testing.T) {
	w := newWorld(t)
	cm := w.configMap(t)
	w.proxy.Status(http.StatusTooManyRequests, kubetest.RetryAfter(time.Hour))
	for what, request := range requests(w, cm) {
		start := time.Now()
		unreachable(t, "Retry-After of an hour, "+what, request(t.Context()), member.ClassThrottled)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: gave up after %s", what, took)
		}
	}
	w.proxy.Heal()
	w.proxy.Status(http.StatusServiceUnavailable)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := w.Get(ctx, cm)
	unreachable(t, "cancelled while waiting", err, member.ClassServer)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("cancelled, gave up after %s", took)
	}
}

func TestAnObjectThatIsInvalidIsNotSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	fault := w.proxy.Status(http.StatusInternalServerError, kubetest.Reason(""), kubetest.Message("failed to create typed patch object"))
	_, err := w.Apply(t.Context(), cm, data(cm, "a", "1"), member.ApplyOptions{})
	var refused *member.RefusedError
	if !errors.As(err, &refused) || fault.Hits() != 1 {
		t.Errorf("sent %d times: %v", fault.Hits(), err)
	}
}

func TestAServerThatWantsAnotherClientCertificateIsNotDown(t *testing.T) {
	t.Parallel()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{serverPair(t)}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	m := dial(t, &rest.Config{Host: "https://" + listener.Addr().String(), TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, options())
	_, err = m.Kinds(t.Context())
	unreachable(t, "probe", err, member.ClassTLS)
}

func serverPair(t *testing.T) tls.Certificate {
	t.Helper()
	cert, key := certificate(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestAServerThatSpeaksNoTLSIsTold(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	_, err = dial(t, &rest.Config{Host: "https://" + listener.Addr().String()}, options()).Kinds(t.Context())
	unreachable(t, "probe", err, member.ClassTLS)
	if !strings.Contains(err.Error(), "HTTP") {
		t.Errorf("the text does not say what is the matter: %s", err)
	}
}
