package fleet

import (
	"slices"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// Versions are the hashes of what each placed member shall hold, "" where that is not known yet.
func (r *Resolution) Versions(sensitive []string, record *Record) map[string]string {
	var key []byte
	if record != nil {
		key = record.Key
	}
	versions, known := make(map[string]string, len(r.Placed)), map[string]string{}
	for _, name := range r.Placed {
		d := r.Desired[name]
		version, ok := known[d.variant]
		if d.Known && !ok {
			version = federation.Version(d.Tree, sensitive, key)
			known[d.variant] = version
		}
		versions[name] = version
	}
	return versions
}

// Change is what has to be done to bring the members from what a record says to a resolution.
type Change struct {
	Target   *Target
	Writes   []Write           // sorted by member
	Waits    []Write           // of members that hold what they shall, and are to be waited for again
	Leaving  []string          // members whose copy goes, sorted
	Versions map[string]string // of every placed member

	stages []federation.Stage                        // of the placed members
	leaves []federation.Stage                        // of the leaving ones
	used   map[string][]int                          // override entries that go into what each placed member gets
	former func(name string) (map[string]any, error) // what was last written to a member with a copy
}

// Changes compares. applied may be nil when nothing has been written yet.
func (r *Resolution) Changes(t *Target, record *Record, applied *Rendering) (*Change, error) {
	change := &Change{Target: t, Versions: r.Versions(t.Sensitive, record), used: map[string][]int{}}
	change.former = func(name string) (map[string]any, error) { return applied.Of(record, name) }
	for _, name := range r.Placed {
		d := r.Desired[name]
		change.used[name] = d.Used
		if !d.Known {
			continue
		}
		w := Write{Member: name, Want: d.Tree, Used: d.Used, Elsewhere: record.elsewhere(name)}
		if record != nil && record.Copies[name] != nil {
			c := record.Copies[name]
			w.Copy = c
			if c.Version == change.Versions[name] && !c.Drift {
				if c.Unready && t.waits() {
					change.Waits = append(change.Waits, Write{Member: name, Copy: c})
				}
				continue
			}
			former, err := applied.Of(record, name)
			if err != nil {
				return nil, err
			}
			w.Former = former
		}
		change.Writes = append(change.Writes, w)
	}
	for _, name := range record.Members() {
		if r.PlacedKnown && !slices.Contains(r.Placed, name) {
			change.Leaving = append(change.Leaving, name)
		}
	}
	var err error
	if change.stages, err = r.stages(r.Placed); err == nil {
		change.leaves, err = r.stages(change.Leaving)
	}
	return change, err
}
