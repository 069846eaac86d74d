package database_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between a client and a PostgreSQL server, and cuts a connection at a COMMIT.
type proxy struct {
	server string
	// deliver says whether the server still gets the COMMIT whose answer the client never sees.
	deliver bool

	mu    sync.Mutex
	armed bool
}

// newProxy returns the URL of the database at serverURL through the proxy, which ends with the test.
func newProxy(t *testing.T, serverURL string, deliver bool) (*proxy, string) {
	t.Helper()
	through, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: through.Host, deliver: deliver}
	through.Host = listener.Addr().String()

	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { p.serve(t, client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		connections.Wait()
	})
	return p, through.String()
}

// cutNextCommit makes the next COMMIT the last thing that is sent on its connection.
func (p *proxy) cutNextCommit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = true
}

func (p *proxy) cutsNow(message []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut := p.armed && bytes.Contains(message, []byte("COMMIT\x00"))
	p.armed = p.armed && !cut
	return cut
}

func (p *proxy) serve(t *testing.T, client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()

	var cut atomic.Bool
	var answers sync.WaitGroup
	answers.Go(func() {
		defer client.Close() // once the server has answered the COMMIT, or is gone
		passOn(client, server, func([]byte) bool { return !cut.Load() })
	})
	passOn(server, client, func(message []byte) bool {
		cut.Store(p.cutsNow(message))
		return !cut.Load() || p.deliver
	})
	server.Close()
	answers.Wait()
}

// passOn copies messages until the source ends or one is not to pass.
func passOn(to io.Writer, from io.Reader, passes func(message []byte) bool) {
	buffer := make([]byte, 64*1024)
	for {
		n, err := from.Read(buffer)
		if err != nil || !passes(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
