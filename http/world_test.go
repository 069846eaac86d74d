package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/mcp" // part: mcp
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/past"
)

// world is a server on a database of its own, asked from the outside. Every answer is held
// against the description that the server gives of itself.
type world struct {
	t         *testing.T
	db        *database.DB
	log       *events.Log
	followers *follow.Followers
	past      *past.Projection
	url       string
	client    *http.Client
	server    *annalshttp.Server
	spec      *description
	heard     *statements  // what was sent to the database, if anybody listens
	stop      func() error // shuts the server down; its error is Serve's
}

// each runs a test on both engines, served by a role that sees one tenant at a time where there are roles.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	eachWith(t, nil, test)
}

// eachWith is each with another configuration of the server.
func eachWith(t *testing.T, configure func(*servertest.Config), test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		test(t, newWorld(t, db, events.Options{}, configure))
	})
}

func newWorld(t *testing.T, db *database.DB, options events.Options, configure func(*servertest.Config)) *world {
	t.Helper()
	base := servertest.Open(t, db, options)
	log := base.Log
	cfg := base.Config(t)
	cfg.Probes = []operate.Probe{{Name: "database", Check: func(ctx context.Context) error {
		_, _, err := log.Reader.Head(ctx, "default")
		return err
	}}}
	cfg.Rooms = append(cfg.Rooms, mcp.Room{}) // part: mcp
	if configure != nil {
		configure(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, log: log, followers: base.Followers, past: base.Past, url: "http://" + listener.Addr().String()}
	w.server = cfg.New()
	w.serve(w.server, listener)
	w.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		if err := w.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	w.spec = describedBy(t, w)
	return w
}

// serve answers until stop is called, once or more.
func (w *world) serve(server *annalshttp.Server, listener net.Listener) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	served := make(chan struct{})
	var err error
	go func() {
		defer close(served)
		err = server.Serve(ctx, listener)
	}()
	w.stop = func() error {
		cancel()
		<-served
		return err
	}
}

// answer is what the server said.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

// header is a request header, "Name: value".
type header string

// ask sends a request. A body that is no string and no reader is sent as JSON.
func (w *world) ask(method, path string, body any, headers ...header) *answer {
	w.t.Helper()
	request := w.request(method, path, body, headers...)
	status, got, content := servertest.Answer(w.t, w.client, request)
	a := &answer{
		t: w.t, what: method + " " + path, status: status, header: got, body: content,
	}
	if w.spec != nil {
		w.spec.hold(w.t, request, a)
	}
	return a
}

func (w *world) request(method, path string, body any, headers ...header) *http.Request {
	w.t.Helper()
	return servertest.Request(w.t, method, w.url+path, body, headers...)
}

// want fails the test unless the answer has this status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: got %d, want %d\n%.2000s", a.what, a.status, status, a.body)
	}
	return a
}

// object is a JSON object as it came.
type object = map[string]any

// json is the answer's body.
func (a *answer) json() object {
	a.t.Helper()
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		a.t.Fatalf("%s: %v\n%.2000s", a.what, err, a.body)
	}
	return o
}

// lines are the objects of an answer that has one per line.
func (a *answer) lines() []object {
	a.t.Helper()
	var all []object
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	for decoder.More() {
		var o object
		if err := decoder.Decode(&o); err != nil {
			a.t.Fatalf("%s: %v\n%.2000s", a.what, err, a.body)
		}
		all = append(all, o)
	}
	return all
}

// errors are the bad fields that a problem names, "field: message".
func (a *answer) errors() []string {
	a.t.Helper()
	var p struct {
		Errors []struct{ Field, Message string }
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		a.t.Fatalf("%s: %v\n%.2000s", a.what, err, a.body)
	}
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Field+": "+e.Message)
	}
	return all
}

// items are the objects of a list.
func (a *answer) items() []object {
	a.t.Helper()
	var page struct{ Items []object }
	if err := json.Unmarshal(a.body, &page); err != nil {
		a.t.Fatalf("%s: %v\n%.2000s", a.what, err, a.body)
	}
	return page.Items
}

// pick takes a value out of nested objects: pick(o, "eval", "helpful").
func pick(o object, path ...string) any {
	var value any = o
	for _, name := range path {
		inner, _ := value.(object)
		value = inner[name]
	}
	return value
}

// item is the least that can be remembered.
func item(id, content string) object {
	return object{"id": id, "type": "strategy", "content": content}
}

func (w *world) remember(id, content string) *answer {
	w.t.Helper()
	return w.ask("POST", "/v1/knowledge", item(id, content)).want(http.StatusCreated)
}

// logEndsAt fails the test unless so many events were recorded.
func (w *world) logEndsAt(want int64) {
	w.t.Helper()
	if got, _, err := w.log.Reader.Head(database.ForTenant(w.t.Context(), "default"), "default"); got != want || err != nil {
		w.t.Errorf("the log ends at %d, %v, want %d", got, err, want)
	}
}

// same fails the test unless two values are equal.
func same[V any](t *testing.T, got, want V, about ...any) {
	t.Helper()
	servertest.Same(t, got, want, about...)
}

var like = servertest.Like

type (
	some       = servertest.Some
	containing = servertest.Containing
	beginning  = servertest.Beginning
	ending     = servertest.Ending
	lacking    = servertest.Lacking
	count      = servertest.Count
)
