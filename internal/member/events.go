package member

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Warning is an event of that type.
type Warning struct {
	About   string // the object, such as "Pod web-1"
	Reason  string
	Message string
}

func (w *Warning) String() string {
	return w.Reason + " (" + w.About + "): " + strings.TrimSuffix(strings.TrimSpace(w.Message), ".")
}

var eventKind = Kind{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Event"}, Resource: "events", Namespaced: true, Listable: true}

// clusterNamespace is where events about objects without a namespace are.
const clusterNamespace = "default"

// ancestors bounds how many owners up it is looked for the maker of an object: from a Pod over its Job to the CronJob is two.
const ancestors = 3

// lastWarning finds the last Warning event about an object or what it has made; nil if there is none, or if it cannot be known.
func (m *Member) lastWarning(ctx context.Context, o Object, uid types.UID) *Warning {
	namespace := o.Namespace
	if namespace == "" {
		namespace = clusterNamespace
	}
	events, err := m.ListObjects(ctx, eventKind, namespace, metav1.ListOptions{FieldSelector: "type=Warning"})
	if err != nil {
		return nil
	}
	slices.SortStableFunc(events, func(a, b unstructured.Unstructured) int { return eventTime(&b).Compare(eventTime(&a)) })
	made := map[string]bool{} // uid → whether it is the object, or made by it
	for i := range events {
		about, _, _ := unstructured.NestedStringMap(events[i].Object, "involvedObject")
		id := about["uid"]
		if _, known := made[id]; !known {
			made[id] = m.isOf(ctx, o, uid, about)
		}
		if made[id] {
			reason, _, _ := unstructured.NestedString(events[i].Object, "reason")
			message, _, _ := unstructured.NestedString(events[i].Object, "message")
			return &Warning{About: about["kind"] + " " + about["name"], Reason: reason, Message: message}
		}
	}
	return nil
}

// isOf reports whether an event's object is this one, or was made by it. What a controller makes has a name that begins with that of its
// owner, which spares most of the questions.
func (m *Member) isOf(ctx context.Context, o Object, uid types.UID, about map[string]string) bool {
	if about["uid"] == string(uid) {
		return true
	}
	gvk := schema.FromAPIVersionAndKind(about["apiVersion"], about["kind"])
	name := about["name"]
	for range ancestors {
		if !strings.HasPrefix(name, o.Name) {
			return false
		}
		kinds, err := m.Kinds(ctx)
		if err != nil {
			return false
		}
		kind, err := kinds.Find(gvk)
		if err != nil {
			return false
		}
		live, err := m.Get(ctx, Object{Kind: kind, Namespace: o.Namespace, Name: name})
		if err != nil || live == nil {
			return false
		}
		owner := metav1.GetControllerOf(live)
		if owner == nil {
			return false
		}
		if owner.UID == uid {
			return true
		}
		gvk, name = schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind), owner.Name
	}
	return false
}

// eventTime is when an event happened last; when it was made, if it does not say.
func eventTime(event *unstructured.Unstructured) time.Time {
	var last time.Time
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"}} {
		text, _, _ := unstructured.NestedString(event.Object, path...)
		if at := moment(text); at.After(last) {
			last = at
		}
	}
	if last.IsZero() {
		return event.GetCreationTimestamp().Time
	}
	return last
}
