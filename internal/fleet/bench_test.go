package fleet_test

import (
	"fmt"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// benchMembers is how many members the benchmarks have; nobody is dialled.
const benchMembers = 16

// benchmarked is a Deployment on all members, a quarter of which get something else, as it is in a state.
func benchmarked(b *testing.B) (*fleet.Fleet, *resource) {
	b.Helper()
	names := make([]string, benchMembers)
	for i := range names {
		names[i] = fmt.Sprintf("member-%02d", i)
	}
	w := offline(names...)
	f := w.run(b)
	r := w.declare(b, deployment)
	for _, name := range names[:benchMembers/4] {
		r.spec.Overrides = append(r.spec.Overrides, only(name, map[string]any{"spec": map[string]any{"replicas": int64(5)}}))
	}
	_, change, record := r.resolve(b, f)
	for _, w := range change.Writes {
		record.Copies[w.Member] = &fleet.Copy{UID: "01234567-89ab-cdef-0123-456789abcdef", Stamp: "g1", Fields: "0123456789abcdef", Version: change.Versions[w.Member], Used: w.Used}
	}
	r.record, r.state, r.facts = record, r.spec, &fleet.Facts{Scope: &fleet.Scope{Namespaced: true, Status: true}}
	return f, r
}

// BenchmarkPlanWithNothingToDo is what a plan computes for one resource on 16 members, apart from the requests.
func BenchmarkPlanWithNothingToDo(b *testing.B) {
	f, r := benchmarked(b)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		record, err := fleet.ParseRecord(must(r.record.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		applied, err := fleet.NewRendering(r.state, r.facts.Scope)
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range record.Members() {
			if _, err := applied.Of(record, name); err != nil {
				b.Fatal(err)
			}
		}
		resolution, err := f.Resolve(ctx, r.spec, r.facts, record.Members())
		if err != nil {
			b.Fatal(err)
		}
		change, err := resolution.Changes(f.NewTarget(resolution.GVK, resolution.ID, r.spec, record), record, applied)
		if err != nil || len(change.Writes) > 0 {
			b.Fatal(err, change.Writes)
		}
		for _, name := range resolution.Placed {
			federation.Differences(resolution.Template, resolution.Desired[name].Tree, nil)
		}
	}
}

// BenchmarkResolve is the part of it that computes what each member gets.
func BenchmarkResolve(b *testing.B) {
	f, r := benchmarked(b)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Resolve(ctx, r.spec, r.facts, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecord is the way of the record of one resource through Terraform's state.
func BenchmarkRecord(b *testing.B) {
	_, r := benchmarked(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fleet.ParseRecord(must(r.record.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
