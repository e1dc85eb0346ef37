package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Config is what a provider block says about its members.
type Config struct {
	Host      *rest.Config // nil: there is no host cluster
	Namespace string       // where on the host, and on the members it joins
	Static    map[string]Static
	Options   member.Options    // for members; impersonation is for these alone, never for the host or while joining
	Owner     string            // readable name of the configuration
	Connector *member.Connector // for the connections by which clusters are joined; nil = one without defaults
	Unknown   string            // why the members cannot be known at plan; "" = they can
}

// Static is a member known from the provider block.
type Static struct {
	Config       *rest.Config // nil: the connection is not known until apply
	Labels       map[string]string
	Region       string
	Zones        []string
	Availability string
}

// Registry is the memory of one configured provider about its members. It is safe for concurrent use, and what it has read from the host
// holds until the process ends or this process changes it.
type Registry struct {
	config  Config
	host    *member.Member // nil: there is none
	reading shared[map[string]record]
	tokens  shared[map[string]string]

	mu           sync.Mutex
	joined       map[string]record // by this process; outranks what was read
	left         map[string]bool   // unjoined by this process
	joining      map[string]string // uid of a namespace of the cluster → the name it is being joined under
	opened       map[string]string // uid of kube-system → the name the cluster is opened under
	announced    map[string]Announcement
	controlPlane bool            // announced
	rights       map[string]bool // members whose account's rights this run changes
	installed    bool            // by this process
	placements   []placement
	clients      map[string]*shared[client]
	topologies   map[string]*shared[Topology]
}

// New makes a registry; it dials nobody. The error says that the host's configuration cannot be used.
func New(c Config) (*Registry, error) {
	r := &Registry{
		config: c, joined: map[string]record{}, left: map[string]bool{}, joining: map[string]string{}, opened: map[string]string{}, rights: map[string]bool{}, announced: map[string]Announcement{},
		clients: map[string]*shared[client]{}, topologies: map[string]*shared[Topology]{},
	}
	if r.config.Connector == nil {
		r.config.Connector = &member.Connector{}
	}
	if c.Host != nil {
		host, err := member.New("host", c.Host, r.plainOptions())
		if err != nil {
			return nil, fmt.Errorf("make the client of the host cluster: %w", err)
		}
		r.host = host
	}
	return r, nil
}

// plainOptions are the options of clients that act for themselves.
func (r *Registry) plainOptions() member.Options {
	o := r.config.Options
	o.Impersonate = rest.ImpersonationConfig{}
	return o
}

// Host is the client of the host cluster; nil if there is none.
func (r *Registry) Host() *member.Member { return r.host }

// Namespace is where the registry's objects are on the host, and where the accounts are on members that it joins.
func (r *Registry) Namespace() string { return r.config.Namespace }

// CheckConnection finds what is wrong with a connection, without dialling. Its error is a *member.ConnectionError.
func (r *Registry) CheckConnection(c member.Connection) error {
	_, err := r.config.Connector.RESTConfig(c)
	return err
}

// Unknown says why the members cannot be known at plan; "" if they can.
func (r *Registry) Unknown() string { return r.config.Unknown }

// Members lists all members by name. The host is read once per process, with one LIST. The errors are UnknownError, UnreadableError and
// DuplicateError.
func (r *Registry) Members(ctx context.Context) ([]Entry, error) {
	if r.config.Unknown != "" {
		return nil, &UnknownError{Why: r.config.Unknown}
	}
	records, err := r.records(ctx)
	if err != nil {
		return nil, err
	}
	entries := map[string]Entry{}
	for name, s := range r.config.Static {
		entries[name] = s.entry(name)
	}
	for name, rec := range records {
		if _, ok := entries[name]; ok {
			return nil, &DuplicateError{Name: name}
		}
		entries[name] = rec.entry()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, a := range r.announced {
		entries[name] = a.over(entries[name])
	}
	return byName(entries), nil
}

func byName(entries map[string]Entry) []Entry {
	list := make([]Entry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// find returns one member. Besides the errors of Members it returns a NotMemberError.
func (r *Registry) find(ctx context.Context, name string) (Entry, error) {
	entries, err := r.Members(ctx)
	if err != nil {
		return Entry{}, err
	}
	known := make([]string, len(entries))
	for i, e := range entries {
		if e.Name == name {
			return e, nil
		}
		known[i] = e.Name
	}
	return Entry{}, &NotMemberError{Name: name, Known: known}
}

func (s Static) entry(name string) Entry {
	return Entry{
		Name: name, Labels: s.Labels, Region: s.Region, Zones: sorted(s.Zones), Availability: s.Availability,
		Source: SourceProvider, Announced: s.Config == nil,
	}
}
