package viking_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/document" // part: documents
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/sessions"
)

// world is a server with this surface, asked from the outside.
type world struct {
	t         *testing.T
	url       string
	log       *events.Log
	followers *follow.Followers
	base      *projections.Knowledge
	db        *database.DB

	eraser *erasure.Eraser // carries out when it is told to
}

const rootKey = "0123456789abcdef0123456789abcdef"

// open is for servers that ask for no key, keyed for those that have a root key.
func open(*servertest.Config)         {}
func keyed(cfg *servertest.Config)    { cfg.Callers.RootKey = rootKey }
func as(key string) header            { return header("X-API-Key: " + key) }
func (w *world) path(s string) string { return w.url + s }

// each runs a test on both engines, or with -short on one, served by a role that sees one tenant at a time where there
// are roles. Set changes settings of the surface.
func each(t *testing.T, configure func(*servertest.Config), test func(t *testing.T, w *world), set ...func(*viking.Config)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) { test(t, newWorld(t, db, configure, set...)) })
}

func newWorld(t *testing.T, db *database.DB, configure func(*servertest.Config), set ...func(*viking.Config)) *world {
	t.Helper()
	parts := servertest.Open(t, db, events.Options{})
	base, log := parts.Knowledge, parts.Log
	settings := viking.Config{
		Writer: log, Browser: parts.Knowledge.Browser, Reader: parts.Reader(), Files: events.NewFiles(log), Sessions: sessions.Sessions{Log: log, Followers: parts.Followers}, Version: "test",
		Directories: browse.NewDirectories(db),
		Probes:      []viking.Probe{{Name: "database", Check: func(context.Context) error { return nil }}},
	}
	settings.Members = people.Directory{Log: log.Reader}.Members
	settings.Keys, settings.NewKey = keys.NewKeys(db, log), func() (prefix, key, hash string) {
		return httpkeys.NewKey()
	}
	eraser := projections.NewEraser(base, log, databasetest.Log(t))
	settings.Eraser = eraser
	var asked servertest.Config
	configure(&asked)
	settings.Closed = asked.Callers.RootKey != ""
	apart, err := document.NewApart() // part: documents
	if err != nil {                   // part: documents
		t.Fatal(err) // part: documents
	} // part: documents
	settings.Documents = apart // part: documents
	for _, change := range set {
		change(&settings)
	}
	cfg := parts.Config(t)
	cfg.Callers.Keys = keys.NewKeys(db, log)
	cfg.Mounts = []annalshttp.Mount{viking.Mount(settings)}
	configure(&cfg)
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(cfg.New().Handler())
	server.Config.BaseContext = func(net.Listener) context.Context { return database.ForTenant(context.WithoutCancel(t.Context()), "") }
	server.Start()
	t.Cleanup(server.Close)
	return &world{t: t, url: server.URL, log: log, followers: parts.Followers, base: base, db: db, eraser: eraser}
}

// header is a request header, "Name: value".
type header string

// answer is what the server said.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

// ask sends a request. A body that is no string and no reader is sent as JSON.
func (w *world) ask(method, path string, body any, headers ...header) *answer {
	w.t.Helper()
	status, got, read := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, method, w.path(path), body, headers...))
	return &answer{t: w.t, what: method + " " + path, status: status, header: got, body: read}
}

// object is a JSON object as it came.
type object = map[string]any

// want fails the test unless the answer has this status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: got %d, want %d\n%.2000s", a.what, a.status, status, a.body)
	}
	return a
}

// json is the answer's body.
func (a *answer) json() object {
	a.t.Helper()
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		a.t.Fatalf("%s: %v\n%.2000s", a.what, err, a.body)
	}
	return o
}

// result is what the envelope of a good answer holds.
func (a *answer) result() any {
	a.t.Helper()
	e := a.want(http.StatusOK).json()
	if e["status"] != "ok" || e["error"] != nil || e["time"] != 0.0 || a.header.Get("X-Process-Time") == "" {
		a.t.Errorf("%s: answered %.500s, in %q s", a.what, a.body, a.header.Get("X-Process-Time"))
	}
	return e["result"]
}

// object is a result that is one.
func (a *answer) object() object {
	a.t.Helper()
	o, is := a.result().(object)
	if !is {
		a.t.Fatalf("%s: answered %.500s", a.what, a.body)
	}
	return o
}

// refused fails the test unless the answer is a refusal with this status and code. It gives the message.
func (a *answer) refused(status int, code string) string {
	a.t.Helper()
	e := a.want(status).json()
	failure, _ := e["error"].(object)
	if result, there := e["result"]; e["status"] != "error" || !there || result != nil || failure["code"] != code || failure["message"] == "" ||
		a.header.Get("X-Process-Time") == "" {
		a.t.Errorf("%s: answered %.500s, want the code %s", a.what, a.body, code)
	}
	message, _ := failure["message"].(string)
	return message
}

func (a *answer) invalid() string {
	a.t.Helper()
	return a.refused(http.StatusBadRequest, "INVALID_ARGUMENT")
}

func (a *answer) missing() string { a.t.Helper(); return a.refused(http.StatusNotFound, "NOT_FOUND") }

func (a *answer) forbidden() string {
	a.t.Helper()
	return a.refused(http.StatusForbidden, "PERMISSION_DENIED")
}

func (a *answer) taken() string {
	a.t.Helper()
	return a.refused(http.StatusConflict, "ALREADY_EXISTS")
}

// keyFor is a key that root makes.
func (w *world) keyFor(about object, headers ...header) header {
	w.t.Helper()
	made := w.ask("POST", "/v1/keys", about, append(headers, as(rootKey))...).want(http.StatusCreated)
	return as(made.json()["key"].(string))
}

// read is what a file says.
func (w *world) read(uri string, headers ...header) any {
	w.t.Helper()
	return w.ask("GET", at("/api/v1/content/read", uri), nil, headers...).result()
}

func (w *world) find(body any, headers ...header) object {
	w.t.Helper()
	return w.ask("POST", "/api/v1/search/find", body, headers...).object()
}

// itemAt is the first item below a place, as /v1 has it.
func (w *world) itemAt(uri string) object {
	w.t.Helper()
	return w.ask("GET", "/v1/knowledge?uri="+uri, nil).want(http.StatusOK).json()["items"].([]any)[0].(object)
}

// position is how long the log of the default tenant is.
func (w *world) position() int64 {
	w.t.Helper()
	head, _, err := w.log.Reader.Head(database.ForEveryTenant(w.t.Context()), "default")
	if err != nil {
		w.t.Fatal(err)
	}
	return head
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
