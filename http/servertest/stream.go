package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Stream is somebody who follows the log.
type Stream struct {
	w     *World
	Heard chan Message
	Leave context.CancelFunc
}

// Message is one of a stream: an event, a comment, or its end.
type Message struct{ Kind, ID, Data string }

// Listen follows a stream of events.
func (w *World) Listen(path string, headers ...Header) *Stream {
	w.T.Helper()
	request := w.Request("GET", path, nil, append(headers, "Accept: text/event-stream")...)
	ctx, leave := context.WithCancel(w.T.Context())
	endless := &http.Client{Transport: w.Client.Transport}
	response, err := endless.Do(request.WithContext(ctx)) //nolint:bodyclose // the reading goroutine does
	if err != nil {
		w.T.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		w.T.Fatalf("%s: %s %v", path, response.Status, response.Header)
	}
	s := &Stream{w: w, Heard: make(chan Message, 1000), Leave: leave}
	w.T.Cleanup(leave)
	go func() {
		defer close(s.Heard)
		defer func() { _ = response.Body.Close() }()
		m := Message{}
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			name, value, _ := strings.Cut(scanner.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case scanner.Text() == "":
				s.Heard <- m
				m = Message{}
			case name == "":
				m.Kind = "comment"
			case name == "event":
				m.Kind = value
			case name == "id":
				m.ID = value
			case name == "data":
				m.Data = value
			}
		}
	}()
	return s
}

// Next is the next message of a kind; empty for events.
func (s *Stream) Next(kind string) (m Message, body Object) {
	s.w.T.Helper()
	patience := time.After(5 * time.Minute)
	for {
		select {
		case m, more := <-s.Heard:
			if !more {
				s.w.T.Fatalf("the stream ended before a message of kind %q", kind)
			}
			if m.Kind != kind {
				continue
			}
			if m.Data != "" {
				if err := json.Unmarshal([]byte(m.Data), &body); err != nil {
					s.w.T.Fatalf("%s: %v", m.Data, err)
				}
			}
			return m, body
		case <-patience:
			s.w.T.Fatalf("no message of kind %q", kind)
		}
	}
}

// Positions are those of the next events.
func (s *Stream) Positions(n int) (all []float64) {
	s.w.T.Helper()
	for range n {
		_, e := s.Next("")
		all = append(all, e["position"].(float64))
	}
	return all
}

// narrow takes connections on which little is under way, so that little fills them.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(1 << 12)
	}
	return conn, err
}

// EachImpatient runs a test on both engines, in a world with more in its log than a connection holds, and without
// patience for callers who do not read.
func EachImpatient(t *testing.T, configure Configure, test func(t *testing.T, w *World)) {
	t.Helper()
	EachWith(t, configure, func(t *testing.T, w *World) {
		for i := range 20 {
			w.Remember(fmt.Sprint("item-", i), strings.Repeat("many words ", 2000))
		}
		if err := w.Stop(); err != nil {
			t.Fatal(err)
		}
		hasty := w.Another(func(cfg *Config) { cfg.Timeout = 5 * time.Second })
		w.Serve(hasty, func(l net.Listener) net.Listener { return narrow{l} })
		test(t, w)
	})
}

// Ignore asks for something and does not read the answer.
func (w *World) Ignore(path, header string) {
	w.T.Helper()
	lazy := w.Dial()
	if err := lazy.SetReadBuffer(1 << 12); err != nil {
		w.T.Fatal(err)
	}
	if _, err := lazy.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n")); err != nil {
		w.T.Fatal(err)
	}
}
