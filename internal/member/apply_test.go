package member_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

var createOnly = member.Precondition{Create: true}

func TestApplyToCreateOnlyCreates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	tree := data(cm, "a", "1")
	dry := w.must(t, cm, tree, member.ApplyOptions{DryRun: true, Require: createOnly})
	if !dry.Created {
		t.Error("the dry run does not say that it would create")
	}
	if _, there := w.cluster.Find(t, "v1", "ConfigMap", w.namespace, "cm"); there {
		t.Fatal("the dry run has created the object")
	}
	applied := w.must(t, cm, tree, member.ApplyOptions{Require: createOnly})
	if !applied.Created || applied.Live.GetUID() == "" {
		t.Errorf("created %v, uid %q", applied.Created, applied.Live.GetUID())
	}
	if _, changed := tree["metadata"].(map[string]any)["resourceVersion"]; changed {
		t.Error("the caller's tree was modified")
	}
}

func TestApplyToCreateOnlyLeavesAnExistingObjectAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	for name, tree := range map[string]map[string]any{
		"other fields":      data(cm, "ours", "1"),
		"a field in common": data(cm, "theirs", "2"),
		"the same values":   data(cm, "theirs", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			cm := cm
			cm.Name = kubetest.UniqueName(t, "cm")
			there := w.cluster.Create(t, data(cm, "theirs", "1"))
			tree["metadata"].(map[string]any)["name"] = cm.Name
			for _, o := range []member.ApplyOptions{{Require: createOnly}, {Require: createOnly, DryRun: true}, {Require: createOnly, Force: true}} {
				_, err := w.Apply(t.Context(), cm, tree, o)
				var exists *member.ExistsError
				if !errors.As(err, &exists) {
					t.Fatalf("want an ExistsError, got %v", err)
				}
				if exists.Member != "eu" || exists.Live.GetUID() != there.GetUID() {
					t.Errorf("the error is about member %q, uid %s", exists.Member, exists.Live.GetUID())
				}
			}
			if live := w.live(t, cm); live.GetResourceVersion() != there.GetResourceVersion() {
				t.Errorf("the object was written: %v", live.Object)
			}
		})
	}
}

func TestApplyToOneObjectFindsItGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	first := w.must(t, cm, data(cm, "a", "1"), member.ApplyOptions{})
	w.cluster.Delete(t, "v1", "ConfigMap", w.namespace, "cm")
	require := member.ApplyOptions{Require: member.Precondition{UID: first.Live.GetUID()}}

	for _, when := range []string{"absent", "another one"} {
		if when == "another one" {
			w.cluster.Create(t, data(cm, "a", "theirs"))
		}
		for _, dryRun := range []bool{false, true} {
			for _, force := range []bool{false, true} {
				require.DryRun, require.Force = dryRun, force
				_, err := w.Apply(t.Context(), cm, data(cm, "b", "1"), require)
				var gone *member.GoneError
				if !errors.As(err, &gone) || gone.Member != "eu" || gone.Object.Name != "cm" {
					t.Errorf("%s, dry run %v, force %v: want a GoneError, got %v", when, dryRun, force, err)
				}
			}
		}
	}
	if live := w.live(t, cm); live.Object["data"].(map[string]any)["a"] != "theirs" {
		t.Errorf("the other object was written: %v", live.Object)
	}
}

func TestConflictNamesEveryFieldAndItsManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	first := w.must(t, cm, data(cm, "a", "1", "b", "1", "c", "1"), member.ApplyOptions{})
	w.cluster.Apply(t, `odd "name"`, true, data(cm, "a", "2"))
	w.cluster.Apply(t, "other", true, data(cm, "b", "2"))

	_, err := w.Apply(t.Context(), cm, data(cm, "a", "1", "b", "1", "c", "1"), member.ApplyOptions{Require: member.Precondition{UID: first.Live.GetUID()}})
	var conflict *member.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("want a ConflictError, got %v", err)
	}
	want := []member.Cause{{Field: ".data.a", Manager: `odd "name"`}, {Field: ".data.b", Manager: "other"}}
	if len(conflict.Causes) != 2 || conflict.Causes[0] != want[0] || conflict.Causes[1] != want[1] {
		t.Errorf("causes are %+v, want %+v", conflict.Causes, want)
	}
	forced := w.must(t, cm, data(cm, "a", "1", "b", "1", "c", "1"), member.ApplyOptions{Force: true})
	if got := forced.Live.Object["data"].(map[string]any)["a"]; got != "1" {
		t.Errorf("force leaves %v", got)
	}
}

func TestConflictOfAScaleNamesItsManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	w.must(t, deployment, webDeployment(deployment, 2), member.ApplyOptions{})
	w.cluster.MergePatch(t, "apps/v1", "Deployment", w.namespace, "web", map[string]any{"spec": map[string]any{"replicas": 5}}, "scale")
	_, err := w.Apply(t.Context(), deployment, webDeployment(deployment, 2), member.ApplyOptions{})
	var conflict *member.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("want a ConflictError, got %v", err)
	}
	if len(conflict.Causes) != 1 || conflict.Causes[0].Field != ".spec.replicas" || conflict.Causes[0].Manager != "kubetest" {
		t.Errorf("causes are %+v", conflict.Causes)
	}
}

func webDeployment(o member.Object, replicas int64) map[string]any {
	labels := map[string]any{"app": o.Name}
	return manifest(o, map[string]any{"spec": map[string]any{
		"replicas": replicas,
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "nginx:1"}}},
		},
	}})
}

func TestApplyToATerminatingObjectIsNoSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	held := data(cm, "a", "1")
	held["metadata"].(map[string]any)["finalizers"] = []any{"demo.test/hold"}
	first := w.cluster.Create(t, held)
	w.cluster.Delete(t, "v1", "ConfigMap", w.namespace, "cm")
	t.Cleanup(func() {
		w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	})
	for name, require := range map[string]member.Precondition{"create only": createOnly, "this one": {UID: first.GetUID()}} {
		_, err := w.Apply(t.Context(), cm, data(cm, "b", "1"), member.ApplyOptions{DryRun: true, Require: require})
		var terminating *member.TerminatingError
		if !errors.As(err, &terminating) {
			t.Fatalf("%s: want a TerminatingError, got %v", name, err)
		}
		if len(terminating.Finalizers) != 1 || terminating.Finalizers[0] != "demo.test/hold" || terminating.Since.IsZero() {
			t.Errorf("%s: finalizers %v, since %v", name, terminating.Finalizers, terminating.Since)
		}
	}
}

func TestApplyIntoAMissingNamespaceSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	cm.Namespace = kubetest.UniqueName(t, "absent")
	for _, o := range []member.ApplyOptions{{Require: createOnly}, {Require: createOnly, DryRun: true}, {}} {
		_, err := w.Apply(t.Context(), cm, data(cm, "a", "1"), o)
		var missing *member.NamespaceMissingError
		if !errors.As(err, &missing) || missing.Namespace != cm.Namespace || missing.Member != "eu" {
			t.Errorf("want a NamespaceMissingError, got %v", err)
		}
	}
}

func TestApplyToAPathThatIsNotServedIsNotAnAbsentObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	cm.Kind.Resource = "gadgets"
	_, err := w.Apply(t.Context(), cm, data(cm, "a", "1"), member.ApplyOptions{})
	var notServed *member.NotServedError
	if !errors.As(err, &notServed) || notServed.GVK.Kind != "ConfigMap" {
		t.Errorf("want a NotServedError, got %v", err)
	}
}

func TestRefusalNamesFieldsAndCanBeToldWithoutValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const secret = "c2VjcmV0LXZhbHVl!"
	for name, c := range map[string]struct {
		object member.Object
		tree   map[string]any
		code   int
		field  string
	}{
		"a wrong type":  {w.configMap(t), map[string]any{"data": map[string]any{"a": map[string]any{"b": secret}}}, 500, ""},
		"bad base64":    {w.object(t, "v1", "Secret", "s"), map[string]any{"data": map[string]any{"a": secret}}, 500, ""},
		"a bad name":    {w.configMap(t), map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": secret}}}, 422, "metadata.labels"},
		"no such field": {w.configMap(t), map[string]any{"dta": map[string]any{"a": secret}}, 500, ""},
	} {
		w.proxy.Reset()
		_, err := w.Apply(t.Context(), c.object, manifest(c.object, c.tree), member.ApplyOptions{})
		var refused *member.RefusedError
		if !errors.As(err, &refused) {
			t.Fatalf("%s: want a RefusedError, got %v", name, err)
		}
		if refused.Code != c.code || refused.Verb != "apply" || refused.Message == "" {
			t.Errorf("%s: %+v", name, refused)
		}
		if c.field != "" && (len(refused.Fields) == 0 || refused.Fields[0] != c.field) {
			t.Errorf("%s: fields are %v", name, refused.Fields)
		}
		if strings.Contains(refused.Safe(), secret) || !strings.Contains(refused.Safe(), "Invalid") {
			t.Errorf("%s: %s", name, refused.Safe())
		}
		if sent := len(w.proxy.Requests()); sent != 1 {
			t.Errorf("%s: %d requests: an object that is invalid stays so", name, sent)
		}
	}
}

func TestWarningsOfTheAPIServerAreHandedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pod := w.object(t, "v1", "Pod", "p")
	w.cluster.MergePatch(t, "v1", "Namespace", "", w.namespace, map[string]any{"metadata": map[string]any{"labels": map[string]any{"pod-security.kubernetes.io/warn": "restricted"}}})
	tree := manifest(pod, map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "x", "securityContext": map[string]any{"privileged": true}}}}})
	for _, dryRun := range []bool{true, false} {
		applied := w.must(t, pod, tree, member.ApplyOptions{DryRun: dryRun})
		if len(applied.Warnings) != 1 || !strings.Contains(applied.Warnings[0], "privileged") {
			t.Errorf("dry run %v: warnings are %q", dryRun, applied.Warnings)
		}
	}
}

func TestApplyUsesTheNamedManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.must(t, cm, data(cm, "a", "1"), member.ApplyOptions{})
	live := w.must(t, cm, data(cm, "b", "1"), member.ApplyOptions{Manager: "second"}).Live
	for _, name := range []string{manager, "second"} {
		owned, err := member.Owned(live, name)
		if err != nil || owned == nil || owned.Size() != 1 {
			t.Errorf("%s owns %v (%v)", name, owned, err)
		}
	}
}

func TestBothKindsOfPathAreReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := kubetest.UniqueName(t, "role")
	role := w.object(t, "rbac.authorization.k8s.io/v1", "ClusterRole", name)
	t.Cleanup(func() { w.cluster.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", name) })
	created := w.must(t, role, manifest(role, map[string]any{"rules": []any{}}), member.ApplyOptions{Require: createOnly})
	live, err := w.Get(t.Context(), role)
	if err != nil || live.GetUID() != created.Live.GetUID() {
		t.Errorf("%v, %v", live, err)
	}
	for text, o := range map[string]member.Object{"ClusterRole " + name: role, "ConfigMap " + w.namespace + "/cm": w.configMap(t)} {
		if o.String() != text {
			t.Errorf("%q is called %q", text, o)
		}
	}
	if err := w.Delete(t.Context(), role, live.GetUID(), member.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		t.Error(err)
	}
}

func TestApplySendsEveryCharacterAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	var all strings.Builder
	for c := rune(0); c <= 0x10ffff; c++ {
		if c < 0x3000 || c > 0xd7ff && c < 0x10100 && utf8.ValidRune(c) || c > 0x1fff0 && c < 0x20010 || c > 0x10fff0 {
			all.WriteRune(c)
		}
	}
	w.must(t, cm, data(cm, "all", all.String(), "line", "a\u0085b", "key.of_text-", "\ufeff"), member.ApplyOptions{Require: createOnly})
	for key, want := range map[string]string{"all": all.String(), "line": "a\u0085b", "key.of_text-": "\ufeff"} {
		live, _ := w.live(t, cm).Object["data"].(map[string]any)
		got, _ := live[key].(string)
		if got == want {
			continue
		}
		there, sent := []rune(got), []rune(want)
		for i := range sent {
			if i >= len(there) || there[i] != sent[i] {
				t.Errorf("%s arrived otherwise from %U on", key, sent[i])
				break
			}
		}
	}
}
