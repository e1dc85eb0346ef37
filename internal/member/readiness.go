package member

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Condition is one that an object's status has to have.
type Condition struct{ Type, Status string }

// Expectation is what an object's status has to say for the object to be ready.
type Expectation struct {
	Ready      bool        // what kstatus calls current
	Conditions []Condition // all of these
}

// Any reports whether anything is expected at all.
func (e Expectation) Any() bool { return e.Ready || len(e.Conditions) > 0 }

// Readiness is what an object's status says about it.
type Readiness struct {
	Ready   bool
	Failed  bool      // it says that the object will not get ready by itself
	Missing string    // what is not as it shall be, in the words of the status; "" when ready
	Since   time.Time // the last change to ready, where a condition tells it
}

// ReadinessOf reads the status of an object. A status that is about a former generation says nothing.
func ReadinessOf(live *unstructured.Unstructured, want Expectation) Readiness {
	if missing := unobserved(live); missing != "" {
		return Readiness{Missing: missing}
	}
	conditions := conditionsOf(live)
	unmet := want.unmet(conditions, live.GetGeneration())
	computed, err := status.Compute(live)
	switch {
	case err != nil:
		return Readiness{Missing: "its status cannot be read: " + err.Error()}
	case unmet == "" && (!want.Ready || computed.Status == status.CurrentStatus && !endedBadly(live)):
		return Readiness{Ready: true, Since: want.since(conditions)}
	case computed.Status == status.FailedStatus || endedBadly(live):
		return Readiness{Failed: true, Missing: withCount(live, computed.Message)}
	case unmet != "":
		return Readiness{Missing: unmet}
	}
	return Readiness{Missing: computed.Message}
}

// observing are kinds of Kubernetes itself whose controllers say which generation they have seen. Where they do not yet, they have not seen
// the object at all, which kstatus takes for an object without controller: a StatefulSet just created would count as ready.
var observing = map[schema.GroupKind]bool{
	{Group: "apps", Kind: "Deployment"}:            true,
	{Group: "apps", Kind: "StatefulSet"}:           true,
	{Group: "apps", Kind: "DaemonSet"}:             true,
	{Group: "apps", Kind: "ReplicaSet"}:            true,
	{Group: "policy", Kind: "PodDisruptionBudget"}: true,
}

// unobserved says that the status is not about the object as it is now.
func unobserved(live *unstructured.Unstructured) string {
	seen, there, _ := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
	switch {
	case there && seen != live.GetGeneration():
		return fmt.Sprintf("its controller has seen generation %d of %d", seen, live.GetGeneration())
	case !there && observing[live.GroupVersionKind().GroupKind()]:
		return "its controller has not seen it yet"
	}
	return ""
}

// endedBadly: kstatus has a pod that has failed for one that is done.
func endedBadly(live *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	return live.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Pod"} && phase == "Failed"
}

// withCount adds to a failure how many replicas are ready, where the status says that.
func withCount(live *unstructured.Unstructured, message string) string {
	wanted, counted, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if !counted {
		return message
	}
	ready, _, _ := unstructured.NestedInt64(live.Object, "status", "readyReplicas")
	return fmt.Sprintf("%s, Ready: %d/%d", strings.TrimSuffix(message, "."), ready, wanted)
}

// condition is one in a status, with a generation of its own where it has one.
type condition struct {
	Condition
	generation      int64 // 0 = it does not say
	reason, message string
	changed         time.Time
	updated         time.Time
}

func conditionsOf(live *unstructured.Unstructured) []condition {
	list, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	conditions := make([]condition, 0, len(list))
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text := func(name string) string {
			value, _ := fields[name].(string)
			return value
		}
		c := condition{Condition: Condition{text("type"), text("status")}, reason: text("reason"), message: text("message")}
		c.generation, _ = fields["observedGeneration"].(int64)
		c.changed, c.updated = moment(text("lastTransitionTime")), moment(text("lastUpdateTime"))
		conditions = append(conditions, c)
	}
	return conditions
}

// moment reads a time as API objects have it; zero if it is none.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// unmet says which of the conditions does not hold, "" if all do. One that is about a former generation does not.
func (e Expectation) unmet(conditions []condition, generation int64) string {
	for _, want := range e.Conditions {
		missing := fmt.Sprintf("it has no condition %s", want.Type)
		for _, have := range conditions {
			switch {
			case have.Type != want.Type:
				continue
			case have.generation != 0 && have.generation < generation:
				missing = fmt.Sprintf("condition %s is about generation %d of %d", have.Type, have.generation, generation)
			case have.Status != want.Status:
				missing = have.String() + ", not " + want.Status
			default:
				missing = ""
			}
		}
		if missing != "" {
			return missing
		}
	}
	return ""
}

func (c condition) String() string {
	text := fmt.Sprintf("condition %s is %s", c.Type, c.Status)
	if why := strings.TrimSuffix(c.message, "."); why != "" {
		return text + " (" + why + ")"
	}
	if c.reason != "" {
		return text + " (" + c.reason + ")"
	}
	return text
}

// since is the last change of the conditions that make an object ready. A Deployment is available all through an update: that the new version
// is there is said by its condition Progressing, which stays True and tells it by its last update.
func (e Expectation) since(conditions []condition) time.Time {
	var last time.Time
	later := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	for _, c := range conditions {
		for _, want := range e.Conditions {
			if c.Condition == want {
				later(c.changed)
			}
		}
		switch {
		case !e.Ready || c.Status != string(metav1.ConditionTrue):
		case c.Type == "Ready", c.Type == "Available":
			later(c.changed)
		case c.Type == "Progressing" && c.reason == "NewReplicaSetAvailable":
			later(c.updated)
		}
	}
	return last
}
