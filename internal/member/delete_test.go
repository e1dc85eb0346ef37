package member_test

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

var foreground = member.DeleteOptions{Propagation: metav1.DeletePropagationForeground}

func TestDeleteTakesTheVeryObjectOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	if err := w.Delete(t.Context(), cm, "some-uid", foreground); err != nil {
		t.Errorf("an absent object: %v", err)
	}
	live := w.cluster.Create(t, data(cm, "a", "1"))
	if err := w.Delete(t.Context(), cm, "some-uid", foreground); err != nil {
		t.Errorf("another object: %v", err)
	}
	if _, there := w.cluster.Find(t, "v1", "ConfigMap", w.namespace, "cm"); !there {
		t.Fatal("another object was deleted")
	}
	if err := w.Delete(t.Context(), cm, live.GetUID(), foreground); err != nil {
		t.Fatal(err)
	}
	if err := w.WaitGone(t.Context(), cm, live.GetUID()); err != nil {
		t.Error(err)
	}
}

func TestWaitGoneNamesTheFinalizerThatHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	held := data(cm, "a", "1")
	held["metadata"].(map[string]any)["finalizers"] = []any{"demo.test/hold"}
	live := w.cluster.Create(t, held)
	if err := w.Delete(t.Context(), cm, live.GetUID(), foreground); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var terminating *member.TerminatingError
	if err := w.WaitGone(ctx, cm, live.GetUID()); !errors.As(err, &terminating) {
		t.Fatalf("want a TerminatingError, got %v", err)
	}
	if len(terminating.Finalizers) == 0 || terminating.Finalizers[0] != "demo.test/hold" {
		t.Errorf("finalizers are %v", terminating.Finalizers)
	}
	if err := w.Delete(t.Context(), cm, live.GetUID(), foreground); err != nil {
		t.Errorf("deleting once more: %v", err)
	}
	done := make(chan error)
	go func() { done <- w.WaitGone(t.Context(), cm, live.GetUID()) }()
	w.cluster.MergePatch(t, "v1", "ConfigMap", w.namespace, "cm", `{metadata: {finalizers: null}}`)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWaitGoneIsDoneWhenAnotherObjectIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	w.cluster.Create(t, data(cm, "a", "1"))
	if err := w.WaitGone(t.Context(), cm, "some-uid"); err != nil {
		t.Error(err)
	}
}

func TestWaitGoneOfWhatIsNotBeingDeletedEndsWithTheContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	live := w.cluster.Create(t, data(cm, "a", "1"))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := w.WaitGone(ctx, cm, live.GetUID()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestWaitGoneEndsWhenTheMemberFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	live := w.cluster.Create(t, data(cm, "a", "1"))
	w.proxy.Refuse()
	unreachable(t, "wait", w.WaitGone(t.Context(), cm, live.GetUID()), member.ClassNetwork)
}

func TestForegroundDeletionTakesDependentsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.object(t, "apps/v1", "Deployment", "web")
	live := w.must(t, deployment, webDeployment(deployment, 1), member.ApplyOptions{}).Live
	kubetest.Eventually(t, func() error {
		if len(w.cluster.List(t, "apps/v1", "ReplicaSet", w.namespace, "")) == 0 {
			return errors.New("no ReplicaSet yet")
		}
		return nil
	})
	if err := w.Delete(t.Context(), deployment, live.GetUID(), foreground); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := w.WaitGone(ctx, deployment, live.GetUID()); err != nil {
		t.Fatal(err)
	}
	if left := w.cluster.List(t, "apps/v1", "ReplicaSet", w.namespace, ""); len(left) != 0 {
		t.Errorf("%d ReplicaSets are left", len(left))
	}
}

func TestDeleteHandsOnTheGracePeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := w.configMap(t)
	grace := int64(7)
	w.proxy.Reset()
	if err := w.Delete(t.Context(), cm, types.UID("u"), member.DeleteOptions{Propagation: metav1.DeletePropagationOrphan, GraceSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
	body := string(w.proxy.Requests()[0].Body)
	want := `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":7,"preconditions":{"uid":"u"},"propagationPolicy":"Orphan"}`
	if body != want {
		t.Errorf("sent %s, want %s", body, want)
	}
}
