package member_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func isDiscovery(r kubetest.Request) bool { return r.Verb == kubetest.Discovery }

func TestOneProbeAnswersAllCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if _, err := w.Kinds(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if n := len(w.proxy.Requests()); n != 2 {
		t.Errorf("%d requests, want the 2 of aggregated discovery", n)
	}
	w.Forget()
	if _, err := w.Kinds(t.Context()); err != nil || len(w.proxy.Requests()) != 4 {
		t.Errorf("after Forget: %d requests, error %v", len(w.proxy.Requests()), err)
	}
}

func TestACallerThatGivesUpDoesNotSpoilTheProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := w.proxy.Delay(time.Minute, kubetest.When(isDiscovery))
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := w.Kinds(ctx)
		first <- err
	}()
	kubetest.Eventually(t, func() error {
		if held.Hits() == 0 {
			return errors.New("the probe has not begun")
		}
		return nil
	})
	cancel()
	var unreachable *member.UnreachableError
	if err := <-first; !errors.As(err, &unreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up gets %v", err)
	}
	held.Heal()
	if _, err := w.Kinds(t.Context()); err != nil {
		t.Errorf("the next caller gets %v", err)
	}
	if n := w.proxy.Count(isDiscovery); n != 2 {
		t.Errorf("%d discovery requests, want 2", n)
	}
}

func TestKindsAreFoundAsTheMemberServesThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds, err := w.Kinds(t.Context())
	if err != nil || !kinds.Complete() {
		t.Fatalf("complete %v, error %v", err == nil && kinds.Complete(), err)
	}
	for gvk, want := range map[schema.GroupVersionKind]member.Kind{
		{Version: "v1", Kind: "ConfigMap"}:                                         {Resource: "configmaps", Namespaced: true, Listable: true},
		{Version: "v1", Kind: "Namespace"}:                                         {Resource: "namespaces", HasStatus: true, Listable: true},
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                         {Resource: "deployments", Namespaced: true, HasStatus: true, Listable: true},
		{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectReview"}:  {},
		{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview"}: {Resource: "selfsubjectreviews"},
	} {
		got, err := kinds.Find(gvk)
		if want.Resource == "" {
			var notServed *member.NotServedError
			if !errors.As(err, &notServed) {
				t.Errorf("%s: want a NotServedError, got %v", gvk, err)
			}
			continue
		}
		want.GVK = gvk
		if err != nil || got != want {
			t.Errorf("%s is found as %+v (%v)", gvk, got, err)
		}
	}
}

func TestAKindOfAnotherVersionIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds, err := w.Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = kinds.Find(schema.GroupVersionKind{Group: "batch", Version: "v1beta1", Kind: "CronJob"})
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) || len(notServed.Served) != 1 || notServed.Served[0] != "batch/v1" {
		t.Fatalf("got %+v", err)
	}
	if want := "member eu does not serve batch/v1beta1 CronJob (it serves batch/v1)"; err.Error() != want {
		t.Errorf("text %q, want %q", err, want)
	}
}

func TestKindsOfANameAreFoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	kinds, err := newWorld(t).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	configMap, deployment := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	for name, want := range map[string][]schema.GroupVersionKind{
		"ConfigMap": {configMap}, "configmaps": {configMap}, "configmap": {configMap}, "Deployment": {deployment}, "Configuration": nil,
		"Event": {{Version: "v1", Kind: "Event"}, {Group: "events.k8s.io", Version: "v1", Kind: "Event"}},
	} {
		var got []schema.GroupVersionKind
		for _, kind := range kinds.Named(name) {
			got = append(got, kind.GVK)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found are %v, want %v", name, got, want)
		}
	}
}

func TestListableHasOneVersionOfEveryKindThatHoldsObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds, err := w.Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, kind := range kinds.Listable() {
		seen[kind.GVK.GroupKind().String()]++
	}
	for _, kind := range []string{"ConfigMap", "Deployment.apps", "Secret"} {
		if seen[kind] != 1 {
			t.Errorf("%s is listed %d times", kind, seen[kind])
		}
	}
	for _, kind := range []string{"SelfSubjectAccessReview.authorization.k8s.io", "ComponentStatus"} {
		if seen[kind] != 0 {
			t.Errorf("%s is listed", kind)
		}
	}
}

// brokenAPI makes the member's discovery incomplete: a group that is served by something that does not answer.
func brokenAPI(t *testing.T, w *world) (group string) {
	t.Helper()
	group = "broken.example.com"
	w.cluster.Create(t, map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1." + group},
		"spec": map[string]any{
			"group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10, "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": w.namespace, "name": "absent"},
		},
	})
	return group
}

func TestAKindIsOnlyNotServedWhenItsGroupAnswered(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, kubetest.Fresh(t, kubetest.Options{Name: "broken", Lean: true}))
	group := brokenAPI(t, w)
	var kinds *member.Kinds
	kubetest.Eventually(t, func() (err error) {
		w.Forget()
		if kinds, err = w.Kinds(t.Context()); err == nil && kinds.Complete() {
			err = errors.New("discovery is still complete")
		}
		return err
	})
	_, err := kinds.Find(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Gadget"})
	var unreachable *member.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.Class != member.ClassServer || unreachable.Down() {
		t.Errorf("a kind of the broken group: want an UnreachableError, got %v", err)
	}
	_, err = kinds.Find(schema.GroupVersionKind{Group: "example.net", Version: "v1", Kind: "Gadget"})
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) {
		t.Errorf("a kind of another group: want a NotServedError, got %v", err)
	}
	if _, err := kinds.Find(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}); err != nil {
		t.Errorf("a kind of a group that answers: %v", err)
	}
}

// unaggregated asks for discovery as clients before Kubernetes 1.26 did, and so gets the answers of an old API server.
type unaggregated struct{ http.RoundTripper }

func (u unaggregated) RoundTrip(r *http.Request) (*http.Response, error) {
	if path := strings.Trim(r.URL.Path, "/"); path == "api" || path == "apis" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept", "application/json")
	}
	return u.RoundTripper.RoundTrip(r)
}

func TestAnAPIServerThatDoesNotAggregateDiscoveryIsUnderstood(t *testing.T) {
	t.Parallel()
	cfg := kubetest.Member(t, 1).RESTConfig()
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return unaggregated{rt} })
	kinds, err := dial(t, cfg, options()).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kind, err := kinds.Find(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil || !kind.Namespaced || !kind.HasStatus || !kind.Listable {
		t.Errorf("Deployment is found as %+v (%v)", kind, err)
	}
	_, err = kinds.Find(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Gadget"})
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) {
		t.Errorf("want a NotServedError, got %v", err)
	}
}

func TestADefinitionIsFoundByGroupAndKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := kubetest.UniqueName(t, "member") + ".example.com"
	w.cluster.Create(t, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": false, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
		},
	})
	t.Cleanup(func() {
		w.cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets."+group)
	})
	for kind, want := range map[schema.GroupKind]bool{
		{Group: group, Kind: "Widget"}: true, {Group: group, Kind: "Gadget"}: false, {Group: "x." + group, Kind: "Widget"}: false, {Kind: "ConfigMap"}: false,
	} {
		if got, err := w.Defines(t.Context(), kind); got != want || err != nil {
			t.Errorf("%s is defined: %v (%v)", kind, got, err)
		}
	}
}
