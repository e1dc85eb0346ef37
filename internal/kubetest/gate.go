package kubetest

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// gate is the listener of a proxy: one port that can be shut and opened again,
// and knows its connections. It implements net.Listener for a server that need
// not notice.
type gate struct {
	port     int
	accepted chan net.Conn
	done     chan struct{} // closed with the gate

	mutex    sync.Mutex
	inner    net.Listener // nil while shut
	reserved int          // the bound socket while shut
	conns    map[*conn]struct{}
	speech   chan struct{} // closed unless the gate is silent
	total    int           // connections accepted
}

func newGate() (*gate, error) {
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	speech := make(chan struct{})
	close(speech)
	g := &gate{
		port:     inner.Addr().(*net.TCPAddr).Port,
		accepted: make(chan net.Conn),
		done:     make(chan struct{}),
		inner:    inner,
		conns:    map[*conn]struct{}{},
		speech:   speech,
	}
	go g.acceptFrom(inner)
	return g, nil
}

// acceptFrom takes connections until the listener is closed.
func (g *gate) acceptFrom(listener net.Listener) {
	for {
		accepted, err := listener.Accept()
		if err != nil {
			return
		}
		c := &conn{Conn: accepted, gate: g, dropped: make(chan struct{})}
		g.mutex.Lock()
		late := g.inner != listener // shut meanwhile
		if !late {
			g.conns[c] = struct{}{}
			g.total++
		}
		g.mutex.Unlock()
		if late {
			_ = accepted.Close()
			continue
		}
		select {
		case g.accepted <- c:
		case <-g.done:
			_ = accepted.Close()
			return
		}
	}
}

// count returns how many connections were accepted.
func (g *gate) count() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.total
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.accepted:
		return c, nil
	case <-g.done:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (g *gate) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: g.port} }

// Close implements net.Listener. It may be called again.
func (g *gate) Close() error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	select {
	case <-g.done:
		return nil
	default:
		close(g.done)
	}
	if g.inner == nil {
		return syscall.Close(g.reserved)
	}
	inner := g.inner
	g.inner = nil
	return inner.Close()
}

// shut makes the port refuse connections, or accept them again. It does not
// touch those that are established.
func (g *gate) shut(shut bool) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if shut == (g.inner == nil) {
		return nil
	}
	if shut {
		err := g.inner.Close()
		g.inner = nil
		var reserveErr error
		g.reserved, reserveErr = reservePort(g.port)
		return errors.Join(err, reserveErr)
	}
	inner, err := listenReserved(g.reserved)
	if err != nil {
		return err
	}
	g.inner = inner
	go g.acceptFrom(inner)
	return nil
}

// silence makes all connections, those to come too, fall silent: what they
// carry stays where it is. Ending it lets only new connections speak: the
// caller drops the old ones.
func (g *gate) silence(silent bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	select {
	case <-g.speech:
		if silent {
			g.speech = make(chan struct{})
		}
	default:
		if !silent {
			close(g.speech)
		}
	}
}

// dropAll drops every connection and returns when the clients know.
func (g *gate) dropAll() {
	g.mutex.Lock()
	conns := make([]*conn, 0, len(g.conns))
	for c := range g.conns {
		conns = append(conns, c)
	}
	g.mutex.Unlock()
	var dropping sync.WaitGroup
	for _, c := range conns {
		dropping.Go(c.drop)
	}
	dropping.Wait()
}

// conn is one connection of a client, below TLS.
type conn struct {
	net.Conn
	gate    *gate
	once    sync.Once
	dropped chan struct{} // closed when the proxy wants the connection gone
}

// Read implements net.Conn. It keeps back what arrives while the gate is silent.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if passErr := c.pass(); passErr != nil {
		return 0, passErr
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// pass waits until the gate is not silent.
func (c *conn) pass() error {
	c.gate.mutex.Lock()
	speech := c.gate.speech
	c.gate.mutex.Unlock()
	select {
	case <-c.dropped:
		return net.ErrClosed
	default:
	}
	select {
	case <-speech:
		return nil
	case <-c.dropped:
		return net.ErrClosed
	case <-c.gate.done:
		return net.ErrClosed
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.gate.mutex.Lock()
	delete(c.gate.conns, c)
	c.gate.mutex.Unlock()
	select {
	case <-c.dropped:
		return nil // drop closes it
	default:
		return c.Conn.Close()
	}
}

// dropTimeout is how long drop waits for a client to close its side.
const dropTimeout = 2 * time.Second

// drop ends the connection without a word of TLS or HTTP, as when a machine
// goes away, and returns when the client has noticed. Waiting for that keeps a
// client from sending its next request into a connection that is already dead.
func (c *conn) drop() {
	c.once.Do(func() {
		close(c.dropped)
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		_ = c.Conn.SetReadDeadline(time.Now().Add(dropTimeout))
		_, _ = io.Copy(io.Discard, c.Conn)
		_ = c.Conn.Close()
		c.gate.mutex.Lock()
		delete(c.gate.conns, c)
		c.gate.mutex.Unlock()
	})
}
