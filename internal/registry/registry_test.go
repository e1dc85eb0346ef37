package registry_test

import (
	"errors"
	"net/http"
	"reflect"
	"sync"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// static is a registry of members that nobody dials in the test.
func static(t *testing.T, members map[string]registry.Static) *registry.Registry {
	t.Helper()
	r, err := registry.New(registry.Config{Static: members, Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(entries []registry.Entry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

func isList(resource string) func(kubetest.Request) bool {
	return func(r kubetest.Request) bool { return r.Verb == kubetest.List && r.Resource == resource }
}

func TestMembersOfTheProviderBlockAreSortedAndKeepWhatTheUserSays(t *testing.T) {
	r := static(t, map[string]registry.Static{
		"us": {}, "eu": {Labels: map[string]string{"tier": "x"}, Region: "r", Zones: []string{"b", "a"}, Availability: registry.Draining},
	})
	entries, err := r.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := registry.Entry{Name: "eu", Labels: map[string]string{"tier": "x"}, Region: "r", Zones: []string{"a", "b"}, Availability: "draining", Source: "provider", Announced: true}
	if !reflect.DeepEqual(names(entries), []string{"eu", "us"}) || !reflect.DeepEqual(entries[0], want) {
		t.Errorf("members are %+v", entries)
	}
}

func TestUnknownRegistryAnswersNothingAndIsNotEmpty(t *testing.T) {
	r, err := registry.New(registry.Config{Unknown: "host_cluster is known after apply"})
	if err != nil {
		t.Fatal(err)
	}
	var unknown *registry.UnknownError
	if _, err := r.Members(t.Context()); !errors.As(err, &unknown) {
		t.Errorf("want an UnknownError, got %v", err)
	}
	if _, err := r.Open(t.Context(), "eu"); !errors.As(err, &unknown) {
		t.Errorf("want an UnknownError, got %v", err)
	}
}

func TestOpenTellsApartWhyThereIsNoClient(t *testing.T) {
	r := static(t, map[string]registry.Static{"later": {}, "off": {Availability: registry.Offline}})
	if err := r.Announce(registry.Announcement{Name: "announced"}); err != nil {
		t.Fatal(err)
	}
	var (
		notJoined *registry.NotJoinedError
		notMember *registry.NotMemberError
		down      *member.UnreachableError
	)
	for _, name := range []string{"later", "announced"} {
		if _, err := r.Open(t.Context(), name); !errors.As(err, &notJoined) {
			t.Errorf("%s: want a NotJoinedError, got %v", name, err)
		}
	}
	if _, err := r.Open(t.Context(), "off"); !errors.As(err, &down) || down.Class != member.ClassOffline {
		t.Errorf("want an offline member, got %v", err)
	}
	if _, err := r.Open(t.Context(), "x"); !errors.As(err, &notMember) || !reflect.DeepEqual(notMember.Known, []string{"announced", "later", "off"}) {
		t.Errorf("want a NotMemberError with all names, got %v", err)
	}
}

func TestAnnouncementOutranksWhatIsRegistered(t *testing.T) {
	r := static(t, map[string]registry.Static{"eu": {Labels: map[string]string{"tier": "x"}}})
	if r.Announced("eu") {
		t.Error("announced before it was")
	}
	for _, a := range []registry.Announcement{{Name: "eu", Labels: map[string]string{"tier": "y"}}, {Name: "us", Region: "r"}} {
		if err := r.Announce(a); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := r.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || entries[0].Labels["tier"] != "y" || !entries[0].Announced || entries[1].Source != registry.SourceAnnounced || entries[1].Region != "r" {
		t.Errorf("members are %+v", entries)
	}
	if !r.Announced("us") || len(r.Announcements()) != 2 {
		t.Errorf("announced are %+v", r.Announcements())
	}
}

func TestClusterAnnouncedAfterAPlacementThatItChangesIsAnError(t *testing.T) {
	byTier := func(e registry.Entry) bool { return e.Labels["tier"] == "x" }
	for name, c := range map[string]struct {
		announced registry.Announcement
		early     bool
	}{
		"chosen":         {registry.Announcement{Name: "d", Labels: map[string]string{"tier": "x"}}, true},
		"not chosen":     {registry.Announcement{Name: "d", Labels: map[string]string{"tier": "y"}}, false},
		"labels unknown": {registry.Announcement{Name: "d", LabelsUnknown: true}, false},
	} {
		r := static(t, nil)
		r.NotePlacement("apps/Deployment/default/web", byTier)
		err := r.Announce(c.announced)
		var order *registry.OrderError
		if errors.As(err, &order) != c.early {
			t.Errorf("%s: got %v", name, err)
		}
		if err := r.Announce(c.announced); err != nil {
			t.Errorf("%s: the same announcement again gives %v", name, err)
		}
	}
}

func TestHostIsReadOncePerProcessWhoeverAsks(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.host.Reset()
	f.member.Reset()
	r := f.registry()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := r.Open(t.Context(), "eu"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if clusters, secrets, all := f.host.Count(isList("kubefedclusters")), f.host.Count(isList("secrets")), len(f.host.Requests()); clusters != 1 || secrets != 1 || all != 2 {
		t.Errorf("the host got %d LISTs of KubeFedClusters, %d of Secrets and %d requests in all", clusters, secrets, all)
	}
	if n := len(f.member.Requests()); n != 1 { // to learn who it is
		t.Errorf("opening the member took %d requests: %v", n, f.member.Requests())
	}
}

func TestUnreadableHostIsNotAnEmptyRegistry(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	for name, fault := range map[string]func() *kubetest.Fault{
		"refused":  func() *kubetest.Fault { return f.host.Refuse() },
		"silent":   func() *kubetest.Fault { return f.host.BlackHole() },
		"TLS":      func() *kubetest.Fault { return f.host.BreakTLS(kubetest.UnknownAuthority) },
		"401":      func() *kubetest.Fault { return f.host.Status(http.StatusUnauthorized) },
		"403":      func() *kubetest.Fault { return f.host.Status(http.StatusForbidden) },
		"500":      func() *kubetest.Fault { return f.host.Status(http.StatusInternalServerError) },
		"bare 404": func() *kubetest.Fault { return f.host.BareNotFound() },
	} {
		broken := fault()
		entries, err := f.registry().Members(t.Context())
		broken.Heal()
		var unreadable *registry.UnreadableError
		if !errors.As(err, &unreadable) {
			t.Errorf("%s: want an UnreadableError, got %v and %v", name, entries, err)
		}
	}
}

func TestHostThatFailsForAMomentIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.host.Refuse(kubetest.Times(1))
	if _, err := f.registry().Members(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNameInTheProviderBlockAndOnTheHostIsAnError(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	r := f.registry(func(c *registry.Config) { c.Static = map[string]registry.Static{"eu": {}} })
	var duplicate *registry.DuplicateError
	if _, err := r.Members(t.Context()); !errors.As(err, &duplicate) || duplicate.Name != "eu" {
		t.Errorf("want a DuplicateError, got %v", err)
	}
}

func TestSecretsAreReadOneByOneWhereListingIsForbidden(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	f.host.Status(http.StatusForbidden, kubetest.When(isList("secrets")))
	f.works("eu")
}

func TestMemberWithoutItsCredentialIsAMisconfiguredOneAlone(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	joined := f.join(registry.Cluster{Name: "eu"})
	f.hostCluster.Delete(t, "v1", "Secret", f.namespace, joined.SecretName)
	r := f.registry()
	if entries, err := r.Members(t.Context()); err != nil || len(entries) != 1 {
		t.Errorf("members are %v, %v", entries, err)
	}
	var down *member.UnreachableError
	if _, err := r.Open(t.Context(), "eu"); !errors.As(err, &down) || down.Class != member.ClassConfig || down.Down() {
		t.Errorf("want a misconfigured member, got %v", err)
	}
}

func TestMemberThatIsAnotherClusterThanTheOneJoinedIsNotOpened(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	joined := f.join(registry.Cluster{Name: "eu"})
	other := kubetest.NewProxy(t, kubetest.Member(t, 2))
	f.hostCluster.MergePatch(t, "core.kubefed.io/v1beta1", "KubeFedCluster", f.namespace, "eu",
		map[string]any{"spec": map[string]any{"apiEndpoint": other.Host(), "caBundle": other.CA()}})
	f.hostCluster.MergePatch(t, "v1", "Secret", f.namespace, joined.SecretName, map[string]any{"data": map[string]any{"token": []byte(other.Token())}})
	var down *member.UnreachableError
	if _, err := f.registry().Open(t.Context(), "eu"); !errors.As(err, &down) || down.Class != member.ClassIdentity {
		t.Errorf("want an identity error, got %v", err)
	}
	if len(other.Writes()) > 0 {
		t.Errorf("it was written to: %v", other.Writes())
	}
}

func TestMemberThatDoesNotAnswerAsAnAPIServerIsAskedNoOftenerThanItsHealthCheckSays(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu"})
	attempts := config(nil, "").Options.Health.Attempts
	for name, fault := range map[string]func() *kubetest.Fault{
		"429":      func() *kubetest.Fault { return f.member.Status(http.StatusTooManyRequests) },
		"500":      func() *kubetest.Fault { return f.member.Status(http.StatusInternalServerError) },
		"bare 404": func() *kubetest.Fault { return f.member.BareNotFound() },
	} {
		broken := fault()
		f.member.Reset()
		var down *member.UnreachableError
		if _, err := f.registry().Open(t.Context(), "eu"); !errors.As(err, &down) {
			t.Errorf("%s: want a member that cannot be reached, got %v", name, err)
		}
		if asked := f.member.Requests(); len(asked) > attempts {
			t.Errorf("%s: to open it, it was asked %d times: %v", name, len(asked), asked)
		}
		f.member.Reset()
		if found, err := f.registry().ReadCluster(t.Context(), "eu"); err != nil || found.Unknown == nil {
			t.Errorf("%s: want a registration of which nothing can be said, got %+v, %v", name, found, err)
		}
		if asked := f.member.Requests(); len(asked) > attempts {
			t.Errorf("%s: to read its registration, it was asked %d times: %v", name, len(asked), asked)
		}
		broken.Heal()
	}
}

func TestMemberThatIsOfflineIsNeverDialled(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.join(registry.Cluster{Name: "eu", Availability: registry.Offline})
	before := f.member.Connections()
	var down *member.UnreachableError
	if _, err := f.registry().Open(t.Context(), "eu"); !errors.As(err, &down) || down.Class != member.ClassOffline {
		t.Errorf("want an offline member, got %v", err)
	}
	if _, err := f.registry().Unjoin(t.Context(), registry.Unjoining{Name: "eu"}); !errors.As(err, &down) || down.Class != member.ClassOffline {
		t.Errorf("want an offline member, got %v", err)
	}
	if after := f.member.Connections(); after != before {
		t.Errorf("it was dialled %d times", after-before)
	}
}

func TestNodesSayWhereAMemberIs(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Fresh(t, kubetest.Options{Name: "zones", Lean: true})
	for name, labels := range map[string]map[string]any{
		"n1": {"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z2"},
		"n2": {"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z1"},
		"n3": {"topology.kubernetes.io/zone": "z1"},
	} {
		cluster.Create(t, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "labels": labels}})
	}
	proxy := kubetest.NewProxy(t, cluster)
	r := static(t, map[string]registry.Static{"a": {Config: proxy.RESTConfig()}})
	for range 2 {
		where, err := r.NodeTopology(t.Context(), "a")
		if err != nil || where.Region != "r" || !reflect.DeepEqual(where.Zones, []string{"z1", "z2"}) {
			t.Errorf("it is %+v, %v", where, err)
		}
	}
	if n := proxy.Count(isList("nodes")); n != 1 {
		t.Errorf("the nodes were listed %d times", n)
	}
	proxy.Status(http.StatusForbidden, kubetest.When(isList("nodes")))
	if where, err := static(t, map[string]registry.Static{"a": {Config: proxy.RESTConfig()}}).NodeTopology(t.Context(), "a"); err != nil || where.Region != "" {
		t.Errorf("an account that may not see nodes gets %+v, %v", where, err)
	}
}
