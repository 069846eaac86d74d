package databasetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy is a proxy before a PostgreSQL server. It counts round trips and simulates network failures at COMMIT.
type Proxy struct {
	// URL is the URL of the database through the proxy.
	URL   string
	trips atomic.Int64

	mu          sync.Mutex
	server      string
	commit      func() (delivered bool) // handles the next COMMIT; nil for normal handling
	down        bool
	connections map[net.Conn]struct{}
}

// NewProxy starts a proxy before the database at serverURL. It ends with the test.
func NewProxy(t testing.TB, serverURL string) *Proxy {
	t.Helper()
	through, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: through.Host, connections: map[net.Conn]struct{}{}}
	through.Host = listener.Addr().String()
	p.URL = through.String()

	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.Down()
		serving.Wait()
	})
	return p
}

// Trips counts the round trips of clients.
func (p *Proxy) Trips() int64 { return p.trips.Load() }

// Down closes every connection and refuses new ones until Up.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.connections {
		_ = c.Close()
	}
}

// Up undoes Down.
func (p *Proxy) Up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// Turn closes every connection, and passes new ones on to another server.
func (p *Proxy) Turn(t testing.TB, serverURL string) {
	t.Helper()
	other, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	p.Down()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server, p.down = other.Host, false
}

// LoseCommit cuts the connection before the next COMMIT reaches the server.
func (p *Proxy) LoseCommit() { p.atCommit(func() bool { return false }) }

// LoseAnswer cuts the connection at the next COMMIT, which still reaches the server after a while.
func (p *Proxy) LoseAnswer(after time.Duration) {
	p.atCommit(func() bool {
		time.Sleep(after)
		return true
	})
}

// AwayAtCommit also takes the proxy down when the next COMMIT is lost, for a while or, with 0, for good.
func (p *Proxy) AwayAtCommit(away time.Duration) {
	p.mu.Lock()
	lose := p.commit
	p.mu.Unlock()
	p.atCommit(func() bool {
		p.Down()
		if away > 0 {
			time.AfterFunc(away, p.Up)
		}
		return lose()
	})
}

func (p *Proxy) atCommit(do func() (delivered bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commit = do
}

// enter registers a connection, unless the proxy is down, and returns the address of the server.
func (p *Proxy) enter(c net.Conn) (server string, up bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.connections[c] = struct{}{}
	}
	return p.server, !p.down
}

func (p *Proxy) leave(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, c)
}

func (p *Proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	address, up := p.enter(client)
	if !up {
		return
	}
	defer p.leave(client)
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
	if err != nil {
		return
	}
	var answers sync.WaitGroup
	answers.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	defer answers.Wait()
	defer func() { _ = server.Close() }()

	messages := bufio.NewReader(client)
	for typed := false; ; typed = true { // the first message of a connection has no type
		message, err := readMessage(messages, typed)
		if err != nil {
			return
		}
		if lose := p.inspect(message, typed); lose != nil {
			_ = client.Close()
			if lose() {
				_, _ = server.Write(message)
				answers.Wait() // for the one answer without a receiver
			}
			return
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}

// readMessage reads a message of the protocol: a type, a length that includes itself, and the rest.
func readMessage(from *bufio.Reader, typed bool) ([]byte, error) {
	head := 4
	if typed {
		head = 5
	}
	message := make([]byte, head)
	if _, err := io.ReadFull(from, message); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(message[head-4:])) - 4
	message = append(message, make([]byte, length)...)
	_, err := io.ReadFull(from, message[head:])
	return message, err
}

// inspect counts a message that expects an answer. It returns a function if the message must be lost.
func (p *Proxy) inspect(message []byte, typed bool) (lose func() (delivered bool)) {
	if !typed {
		return nil
	}
	const query, sync = 'Q', 'S'
	if message[0] == query || message[0] == sync {
		p.trips.Add(1)
	}
	if message[0] != query || !bytes.HasSuffix(message, []byte("COMMIT\x00")) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lose, p.commit = p.commit, nil
	return lose
}
