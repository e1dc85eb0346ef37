package fleet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

func TestRecordOutlivesPrivateState(t *testing.T) {
	t.Parallel()
	record, err := NewRecord()
	if err != nil {
		t.Fatal(err)
	}
	record.Copies["a"] = &Copy{UID: "1", Stamp: "g3", Fields: "h", Version: "v", Used: []int{0, 2}, Drift: true}
	record.Copies["b"] = &Copy{UID: "2", Foreign: true}
	record.Copies["c"] = &Copy{UID: "3", Stamp: "g1", Fields: "h", Version: "v", Unready: true}
	if err := record.keep(map[string]map[string]any{"a": {"x": int64(9007199254740993)}}); err != nil {
		t.Fatal(err)
	}
	data, err := record.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseRecord(data)
	if err != nil || !reflect.DeepEqual(record, again) {
		t.Errorf("read %+v (%v), wrote %+v", again, err, record)
	}
	former, err := again.former("a", nil)
	if err != nil || former["x"] != int64(9007199254740993) {
		t.Errorf("the former manifest is %v (%v)", former, err)
	}
	if nothing, err := ParseRecord(nil); nothing != nil || err != nil {
		t.Errorf("without data: %v, %v", nothing, err)
	}
}

func TestRecordsAreToldApartByIDAndKey(t *testing.T) {
	t.Parallel()
	a, errA := NewRecord()
	b, errB := NewRecord()
	if errA != nil || errB != nil || a.Resource == b.Resource || string(a.Key) == string(b.Key) || len(a.Key) != 16 {
		t.Errorf("%+v and %+v (%v, %v)", a, b, errA, errB)
	}
}

func TestCloneSharesNothingThatChanges(t *testing.T) {
	t.Parallel()
	record, err := NewRecord()
	if err != nil {
		t.Fatal(err)
	}
	record.Copies["a"] = &Copy{UID: "1"}
	clone := record.Clone()
	clone.Copies["a"].UID = "2"
	clone.Copies["b"] = &Copy{}
	if record.Copies["a"].UID != "1" || len(record.Copies) != 1 {
		t.Errorf("the original has %+v", record.Copies)
	}
}

// TestACopyIsSmall: performance.md allows 300 bytes of state for each beyond the template.
func TestACopyIsSmall(t *testing.T) {
	t.Parallel()
	record, err := NewRecord()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		record.Copies[fmt.Sprintf("member-%02d", i)] = &Copy{
			UID: types.UID("01234567-89ab-cdef-0123-456789abcdef"), Stamp: "r1234567890", Fields: "0123456789abcdef", Used: []int{0, 1, 2},
			Version: "v1:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		}
	}
	data, err := record.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if size := len(data) / 100; size > 300 {
		t.Errorf("%d bytes for each copy", size)
	}
}

func TestStampMovesWithWhatIsOurs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		generation int64
		kind, want string
	}{{3, "Deployment", "g3"}, {0, "ConfigMap", "r7"}, {1, "PriorityClass", "r7"}} {
		if got := stamp(c.generation, "7", c.kind); got != c.want {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}
}

func TestFactsAreStoredWithoutWhatIsNotUsed(t *testing.T) {
	t.Parallel()
	facts := &Facts{Scope: &Scope{Namespaced: true}, Ready: []string{"a"}}
	data, err := facts.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"scope":{"namespaced":true,"status":false},"ready":["a"]}`; string(data) != want {
		t.Errorf("stored is %s, want %s", data, want)
	}
	again, err := ParseFacts(data)
	if err != nil || !reflect.DeepEqual(facts, again) {
		t.Errorf("read %+v (%v)", again, err)
	}
	if _, err := ParseFacts([]byte("{")); err == nil || !json.Valid(data) {
		t.Error("nonsense is read")
	}
}

func TestMergeMakesOneFindingOfThoseOfAKind(t *testing.T) {
	t.Parallel()
	finding := func(detail string, members ...string) Finding {
		return Finding{Error: true, Path: []string{"template"}, Summary: "s", Detail: detail, Advice: "a", Members: members}
	}
	elsewhere := finding("d", "b")
	elsewhere.Path = nil
	for name, c := range map[string]struct {
		findings []Finding
		texts    []string
	}{
		"the same of several members": {[]Finding{finding("d", "c"), finding("d", "a", "c")}, []string{"Members a, c: d\n\na"}},
		"a line for each":             {[]Finding{finding("d", "c"), finding("e", "b"), finding("d", "a")}, []string{"Members a, b, c:\n  a, c: d\n  b: e\n\na"}},
		"of other attributes":         {[]Finding{finding("d", "a"), elsewhere}, []string{"Member a: d\n\na", "Member b: d\n\na"}},
		"of no member":                {[]Finding{finding("d"), finding("e")}, []string{"d\n\na", "e\n\na"}},
	} {
		var texts []string
		for _, f := range Merge(c.findings) {
			texts = append(texts, f.Text())
		}
		if !reflect.DeepEqual(texts, c.texts) {
			t.Errorf("%s: %q", name, texts)
		}
	}
}

func TestPolicyTakesWhatItLeavesOpenFromAnother(t *testing.T) {
	t.Parallel()
	p := Policy{OnExisting: PolicyAdopt}.Over(DefaultPolicy())
	want := DefaultPolicy()
	want.OnExisting = PolicyAdopt
	if p != want {
		t.Errorf("%+v", p)
	}
}

func idOf(group, kind string) federation.ID {
	return federation.ID{Group: group, Kind: kind, Name: "x"}
}

func TestProtectionIsTheDefaultOfWhatHoldsThingsOfOthers(t *testing.T) {
	t.Parallel()
	no, yes := false, true
	namespace := idOf("", "Namespace")
	for _, c := range []struct {
		d    Deletion
		kind string
		want bool
	}{{Deletion{}, "Namespace", true}, {Deletion{Protection: &no}, "Namespace", false}, {Deletion{}, "ConfigMap", false}, {Deletion{Protection: &yes}, "ConfigMap", true}} {
		id := namespace
		id.Kind = c.kind
		if got := c.d.Protected(id); got != c.want {
			t.Errorf("%s: %v", c.kind, got)
		}
	}
	if !(Deletion{}).Protected(idOf("apiextensions.k8s.io", "CustomResourceDefinition")) || (Deletion{}).Protected(idOf("example.com", "Namespace")) {
		t.Error("definitions are protected, and kinds of the same name are not")
	}
}

func TestScopesOfKubernetesOwnKindsAreKnown(t *testing.T) {
	t.Parallel()
	for kind, namespaced := range map[schema.GroupKind]bool{
		{Kind: "ConfigMap"}: true, {Kind: "Namespace"}: false, {Group: "apps", Kind: "Deployment"}: true, {Group: "storage.k8s.io", Kind: "StorageClass"}: false,
		{Group: "rbac.authorization.k8s.io", Kind: "Role"}: true, {Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: false,
	} {
		if scope := builtinScope(kind); scope == nil || scope.Namespaced != namespaced {
			t.Errorf("%s: %+v", kind, scope)
		}
	}
	if scope := builtinScope(schema.GroupKind{Group: "example.com", Kind: "Widget"}); scope != nil {
		t.Errorf("a foreign kind has %+v", scope)
	}
}
