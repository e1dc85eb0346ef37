package fleet

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// memory is what one provider process remembers of its run. Terraform plans and applies in different processes, so nothing in here
// outlives a plan or an apply.
type memory struct {
	mu           sync.Mutex
	applying     bool
	lastRead     time.Time                            // of a state; without any, when this process was configured
	read         map[string]bool                      // resource ids of states read in this process
	formerOwners map[string]bool                      // owners that this configuration's provider had before
	claimed      map[string]bool                      // resource ids taken for those of interrupted runs
	replaced     map[string]bool                      // resource ids of states whose object is being replaced
	creations    map[string][]string                  // object id → members on which a creation is planned
	written      map[writtenKey]string                // objects written in this process → resource id
	namespaces   map[string]map[string]bool           // member → namespaces this run makes
	kinds        map[string]map[schema.GroupKind]bool // member → kinds this run makes
	scopes       map[schema.GroupKind]*Scope

	departures *departures
}

type writtenKey struct {
	member string
	uid    types.UID
}

func newMemory() *memory {
	return &memory{
		lastRead: time.Now(),
		read:     map[string]bool{}, claimed: map[string]bool{}, formerOwners: map[string]bool{}, replaced: map[string]bool{}, creations: map[string][]string{},
		written: map[writtenKey]string{}, namespaces: map[string]map[string]bool{},
		kinds: map[string]map[schema.GroupKind]bool{}, scopes: map[schema.GroupKind]*Scope{},
		departures: newDepartures(),
	}
}

// noteApplying: a Create, Update or Delete was seen, so Terraform is applying.
func (m *memory) noteApplying() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applying = true
}

func (m *memory) isApplying() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.applying
}

// noteRead: the state of a resource was read in this process.
func (m *memory) noteRead(resource string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read[resource], m.lastRead = true, time.Now()
}

// quietFor bounds how long a plan waits for the state of a resource to be read: none has been read for so long.
const quietFor = 2 * time.Second

// awaitRead reports whether the state of a resource is read, also if that comes later in this plan: Terraform plans resources in any order, each
// right after it has read its state.
func (m *memory) awaitRead(ctx context.Context, resource string) bool {
	for {
		read, quiet := m.reads(resource)
		if read || quiet > quietFor {
			return read
		}
		select {
		case <-time.After(quietFor / 20):
		case <-ctx.Done():
			return false
		}
	}
}

func (m *memory) reads(resource string) (read bool, quiet time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read[resource], time.Since(m.lastRead)
}

// noteReplaced: the creation that is to follow the deletion of this resource's object is being planned.
func (m *memory) noteReplaced(resource string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replaced[resource] = true
}

func (m *memory) isReplaced(resource string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.replaced[resource]
}

// noteFormerOwner: an object of this configuration still carries the mark of an owner that its provider had before.
func (m *memory) noteFormerOwner(owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.formerOwners[owner] = true
}

func (m *memory) isFormerOwner(owner string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.formerOwners[owner]
}

// claim: an object with this resource id in its mark is taken for what an interrupted run left.
func (m *memory) claim(resource string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claimed[resource] = true
}

func (m *memory) isClaimed(resource string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claimed[resource]
}

// noteCreation notes a planned creation, and answers on which of the members another one of the same object is planned.
func (m *memory) noteCreation(object string, members []string) (twice []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range members {
		if slices.Contains(m.creations[object], name) {
			twice = append(twice, name)
		}
	}
	m.creations[object] = append(m.creations[object], members...)
	return twice
}

func (m *memory) wasRead(resource string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read[resource]
}

func (m *memory) noteWritten(member string, uid types.UID, resource string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written[writtenKey{member, uid}] = resource
}

// writtenAs answers under which other name a member got this very object written.
func (m *memory) writtenAs(member string, uid types.UID) (other string, twice bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.written {
		if key.uid == uid && key.member != member {
			return key.member, true
		}
	}
	return "", false
}

func (m *memory) wasWritten(member string, uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.written[writtenKey{member, uid}]
	return ok
}

// announceNamespace: this run makes a namespace on these members.
func (m *memory) announceNamespace(name string, members []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, member := range members {
		if m.namespaces[member] == nil {
			m.namespaces[member] = map[string]bool{}
		}
		m.namespaces[member][name] = true
	}
}

func (m *memory) namespaceAnnounced(member, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.namespaces[member][name]
}

// announceKind: this run makes a kind on these members.
func (m *memory) announceKind(kind schema.GroupKind, scope Scope, members []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scopes[kind] = &scope
	for _, member := range members {
		if m.kinds[member] == nil {
			m.kinds[member] = map[schema.GroupKind]bool{}
		}
		m.kinds[member][kind] = true
	}
}

func (m *memory) kindAnnounced(member string, kind schema.GroupKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[member][kind]
}

func (m *memory) announcedScope(kind schema.GroupKind) *Scope {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scopes[kind]
}
