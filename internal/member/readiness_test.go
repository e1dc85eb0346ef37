package member_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// parsed is an object written as YAML.
func parsed(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	o := &unstructured.Unstructured{}
	if err == nil {
		err = o.UnmarshalJSON(body)
	}
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return o
}

const (
	isReady  = "ready"
	hasEnded = "failed"
)

func TestReadinessIsWhatTheStatusSaysOfThePresentGeneration(t *testing.T) {
	t.Parallel()
	ready := member.Expectation{Ready: true}
	wants := func(conditions ...member.Condition) member.Expectation {
		return member.Expectation{Conditions: conditions}
	}
	complete := member.Condition{Type: "Complete", Status: "True"}
	const (
		web      = `apiVersion: apps/v1, kind: Deployment, metadata: {name: web, generation: 2}, spec: {replicas: 2, progressDeadlineSeconds: 600}`
		set      = `apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, generation: 1}`
		job      = `apiVersion: batch/v1, kind: Job, metadata: {name: job, generation: 1}, spec: {completions: 1}`
		thing    = `apiVersion: example.com/v1, kind: Thing, metadata: {name: thing, generation: 2}`
		progress = `{type: Progressing, status: "True", reason: NewReplicaSetAvailable}, {type: Available, status: "True"}`
	)
	for name, c := range map[string]struct {
		object string
		want   member.Expectation
		is     string // isReady, hasEnded, or ""
		says   string
	}{
		"a ConfigMap": {`apiVersion: v1, kind: ConfigMap, metadata: {name: cm}`, ready, isReady, ""},
		"a StatefulSet without replicas, just written":    {set + `, spec: {replicas: 0}`, ready, "", "has not seen it yet"},
		"a Deployment just written":                       {web, ready, "", "has not seen it yet"},
		"a Deployment whose status is of another version": {web + `, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [` + progress + `]}`, ready, "", "generation 1 of 2"},
		"a Deployment that is updated by half":            {web + `, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 2}`, ready, "", "Updated: 1/2"},
		"a Deployment with a pod that is not ready":       {web + `, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1}`, ready, "", "Available: 1/2"},
		"a Deployment that is there":                      {web + `, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [` + progress + `]}`, ready, isReady, ""},
		"a Deployment past its deadline": {web + `, status: {observedGeneration: 2, replicas: 3, readyReplicas: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}`, ready, hasEnded,
			"Progress deadline exceeded, Ready: 1/2"},
		"a StatefulSet without replicas, seen":      {set + `, spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 0}`, ready, isReady, ""},
		"a Job that has not started":                {job, ready, "", "Job not started"},
		"a Job that runs":                           {job + `, status: {startTime: "2026-01-02T03:04:05Z", active: 1}`, ready, isReady, ""},
		"a Job that has failed":                     {job + `, status: {startTime: "2026-01-02T03:04:05Z", failed: 1, conditions: [{type: Failed, status: "True"}]}`, ready, hasEnded, "Job Failed. failed: 1/1"},
		"a Job that runs, to be completed":          {job + `, status: {startTime: "2026-01-02T03:04:05Z", active: 1}`, wants(complete), "", "no condition Complete"},
		"a Job that is complete":                    {job + `, status: {conditions: [{type: Complete, status: "True"}]}`, wants(complete), isReady, ""},
		"a Job that has failed, to be completed":    {job + `, status: {conditions: [{type: Failed, status: "True"}]}`, wants(complete), hasEnded, "Job Failed"},
		"a Job that has failed, as it should":       {job + `, status: {conditions: [{type: Failed, status: "True"}]}`, wants(member.Condition{Type: "Failed", Status: "True"}), isReady, ""},
		"a Pod that has failed":                     {`apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: Failed}`, ready, hasEnded, "not successfully"},
		"a claim without a volume":                  {`apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p}, status: {phase: Pending}`, ready, "", "Pending"},
		"a custom resource without a status":        {thing, ready, isReady, ""},
		"a custom resource that is not ready":       {thing + `, status: {conditions: [{type: Ready, status: "False", reason: R, message: "no disk."}]}`, ready, "", "no disk."},
		"a custom resource that is stalled":         {thing + `, status: {observedGeneration: 2, conditions: [{type: Stalled, status: "True", message: no way}]}`, ready, hasEnded, "no way"},
		"a custom resource of another generation":   {thing + `, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}`, ready, "", "generation 1 of 2"},
		"a condition of another status":             {thing + `, status: {conditions: [{type: Synced, status: "False", reason: R, message: "wait."}]}`, wants(member.Condition{Type: "Synced", Status: "True"}), "", "condition Synced is False (wait), not True"},
		"a condition that is there":                 {thing + `, status: {conditions: [{type: Synced, status: "False"}]}`, wants(member.Condition{Type: "Synced", Status: "False"}), isReady, ""},
		"a condition of another generation":         {thing + `, status: {conditions: [{type: Synced, status: "True", observedGeneration: 1}]}`, wants(member.Condition{Type: "Synced", Status: "True"}), "", "generation 1 of 2"},
		"a condition of the present generation":     {thing + `, status: {conditions: [{type: Synced, status: "True", observedGeneration: 2}]}`, wants(member.Condition{Type: "Synced", Status: "True"}), isReady, ""},
		"conditions in a status of another":         {thing + `, status: {observedGeneration: 1, conditions: [{type: Synced, status: "True"}]}`, wants(member.Condition{Type: "Synced", Status: "True"}), "", "generation 1 of 2"},
		"two conditions of which one holds":         {thing + `, status: {conditions: [{type: A, status: "True"}, {type: B, status: "False", reason: R}]}`, wants(member.Condition{Type: "A", Status: "True"}, member.Condition{Type: "B", Status: "True"}), "", "condition B is False (R)"},
		"a condition that holds of what has failed": {web + `, status: {observedGeneration: 2, conditions: [{type: A, status: "True"}, {type: Progressing, reason: ProgressDeadlineExceeded}]}`, wants(member.Condition{Type: "A", Status: "True"}), isReady, ""},
		"a condition that holds of what is not ready": {thing + `, status: {conditions: [{type: A, status: "True"}, {type: Ready, status: "False", message: m}]}`,
			member.Expectation{Ready: true, Conditions: []member.Condition{{Type: "A", Status: "True"}}}, "", "m"},
	} {
		t.Run(name, func(t *testing.T) {
			got := member.ReadinessOf(parsed(t, "{"+c.object+"}"), c.want)
			if got.Ready != (c.is == isReady) || got.Failed != (c.is == hasEnded) || !strings.Contains(got.Missing, c.says) || (got.Missing == "") != got.Ready {
				t.Errorf("it is %+v, want %q, %q", got, c.is, c.says)
			}
		})
	}
}

func TestTheLastChangeToReadyIsThatOfTheConditionsThatMakeIt(t *testing.T) {
	t.Parallel()
	const thing = `{apiVersion: example.com/v1, kind: Thing, metadata: {name: thing, generation: 1}, status: {conditions: [
		{type: Ready, status: "True", lastTransitionTime: "2026-01-01T00:00:02Z"}, {type: Synced, status: "True", lastTransitionTime: "2026-01-01T00:00:05Z"}]}}`
	const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, conditions: [
		{type: Available, status: "True", lastTransitionTime: "2026-01-01T00:00:01Z", lastUpdateTime: "2026-01-01T00:00:01Z"},
		{type: Progressing, status: "True", reason: NewReplicaSetAvailable, lastTransitionTime: "2026-01-01T00:00:01Z", lastUpdateTime: "2026-01-01T00:00:09Z"}]}}`
	synced := []member.Condition{{Type: "Synced", Status: "True"}}
	for _, c := range []struct {
		object string
		want   member.Expectation
		second int
	}{
		{thing, member.Expectation{Ready: true}, 2},
		{thing, member.Expectation{Conditions: synced}, 5},
		{thing, member.Expectation{Ready: true, Conditions: synced}, 5},
		{web, member.Expectation{Ready: true}, 9},
	} {
		got := member.ReadinessOf(parsed(t, c.object), c.want)
		if want := time.Date(2026, 1, 1, 0, 0, c.second, 0, time.UTC); !got.Ready || !got.Since.Equal(want) {
			t.Errorf("ready %v since %s, want %s", got.Ready, got.Since, want)
		}
	}
	if got := member.ReadinessOf(parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}}"), member.Expectation{Ready: true}); !got.Since.IsZero() {
		t.Errorf("a ConfigMap is ready since %s", got.Since)
	}
}
