package kubetest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
)

// clustersVariable names a directory with running clusters to use.
const clustersVariable = "KUBEFED_TEST_CLUSTERS"

// Main runs the tests of a package and stops the clusters they started. Call
// it from TestMain; it does not return.
func Main(m *testing.M) {
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the test clusters:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Host returns the shared cluster that members are registered in.
func Host(t testing.TB) *Cluster {
	t.Helper()
	return shared.get(t, "host", Options{})
}

// Member returns the shared member cluster number i, from 1 to 3.
func Member(t testing.TB, i int) *Cluster {
	t.Helper()
	return shared.get(t, memberName(t, i), Options{})
}

// Members returns the first n shared member clusters, started at the same time.
func Members(t testing.TB, n int) []*Cluster {
	t.Helper()
	var starting sync.WaitGroup
	for i := range n {
		name := memberName(t, i+1)
		starting.Go(func() { _, _ = shared.entry(name).open(Options{Name: name}) })
	}
	starting.Wait()
	members := make([]*Cluster, n)
	for i := range members {
		members[i] = Member(t, i+1)
	}
	return members
}

func memberName(t testing.TB, i int) string {
	t.Helper()
	if i < 1 || i > 3 {
		t.Fatalf("there is no member %d; they are numbered 1 to 3", i)
	}
	return fmt.Sprintf("member-%d", i)
}

// Options says what kind of cluster [Fresh] starts.
type Options struct {
	// Name of the cluster and of the context in its kubeconfig; `fresh` if empty.
	Name string
	// Lean starts etcd and the API server only: quick, but nothing reacts to
	// what is created. Namespaces never end, no pod runs, Secrets get no token.
	Lean bool
	// Nodes is how many simulated nodes there are (8 CPUs, 32Gi, 110 pods
	// each); 0 means 2.
	Nodes int
}

// Fresh starts a cluster of this test alone and stops it when the test ends.
func Fresh(t testing.TB, options Options) *Cluster {
	t.Helper()
	if options.Name == "" {
		options.Name = "fresh"
	}
	return fresh(t, []Options{options})[0]
}

// FreshMany starts n clusters of this test alone, called <name>-1 to <name>-n, and stops them when the test ends. An API server takes about
// 400 MB: many of them should be lean.
func FreshMany(t testing.TB, n int, options Options) []*Cluster {
	t.Helper()
	many := make([]Options, n)
	for i := range many {
		many[i] = options
		many[i].Name = fmt.Sprintf("%s-%d", options.Name, i+1)
	}
	return fresh(t, many)
}

// Lent returns n clusters that no other test uses meanwhile. Unlike those of [Fresh] they are not new, and there at once: what a test leaves
// behind, the next one finds. A test that fails takes its clusters along.
func Lent(t testing.TB, n int) []*Cluster {
	t.Helper()
	return openAll(t, n, func(int) (*Cluster, error) { return shared.borrow() }, func(c *Cluster) error { return shared.giveBack(c, !t.Failed()) })
}

func fresh(t testing.TB, many []Options) []*Cluster {
	t.Helper()
	return openAll(t, len(many), func(i int) (*Cluster, error) { return startNamed(many[i]) }, (*Cluster).stop)
}

// startNamed is start with an error that says which cluster it is.
func startNamed(options Options) (*Cluster, error) {
	c, err := start(options)
	if err != nil {
		return nil, fmt.Errorf("start cluster %s: %w", options.Name, err)
	}
	return c, nil
}

// startsAtOnce bounds how many clusters start side by side.
const startsAtOnce = 4

// openAll opens n clusters for a test and, when it ends, closes those there are.
func openAll(t testing.TB, n int, open func(i int) (*Cluster, error), closing func(*Cluster) error) []*Cluster {
	t.Helper()
	var starting errgroup.Group
	starting.SetLimit(startsAtOnce)
	clusters := make([]*Cluster, n)
	for i := range clusters {
		starting.Go(func() (err error) {
			clusters[i], err = open(i)
			return err
		})
	}
	err := starting.Wait()
	t.Cleanup(func() {
		for _, c := range clusters {
			if c == nil {
				continue
			}
			if err := closing(c); err != nil {
				t.Errorf("stop cluster %s: %v", c.Name, err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return clusters
}

// shared holds the clusters that all tests of this binary use.
var shared = &pool{entries: map[string]*entry{}}

type pool struct {
	mutex   sync.Mutex
	entries map[string]*entry
	idle    []*Cluster // of those that are lent
	lent    int        // how many have ever been started
}

// borrow takes an idle cluster, or starts one.
func (p *pool) borrow() (*Cluster, error) {
	p.mutex.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		defer p.mutex.Unlock()
		c := p.idle[last]
		p.idle = p.idle[:last]
		return c, nil
	}
	p.lent++
	name := fmt.Sprintf("lent-%d", p.lent)
	p.mutex.Unlock()
	return startNamed(Options{Name: name})
}

// giveBack makes a cluster idle, or stops one that is not to be used again.
func (p *pool) giveBack(c *Cluster, again bool) error {
	if !again {
		return c.stop()
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.idle = append(p.idle, c)
	return nil
}

// entry is one shared cluster, opened by whoever needs it first.
type entry struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

func (p *pool) entry(name string) *entry {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.entries[name] == nil {
		p.entries[name] = &entry{}
	}
	return p.entries[name]
}

func (p *pool) get(t testing.TB, name string, options Options) *Cluster {
	t.Helper()
	options.Name = name
	c, err := p.entry(name).open(options)
	if err != nil {
		t.Fatalf("open cluster %s: %v", name, err)
	}
	return c
}

func (e *entry) open(options Options) (*Cluster, error) {
	e.once.Do(func() {
		if dir := os.Getenv(clustersVariable); dir != "" {
			e.cluster, e.err = findRunning(dir, options.Name)
			return
		}
		e.cluster, e.err = start(options)
	})
	return e.cluster, e.err
}

// stop stops what this binary started.
func (p *pool) stop() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var first error
	running := p.idle
	for _, e := range p.entries {
		if e.cluster != nil {
			running = append(running, e.cluster)
		}
	}
	var stopping sync.WaitGroup
	errs := make(chan error, len(running))
	for _, c := range running {
		stopping.Go(func() { errs <- c.stop() })
	}
	stopping.Wait()
	close(errs)
	for err := range errs {
		if first == nil {
			first = err
		}
	}
	return first
}
