package http_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
)

// link is a connection to a PostgreSQL database of its own that can be cut and mended.
type link struct {
	t        *testing.T
	url      string
	target   string
	listener net.Listener
	mu       sync.Mutex
	broken   bool
	open     map[net.Conn]bool
	carrying sync.WaitGroup
}

func newLink(t *testing.T) *link {
	t.Helper()
	address, err := url.Parse(databasetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{t: t, target: address.Host, listener: listener, open: map[net.Conn]bool{}}
	address.Host = listener.Addr().String()
	l.url = address.String()
	l.carrying.Go(l.accept)
	t.Cleanup(func() {
		listener.Close()
		l.cut()
		l.carrying.Wait()
	})
	return l
}

func (l *link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.carrying.Go(func() { l.carry(conn) })
	}
}

// carry passes bytes both ways until either side, or the link, ends.
func (l *link) carry(conn net.Conn) {
	far, err := new(net.Dialer).DialContext(context.WithoutCancel(l.t.Context()), "tcp", l.target)
	if err != nil {
		conn.Close()
		return
	}
	if !l.keep(conn, far) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, far)
		conn.Close()
	})
	_, _ = io.Copy(far, conn)
	far.Close()
	back.Wait()
}

// keep notes connections that are cut with the link; they are closed at once if it is broken.
func (l *link) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range conns {
		l.open[conn] = true
		if l.broken {
			conn.Close()
		}
	}
	return !l.broken
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	for conn := range l.open {
		conn.Close()
	}
	clear(l.open)
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = false
}
