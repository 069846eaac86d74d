package main

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxy is a way to the database that can be cut off.
type proxy struct {
	address, target string

	mu       sync.Mutex
	listener net.Listener      // nil while it is cut off
	open     map[net.Conn]bool // nil while it is cut off
	running  sync.WaitGroup
}

type proxyKey struct{}

func proxyOf(ts *testscript.TestScript) *proxy { return ts.Value(proxyKey{}).(*proxy) }

func detour(ts *testscript.TestScript, _ bool, _ []string) {
	address, err := url.Parse(ts.Getenv("DATABASE_URL"))
	ts.Check(err)
	p := proxyOf(ts)
	p.address, p.target = "127.0.0.1:0", address.Host
	ts.Check(p.listen())
	address.Host = p.address
	ts.Setenv("DATABASE_URL", address.String())
}

func cut(ts *testscript.TestScript, _ bool, _ []string)  { proxyOf(ts).close() }
func mend(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(proxyOf(ts).listen()) }

// listen opens the way, always at the same address.
func (p *proxy) listen() error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", p.address)
	if err != nil {
		return err
	}
	p.address, p.listener = listener.Addr().String(), listener
	p.mu.Lock()
	p.open = map[net.Conn]bool{}
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
			if err != nil {
				_ = from.Close()
				continue
			}
			p.carry(from, to)
			p.carry(to, from)
		}
	})
	return nil
}

// carry takes bytes one way until either end closes. Who came just before the way was cut off is cut off, too.
func (p *proxy) carry(from, to net.Conn) {
	p.mu.Lock()
	if p.open == nil {
		_, _ = from.Close(), to.Close()
	} else {
		p.open[from] = true
	}
	p.mu.Unlock()
	p.running.Go(func() {
		_, _ = io.Copy(to, from)
		_ = from.Close()
		_ = to.Close()
	})
}

// close cuts off everybody and waits for that.
func (p *proxy) close() {
	if p.listener == nil {
		return
	}
	_ = p.listener.Close()
	p.mu.Lock()
	for conn := range p.open {
		_ = conn.Close()
	}
	p.open = nil
	p.mu.Unlock()
	p.running.Wait()
	p.listener = nil
}
