package http_test

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

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
)

// stream is somebody who follows the log.
type stream struct {
	w     *world
	heard chan message
	leave context.CancelFunc
}

// message is one of a stream: an event, a comment, or its end.
type message struct{ kind, id, data string }

func (w *world) follow(path string, headers ...header) *stream {
	w.t.Helper()
	request := w.request("GET", path, nil, append(headers, "Accept: text/event-stream")...)
	ctx, leave := context.WithCancel(w.t.Context())
	response, err := (&http.Client{Transport: w.client.Transport}).Do(request.WithContext(ctx)) //nolint:bodyclose // the reading goroutine does
	if err != nil {
		w.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("%s: %s %v", path, response.Status, response.Header)
	}
	s := &stream{w: w, heard: make(chan message, 1000), leave: leave}
	w.t.Cleanup(leave)
	go func() {
		defer close(s.heard)
		defer response.Body.Close()
		m := message{}
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			name, value, _ := strings.Cut(scanner.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case scanner.Text() == "":
				s.heard <- m
				m = message{}
			case name == "":
				m.kind = "comment"
			case name == "event":
				m.kind = value
			case name == "id":
				m.id = value
			case name == "data":
				m.data = value
			}
		}
	}()
	return s
}

// next is the next message of a kind; empty for events.
func (s *stream) next(kind string) (m message, body object) {
	s.w.t.Helper()
	for {
		select {
		case m, more := <-s.heard:
			if !more {
				s.w.t.Fatalf("the stream ended before a message of kind %q", kind)
			}
			if m.kind != kind {
				continue
			}
			if m.data != "" {
				if err := json.Unmarshal([]byte(m.data), &body); err != nil {
					s.w.t.Fatalf("%s: %v", m.data, err)
				}
			}
			return m, body
		case <-time.After(20 * time.Second):
			s.w.t.Fatalf("no message of kind %q", kind)
		}
	}
}

// positions are those of the next events.
func (s *stream) positions(n int) []float64 {
	s.w.t.Helper()
	var all []float64
	for range n {
		_, e := s.next("")
		all = append(all, e["position"].(float64))
	}
	return all
}

func TestAStreamFollowsTheLogAndResumes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		told(w)
		all := w.follow("/v1/events")
		same(t, all.positions(7), []float64{1, 2, 3, 4, 5, 6, 7}, "what was there")
		votes := w.follow("/v1/events?name=knowledge.found_*&after=4")
		words := w.follow("/v1/events?q=tea&after=4")
		w.remember("new", "Tea")
		seen, e := all.next("")
		like(t, e, object{"position": 8.0, "event_id": seen.id, "stream": "knowledge:new"})
		all.leave()
		w.ask("POST", "/v1/knowledge/new/feedback", object{"verdict": "helpful"}).want(http.StatusOK)
		same(t, votes.positions(1), []float64{9}, "a vote")
		same(t, words.positions(1), []float64{8}, "a word")
		again := w.follow("/v1/events?after=1", header("Last-Event-ID: "+seen.id))
		same(t, again.positions(1), []float64{9}, "resumed")
	})
}

func TestAStreamKeepsToWhatItsReaderMaySee(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "mine, for now")
		public := func(id string) {
			b := item(id, "for all")
			b["scopes"] = []string{"public"}
			w.ask("POST", "/v1/knowledge", b).want(http.StatusCreated)
		}
		public("b")
		s := w.follow("/v1/events", "Annals-On-Behalf-Of: user:bo")
		if got := s.positions(1); got[0] != 2 { // position 1 is behind it now
			t.Errorf("before it is shared: %v", got)
		}
		w.ask("PATCH", "/v1/knowledge/a", object{"scopes": []string{"user:bo"}}).want(http.StatusOK)
		same(t, s.positions(1), []float64{3}, "once shared")
		w.ask("PATCH", "/v1/knowledge/a", object{"scopes": []string{"user:default"}}).want(http.StatusOK)
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "a secret"}).want(http.StatusOK)
		public("c")
		same(t, s.positions(1), []float64{6}, "shared no more")
	})
}

func TestAStreamHasTheRightsOfItsReaderAndFewOfThem(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin, mia := w.company()
		const membership = "/v1/directory/user:mia/groups/team:pay"
		plan := func(id, scope string) {
			w.ask("POST", "/v1/knowledge", object{
				"id": id, "type": "plan", "content": "Deploy on Tuesdays.", "scopes": []string{scope},
			}, admin).want(http.StatusCreated)
		}
		live, behind := w.follow("/v1/events?name=knowledge.*", mia), w.follow("/v1/events?name=knowledge.*&q=deploy", mia)
		w.ask("PUT", membership, nil, admin).want(http.StatusOK)
		plan("a", "team:pay")
		for _, s := range []*stream{live, behind} {
			_, e := s.next("")
			same(t, e["stream"], any("knowledge:a"))
		}
		w.ask("DELETE", membership, object{"reason": "left"}, admin).want(http.StatusOK)
		plan("b", "team:pay")
		plan("c", "public")
		for _, s := range []*stream{live, behind} {
			_, e := s.next("")
			same(t, e["stream"], any("knowledge:c"))
		}
		for range 18 {
			w.follow("/v1/events", mia)
		}
		w.ask("GET", "/v1/events", nil, mia, "Accept: text/event-stream").want(http.StatusTooManyRequests)
		w.follow("/v1/events", admin)
		live.leave()
	})
}

func TestAStreamSaysThatItIsAliveAndWhyItEnds(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.Heartbeat = 10 * time.Millisecond }, func(t *testing.T, w *world) {
		s := w.follow("/v1/events")
		for range 3 {
			s.next("comment")
		}
		if err := w.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
		if _, why := s.next("closed"); why["type"] != "urn:annals:problem:closing" {
			t.Errorf("%v", why)
		}
	})
}

func TestAStreamHearsOfWhatAnotherServerAppends(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		poll := events.Options{Poll: 20 * time.Millisecond}
		w, other := newWorld(t, db, poll, nil), newWorld(t, db, poll, nil)
		s := w.follow("/v1/events")
		s.next("comment")
		other.remember("a", "x")
		same(t, s.positions(1), []float64{1})
	})
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

func TestWhoeverTakesNothingIsCutOff(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := impatient(t, db, func(*servertest.Config) {})
		w.ignore("/v1/events", "Accept: text/event-stream")
		for !strings.Contains(string(w.ask("GET", "/metrics", nil).body), `annals_http_streams_ended_total{reason="slow"} 1`) {
			time.Sleep(20 * time.Millisecond)
		}
		w.remember("a", "and others go on")
	})
}

// impatient is a world with more in its log than a connection holds, and without patience for callers who do not read.
func impatient(t *testing.T, db *database.DB, configure func(*servertest.Config)) *world {
	t.Helper()
	var cfg servertest.Config
	w := newWorld(t, db, events.Options{}, func(c *servertest.Config) {
		configure(c)
		cfg = *c
	})
	for i := range 20 {
		w.remember(fmt.Sprint("item-", i), strings.Repeat("many words ", 2000))
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Timeout = 5 * time.Second
	w.url = "http://" + listener.Addr().String()
	w.serve(cfg.New(), narrow{listener})
	return w
}

// ignore asks for something and does not read the answer.
func (w *world) ignore(path, header string) {
	w.t.Helper()
	lazy := w.dial()
	if err := lazy.SetReadBuffer(1 << 12); err != nil {
		w.t.Fatal(err)
	}
	if _, err := lazy.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n")); err != nil {
		w.t.Fatal(err)
	}
}

func TestAStreamThatCannotBeIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		told(w)
		stream := header("Accept: text/event-stream")
		for _, id := range []string{"7", "nonsense", "0195a000-0000-7000-8000-000000000001"} {
			a := w.ask("GET", "/v1/events", nil, stream, header("Last-Event-ID: "+id)).want(http.StatusBadRequest)
			like(t, a.json(), object{"fix": containing("restored")}, id)
		}
		a := w.ask("GET", "/v1/events?order=desc&limit=3&to=2026-01-01", nil, stream).want(http.StatusUnprocessableEntity)
		same(t, len(a.errors()), 3)
		w.ask("HEAD", "/v1/events", nil, stream).want(http.StatusOK)
	})
}
