package kubetest

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// client is a dynamic client through the proxy, in a namespace, that keeps its
// connection.
type client struct {
	dynamic.ResourceInterface
	t *testing.T
}

func through(t *testing.T, p *Proxy, namespace string) client {
	t.Helper()
	return throughConfig(t, p.RESTConfig(), namespace)
}

func throughConfig(t *testing.T, config *rest.Config, namespace string) client {
	t.Helper()
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client{d.Resource(configMaps).Namespace(namespace), t}
}

func (c client) get(timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), timeout)
	defer cancel()
	_, err := c.List(ctx, metav1.ListOptions{})
	return err
}

func (c client) write(name string) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	_, err := c.Apply(ctx, name, tree(c.t, configMap("", name, "v")), metav1.ApplyOptions{FieldManager: "test"})
	return err
}

func (c client) mustGet() {
	c.t.Helper()
	if err := c.get(10 * time.Second); err != nil {
		c.t.Fatalf("the healed proxy answers: %v", err)
	}
}

func TestRefuseRefusesConnectionsUntilHealed(t *testing.T) {
	p := NewProxy(t, lean(t))
	c := through(t, p, "default")
	c.mustGet()
	for range 3 {
		fault := p.Refuse()
		if err := c.get(5 * time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("want connection refused, got %v", err)
		}
		fault.Heal()
		c.mustGet()
	}
}

func TestBlackHoleSilencesOldAndNewConnections(t *testing.T) {
	p := NewProxy(t, lean(t))
	dialsItself := p.RESTConfig() // or it would share the other's connection
	dialsItself.Dial = (&net.Dialer{}).DialContext
	old, fresh := through(t, p, "default"), throughConfig(t, dialsItself, "default")
	old.mustGet()
	p.Reset()
	connections := p.Connections()
	p.BlackHole()
	for _, c := range []client{old, fresh} {
		if err := c.get(300 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("want a deadline exceeded, got %v", err)
		}
	}
	if made := p.Connections() - connections; made != 1 {
		t.Errorf("the new client opened %d connections, want 1", made)
	}
	p.Heal()
	old.mustGet()
	fresh.mustGet()
	if n := p.Count(func(r Request) bool { return r.Verb == List }); n != 2 {
		t.Errorf("%d lists arrived, want the 2 after healing: %v", n, p.Requests())
	}
}

func TestBlackHoleForSomeRequestsLeavesOthersAlone(t *testing.T) {
	p := NewProxy(t, lean(t))
	namespace := lean(t).Namespace(t)
	c := through(t, p, namespace)
	fault := p.BlackHole(When(Request.Write), Times(1))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	object := tree(t, configMap(namespace, "lost", "v"))
	if _, err := c.Create(ctx, object, metav1.CreateOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("want a deadline exceeded, got %v", err)
	}
	c.mustGet()
	if err := c.write("second"); err != nil {
		t.Fatalf("the fault is used up: %v", err)
	}
	fault.Heal()
	if _, found := lean(t).Find(t, "v1", "ConfigMap", namespace, "lost"); found {
		t.Error("a write that vanished in the black hole arrived after healing")
	}
}

func TestStatusAnswersLikeAnAPIServer(t *testing.T) {
	p := NewProxy(t, lean(t))
	c := through(t, p, "default")
	for code, is := range map[int]func(error) bool{
		401: apierrors.IsUnauthorized,
		403: apierrors.IsForbidden,
		429: apierrors.IsTooManyRequests,
		500: apierrors.IsInternalError,
		503: apierrors.IsServiceUnavailable,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			fault := p.Status(code, Message("because"))
			defer fault.Heal()
			err := c.get(5 * time.Second)
			if !is(err) || !strings.Contains(err.Error(), "because") {
				t.Errorf("got %v", err)
			}
			if fault.Hits() != 1 {
				t.Errorf("hits = %d, want 1", fault.Hits())
			}
		})
	}
	c.mustGet()
}

func TestStatusCarriesReasonAndRetryAfter(t *testing.T) {
	p := NewProxy(t, lean(t))
	p.Status(429, RetryAfter(7*time.Second), Reason("Busy"), Times(1))
	response := send(t, p, http.MethodGet, "/api/v1/namespaces")
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.Header.Get("Retry-After") != "7" || !strings.Contains(string(body), `"reason":"Busy"`) {
		t.Errorf("got Retry-After %q and %s", response.Header.Get("Retry-After"), body)
	}
	if again := send(t, p, http.MethodGet, "/api/v1/namespaces"); again.StatusCode != http.StatusOK {
		t.Errorf("the fault was for one request, the next one got %s", again.Status)
	}
}

func TestBareNotFoundIsPlainText(t *testing.T) {
	p := NewProxy(t, lean(t))
	p.BareNotFound()
	response := send(t, p, http.MethodGet, "/apis/nowhere.example/v1")
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusNotFound || string(body) != "404 page not found\n" {
		t.Errorf("got %s %q", response.Status, body)
	}
}

func TestBreakTLSShowsABadCertificateUntilHealed(t *testing.T) {
	p := NewProxy(t, lean(t))
	c := through(t, p, "default")
	c.mustGet()
	for kind, is := range map[Certificate]func(error) bool{
		UnknownAuthority: func(err error) bool { return errors.As(err, new(x509.UnknownAuthorityError)) },
		WrongHost:        func(err error) bool { return errors.As(err, new(x509.HostnameError)) },
		Expired: func(err error) bool {
			var invalid x509.CertificateInvalidError
			return errors.As(err, &invalid) && invalid.Reason == x509.Expired
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			p.BreakTLS(kind)
			if err := c.get(5 * time.Second); !is(err) {
				t.Errorf("got %v", err)
			}
			p.Heal()
			c.mustGet()
		})
	}
}

func TestCutAfterWritesLetsExactlyKArrive(t *testing.T) {
	p := NewProxy(t, lean(t))
	namespace := lean(t).Namespace(t)
	c := through(t, p, namespace)
	p.CutAfterWrites(2)
	c.mustGet()
	if err := c.write("one"); err != nil {
		t.Fatalf("the first of two writes passes: %v", err)
	}
	if err := c.write("two"); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Fatalf("the second gets no answer, not %v", err)
	}
	if err := c.write("three"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("what comes after is refused, got %v", err)
	}
	if got := names(t, namespace); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the API server has %v, want one and two", got)
	}
	p.Heal()
	if err := c.write("three"); err != nil {
		t.Errorf("healed: %v", err)
	}
}

func TestCutAfterWritesHoldsForWritesAtTheSameTime(t *testing.T) {
	p := NewProxy(t, lean(t))
	namespace := lean(t).Namespace(t)
	c := through(t, p, namespace)
	p.CutAfterWrites(3)
	var writing sync.WaitGroup
	for i := range 10 {
		writing.Go(func() { _ = c.write(fmt.Sprintf("n%d", i)) })
	}
	writing.Wait()
	if got := names(t, namespace); len(got) != 3 {
		t.Errorf("the API server has %v, want 3 of them", got)
	}
}

func TestLoseAnswerWritesAllTheSame(t *testing.T) {
	p := NewProxy(t, lean(t))
	namespace := lean(t).Namespace(t)
	c := through(t, p, namespace)
	p.LoseAnswer(Times(1))
	c.mustGet()
	if err := c.write("one"); err == nil {
		t.Fatal("the answer was not lost")
	}
	if got := names(t, namespace); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the API server has %v, want one", got)
	}
	writes := p.Writes()
	if len(writes) != 1 || !writes[0].Forwarded || writes[0].Status != 0 || writes[0].Fault != "lose answer" {
		t.Errorf("recorded %+v", writes)
	}
	if err := c.write("one"); err != nil {
		t.Errorf("the fault is used up: %v", err)
	}
}

func TestDelayHoldsRequestsBack(t *testing.T) {
	p := NewProxy(t, lean(t))
	c := through(t, p, "default")
	c.mustGet()
	p.Reset()
	fault := p.Delay(200 * time.Millisecond)
	c.mustGet()
	if took := p.Requests()[0].Duration; took < 200*time.Millisecond {
		t.Errorf("the request took %s, want at least 200ms", took)
	}
	fault.Heal()
	p.Delay(time.Hour)
	answered := make(chan error, 1)
	go func() { answered <- c.get(10 * time.Second) }()
	Eventually(t, func() error {
		if len(p.Requests()) != 2 {
			return errors.New("the request has not arrived")
		}
		return nil
	})
	p.Heal()
	if err := <-answered; err != nil {
		t.Errorf("healing lets a delayed request go: %v", err)
	}
}

func TestDropConnectionsEndsAWatchButNotTheNextRequest(t *testing.T) {
	p := NewProxy(t, lean(t))
	c := through(t, p, "default")
	watching, err := c.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	for range 20 {
		p.DropConnections()
		c.mustGet()
	}
	timeout := time.After(5 * time.Second)
	for {
		select {
		case _, open := <-watching.ResultChan():
			if !open {
				return
			}
		case <-timeout:
			t.Fatal("the watch outlived its connection")
		}
	}
}

func TestFaultsOfOneProxyDoNotTouchAnother(t *testing.T) {
	broken, whole := NewProxy(t, lean(t)), NewProxy(t, lean(t))
	c := through(t, whole, "default")
	broken.Refuse()
	broken.Status(503)
	c.mustGet()
	if n := len(broken.Requests()); n != 0 {
		t.Errorf("the other proxy recorded %d requests", n)
	}
	if n := whole.Count(func(r Request) bool { return r.Verb == List }); n != 1 {
		t.Errorf("recorded %d lists, want 1", n)
	}
}

// names returns the ConfigMaps of a namespace but the one every namespace has.
func names(t *testing.T, namespace string) []string {
	t.Helper()
	var all []string
	for _, o := range lean(t).List(t, "v1", "ConfigMap", namespace, "") {
		if o.GetName() != "kube-root-ca.crt" {
			all = append(all, o.GetName())
		}
	}
	return all
}

// send sends a request that has no client between it and the wire.
func send(t *testing.T, p *Proxy, method, path string) *http.Response {
	t.Helper()
	transport, err := rest.HTTPClientFor(p.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, p.Host()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}
