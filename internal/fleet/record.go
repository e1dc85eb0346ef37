package fleet

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Record is what this provider remembers of one resource in Terraform's private state: which objects are its own, and what was last
// observed of them.
type Record struct {
	Resource string            // random, in every object's mark
	Key      []byte            // for the keyed hashes
	Copies   map[string]*Copy  // by member
	Former   map[string][]byte // version → manifest (JSON, gzip) of copies that lag behind the state
	Unasked  []string          // members that did not answer when the record was recovered: they may have a copy
}

// Copy is the object of one resource on one member.
type Copy struct {
	UID     types.UID
	Stamp   string // generation ("g3") or resource version ("r1234") when Fields was taken
	Fields  string // keyed hash of the fields we own, as the member holds them
	Version string // of what was last written
	Used    []int  // override entries that went into it
	Drift   bool   // the last refresh found it changed by others
	Foreign bool   // imported: ours by its uid, not marked yet
	From    string // imported: the resource id in the mark of this configuration that it carried then

	// Recovered: imported, as its content says. The uid that the import had recorded is lost, so it is not deleted before it is marked.
	Recovered bool

	// Unready: it was written, and was not ready when the run that waited for it ended.
	Unready bool
}

// NewRecord makes the record of a resource that is being created.
func NewRecord() (*Record, error) {
	random := make([]byte, 24)
	if _, err := rand.Read(random); err != nil {
		return nil, fmt.Errorf("make a resource id: %w", err)
	}
	return &Record{Resource: hex.EncodeToString(random[:8]), Key: random[8:], Copies: map[string]*Copy{}}, nil
}

// ParseRecord reads a record from private state; nil without data.
func ParseRecord(data []byte) (*Record, error) {
	if len(data) == 0 {
		return nil, nil
	}
	record := &Record{}
	if err := json.Unmarshal(data, record); err != nil {
		return nil, fmt.Errorf("read the private state: %w", err)
	}
	return record, nil
}

// Bytes is the record as private state keeps it.
func (r *Record) Bytes() ([]byte, error) { return json.Marshal(r) }

// packedRecord is a record as it is stored. Most members hold the same, so hashes and versions are kept once, in Texts.
type packedRecord struct {
	Resource string                `json:"id"`
	Key      []byte                `json:"key"`
	Texts    []string              `json:"texts,omitempty"`
	Copies   map[string]packedCopy `json:"copies,omitempty"`
	Former   map[string][]byte     `json:"former,omitempty"`
	Unasked  []string              `json:"unasked,omitempty"`
}

// packedCopy is a copy with indexes into Texts.
type packedCopy struct {
	UID     types.UID `json:"uid"`
	Stamp   string    `json:"at,omitempty"`
	Fields  int       `json:"f"`
	Version int       `json:"v"`
	Used    []int     `json:"o,omitempty"`
	Drift   bool      `json:"d,omitempty"`
	Foreign bool      `json:"i,omitempty"`
	From    string    `json:"from,omitempty"`

	Recovered bool `json:"rec,omitempty"`
	Unready   bool `json:"w,omitempty"`
}

// MarshalJSON writes the packed form.
func (r *Record) MarshalJSON() ([]byte, error) {
	packed := packedRecord{Resource: r.Resource, Key: r.Key, Former: r.Former, Unasked: r.Unasked, Copies: map[string]packedCopy{}}
	index := func(text string) int {
		if at := slices.Index(packed.Texts, text); at >= 0 {
			return at
		}
		packed.Texts = append(packed.Texts, text)
		return len(packed.Texts) - 1
	}
	for _, name := range r.Members() {
		c := r.Copies[name]
		packed.Copies[name] = packedCopy{c.UID, c.Stamp, index(c.Fields), index(c.Version), c.Used, c.Drift, c.Foreign, c.From, c.Recovered, c.Unready}
	}
	return json.Marshal(packed)
}

// UnmarshalJSON reads the packed form.
func (r *Record) UnmarshalJSON(data []byte) error {
	var packed packedRecord
	if err := json.Unmarshal(data, &packed); err != nil {
		return err
	}
	*r = Record{Resource: packed.Resource, Key: packed.Key, Former: packed.Former, Unasked: packed.Unasked, Copies: map[string]*Copy{}}
	for name, c := range packed.Copies {
		if min(c.Fields, c.Version) < 0 || max(c.Fields, c.Version) >= len(packed.Texts) {
			return fmt.Errorf("copy of member %s: no such text", name)
		}
		r.Copies[name] = &Copy{c.UID, c.Stamp, packed.Texts[c.Fields], packed.Texts[c.Version], c.Used, c.Drift, c.Foreign, c.From, c.Recovered, c.Unready}
	}
	return nil
}

// Clone returns a copy that shares nothing that may be changed.
func (r *Record) Clone() *Record {
	clone := &Record{Resource: r.Resource, Key: r.Key, Copies: make(map[string]*Copy, len(r.Copies)), Former: r.Former, Unasked: slices.Clone(r.Unasked)}
	for name, c := range r.Copies {
		one := *c
		clone.Copies[name] = &one
	}
	return clone
}

// Members are the names of those that hold a copy, sorted.
func (r *Record) Members() []string {
	if r == nil {
		return nil
	}
	return sortedKeys(r.Copies)
}

// Holds reports whether a member is known to hold a version, and nothing else: it does not lag behind, and nobody has changed it.
func (r *Record) Holds(name, version string) bool {
	c := r.Copies[name]
	return c != nil && version != "" && c.Version == version && !c.Drift && !c.Foreign
}

// forgetUnready is for a configuration that waits for nothing.
func (r *Record) forgetUnready() {
	for _, c := range r.Copies {
		c.Unready = false
	}
}

// former returns what was last written to a member: kept on its own if the member lags behind the state, else rendered from the state.
func (r *Record) former(name string, state func(used []int, name string) (map[string]any, error)) (map[string]any, error) {
	c := r.Copies[name]
	if packed, ok := r.Former[c.Version]; ok {
		return unpack(packed)
	}
	return state(c.Used, name)
}

// keep stores the manifests of copies that lag behind the version they shall have.
func (r *Record) keep(lagging map[string]map[string]any) error {
	r.Former = nil
	for name, manifest := range lagging {
		packed, err := pack(manifest)
		if err != nil {
			return fmt.Errorf("keep the former manifest of member %s: %w", name, err)
		}
		if r.Former == nil {
			r.Former = map[string][]byte{}
		}
		r.Former[r.Copies[name].Version] = packed
	}
	return nil
}

func pack(manifest map[string]any) ([]byte, error) {
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	if err := json.NewEncoder(w).Encode(manifest); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func unpack(packed []byte) (map[string]any, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack a former manifest: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack a former manifest: %w", err)
	}
	return federation.DecodeOne(string(text))
}

// observe notes what an answer of the member says about a copy.
func (r *Record) observe(c *Copy, live *unstructured.Unstructured, manager string) error {
	owned, err := member.Owned(live, manager)
	if err != nil {
		return err
	}
	c.UID, c.Stamp, c.Fields = live.GetUID(), stamp(live.GetGeneration(), live.GetResourceVersion(), live.GetKind()), ""
	if owned == nil {
		return nil
	}
	set, err := owned.ToJSON()
	if err != nil {
		return fmt.Errorf("read the fields that are ours: %w", err)
	}
	// The set is part of it: a field we own and that is not there (false, an empty list) is ours no longer once somebody has set it.
	c.Fields, err = r.hash(map[string]any{"owned": string(set), "fields": member.Project(live.Object, owned)})
	return err
}

func (r *Record) hash(tree any) (string, error) {
	canonical, err := federation.Canonical(tree)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, r.Key)
	mac.Write(canonical)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:12]), nil
}

// stamp changes whenever a field of ours may have changed. The generation moves with the spec only; a kind without one (ConfigMap) or
// whose generation never moves (PriorityClass) is told by its resource version.
func stamp(generation int64, resourceVersion, kind string) string {
	if generation > 0 && kind != "PriorityClass" {
		return "g" + strconv.FormatInt(generation, 10)
	}
	return "r" + resourceVersion
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// elsewhere are the objects that other members than this one have; nothing without a record.
func (r *Record) elsewhere(name string) map[types.UID]string {
	uids := map[types.UID]string{}
	for _, other := range r.Members() {
		if c := r.Copies[other]; other != name && c.UID != "" {
			uids[c.UID] = other
		}
	}
	return uids
}
