package databasetest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Pooler stands between clients and a PostgreSQL server as a pooler in transaction mode does: a transaction has a
// session of the server, the next one may have another.
type Pooler struct {
	URL string // of the database through the pooler

	server string
	mu     sync.Mutex
	idle   []*session // the one used last is the next to be used
	all    []net.Conn
	closed bool
}

// session is one of the server's.
type session struct {
	net.Conn
	answers *bufio.Reader
}

// NewPooler makes a pooler before the database at serverURL, which ends with the test.
func NewPooler(t testing.TB, serverURL string) *Pooler {
	t.Helper()
	through, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Pooler{server: through.Host}
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
		p.close()
		serving.Wait()
	})
	return p
}

func (p *Pooler) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.all {
		_ = c.Close()
	}
}

// keep closes a connection at the end of the test, or now if that was before.
func (p *Pooler) keep(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, c)
	if p.closed {
		_ = c.Close()
	}
}

func (p *Pooler) put(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
}

// take gives the session that was used last. There is one for each client that is connected.
func (p *Pooler) take() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	s := p.idle[last]
	p.idle = p.idle[:last]
	return s
}

// serve lets a client log in to a session of its own, and puts that one to the others.
func (p *Pooler) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	p.keep(client)
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
	if err != nil {
		return
	}
	p.keep(conn)
	s := &session{Conn: conn, answers: bufio.NewReader(conn)}
	messages := bufio.NewReader(client)
	for typed := false; s != nil; typed = true { // until the client has logged in
		if s, err = p.login(client, messages, s, typed); err != nil {
			return
		}
	}
	for {
		message, err := readMessage(messages, true)
		if err != nil {
			return
		}
		if s == nil {
			s = p.take()
		}
		if _, err := s.Write(message); err != nil {
			return
		}
		if message[0] != 'Q' && message[0] != 'S' {
			continue
		}
		if within, err := s.answer(client); err != nil {
			return
		} else if !within {
			p.put(s)
			s = nil
		}
	}
}

// login carries one message to the server and its answers back; nil when the server is ready for queries.
func (p *Pooler) login(client net.Conn, messages *bufio.Reader, s *session, typed bool) (*session, error) {
	message, err := readMessage(messages, typed)
	if err != nil {
		return nil, err
	}
	if _, err := s.Write(message); err != nil {
		return nil, err
	}
	for {
		answer, err := readMessage(s.answers, true)
		if err != nil {
			return nil, err
		}
		if _, err := client.Write(answer); err != nil {
			return nil, err
		}
		switch {
		case answer[0] == 'E':
			return nil, io.EOF
		case answer[0] == 'Z':
			p.mu.Lock()
			defer p.mu.Unlock()
			p.idle = append([]*session{s}, p.idle...) // not used yet
			return nil, nil
		case answer[0] == 'R' && answer[8] != 0 && answer[8] != 12: // asks for an answer of the client
			return s, nil
		}
	}
}

// answer carries answers back until the server is ready for the next query, and tells whether it is in a transaction.
func (s *session) answer(client net.Conn) (within bool, err error) {
	for {
		answer, err := readMessage(s.answers, true)
		if err != nil {
			return false, err
		}
		if _, err := client.Write(answer); err != nil {
			return false, err
		}
		if answer[0] == 'Z' {
			return answer[5] != 'I', nil
		}
	}
}
