package servertest

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/rebuild"
)

// RootKey is the root key of the servers that have one.
const RootKey = "0123456789abcdef0123456789abcdef"

// World is a server on a database of its own, asked from the outside. Every answer is held
// against the description that the server gives of itself.
type World struct {
	Base
	T          *testing.T
	URL        string
	Client     *http.Client
	Server     *annalshttp.Server
	Spec       *Description // nil to hold no answer against it
	Stop       func() error // shuts the server down; its error is Serve's
	Heard      *Statements  // what was sent to the database, in a world with people
	Configured Config       // of the server

	ahead atomic.Int64
}

// Configure changes the configuration of a world's server.
type Configure func(w *World, cfg *Config)

// Each runs a test on both engines, served by a role that sees one tenant at a time where there are roles.
func Each(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	EachWith(t, nil, test)
}

// EachWith is Each with another configuration of the server.
func EachWith(t *testing.T, configure Configure, test func(t *testing.T, w *World)) {
	t.Helper()
	EachIn(t, events.Options{}, configure, test)
}

// EachIn is EachWith with another log.
func EachIn(t *testing.T, options events.Options, configure Configure, test func(t *testing.T, w *World)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		test(t, NewWorld(t, db, options, configure))
	})
}

// NewWorld serves a database. Configure may be nil.
func NewWorld(t *testing.T, db *database.DB, options events.Options, configure Configure) *World {
	t.Helper()
	registry, _ := options.Registerer.(*prometheus.Registry)
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	options.Registerer = registry
	w := &World{Base: Open(t, db, options), T: t}
	cfg := w.Config(t)
	cfg.Registry = registry
	cfg.Probes = []operate.Probe{{Name: "database", Check: func(ctx context.Context) error {
		_, _, err := w.Log.Reader.Head(ctx, domain.DefaultTenant)
		return err
	}}}
	if configure != nil {
		configure(w, &cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	w.Client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:       5 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	w.Configured = cfg
	w.Serve(cfg.New(), func(l net.Listener) net.Listener { return l })
	t.Cleanup(func() {
		w.Client.CloseIdleConnections()
		if err := w.Stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	w.Spec = w.Description()
	return w
}

// Another is one more server of the same log, which is not asked by Ask.
func (w *World) Another(change func(cfg *Config)) *annalshttp.Server {
	cfg := w.Configured
	cfg.Registry = nil
	change(&cfg)
	return cfg.New()
}

// Serve lets another server answer from now on, until Stop is called, once or more.
func (w *World) Serve(server *annalshttp.Server, through func(net.Listener) net.Listener) {
	w.T.Helper()
	listener, err := new(net.ListenConfig).Listen(w.T.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.T.Fatal(err)
	}
	w.URL, w.Server = "http://"+listener.Addr().String(), server
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.T.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, through(listener)) }()
	w.Stop = func() error {
		cancel()
		err := <-served
		served <- err
		return err
	}
}

// Keyed lets a server keep keys, with a clock that can be ahead.
func Keyed(w *World, cfg *Config) {
	cfg.Callers.Keys = keys.NewKeys(w.DB, w.Log)
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }
}

// Rooted is Keyed with a root key.
func Rooted(w *World, cfg *Config) {
	Keyed(w, cfg)
	cfg.Callers.RootKey = RootKey
}

// Frozen is Rooted with a clock that stands still.
func Frozen(w *World, cfg *Config) {
	Rooted(w, cfg)
	at := time.Now().Truncate(time.Second)
	cfg.Now = func() time.Time { return at.Add(time.Duration(w.ahead.Load())) }
}

// Rebuilding lets a server rebuild projections.
func Rebuilding(w *World, cfg *Config) {
	rebuilder := rebuild.New(w.Knowledge.Versions, w.Knowledge.Models, w.Log, w.Followers)
	w.T.Cleanup(rebuilder.Close)
	cfg.Rebuilder = rebuild.Rebuilds{Rebuilder: rebuilder}
}

// Scrubbing lets a server scrub what it records.
func Scrubbing(w *World, cfg *Config) {
	writer := events.NewScrubbingWriter(w.Log, true)
	cfg.Writer, cfg.Scrubbing, cfg.Recorded = writer, writer, writer
}

// Following lets a server tell how projections follow the log.
func Following(w *World, cfg *Config) {
	cfg.Background = projections.Background{Followers: w.Followers, Past: w.Past}
}

// Ahead sets by how much the clock of the server is ahead.
func (w *World) Ahead(by time.Duration) { w.ahead.Store(int64(by)) }

// FollowMeaning lets the projection of vectors follow the log until the test ends.
func (w *World) FollowMeaning() {
	w.T.Helper()
	Follow(w.T, func(router *message.Router) { w.Knowledge.Models.Configured.Follow(router, w.Followers) })
}

// FollowPast lets the projection of the past follow the log until the test ends.
func (w *World) FollowPast() {
	w.T.Helper()
	Follow(w.T, w.Past.Follow)
}

// Ask sends a request. A body that is no string and no reader is sent as JSON.
func (w *World) Ask(method, path string, body any, headers ...Header) *Answer {
	w.T.Helper()
	request := w.Request(method, path, body, headers...)
	status, got, content := Send(w.T, w.Client, request)
	a := &Answer{T: w.T, What: method + " " + path, Status: status, Header: got, Body: content}
	if w.Spec != nil {
		w.Spec.hold(w.T, request, a)
	}
	return a
}

// Request is a request to the server.
func (w *World) Request(method, path string, body any, headers ...Header) *http.Request {
	w.T.Helper()
	return Request(w.T, method, w.URL+path, body, headers...)
}

// Dial connects to the server until the test ends.
func (w *World) Dial() *net.TCPConn {
	w.T.Helper()
	conn, err := new(net.Dialer).DialContext(w.T.Context(), "tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

// Remember remembers an item.
func (w *World) Remember(id, content string) *Answer {
	w.T.Helper()
	return w.Ask("POST", "/v1/knowledge", Item(id, content)).Want(http.StatusCreated)
}

// Given is a key, made by whoever has another.
func (w *World) Given(by string, key Object) string {
	w.T.Helper()
	return w.Ask("POST", "/v1/keys", key, Bearer(by)).Want(http.StatusCreated).JSON()["key"].(string)
}

// GivenTo is the header of a key for somebody, a member of groups.
func (w *World) GivenTo(subject, by string, groups ...string) Header {
	w.T.Helper()
	return Bearer(w.Given(by, Object{"subject": subject, "memberships": groups}))
}

// Admin is the key of an administrator, the first key of a server without a root key.
func (w *World) Admin() string {
	w.T.Helper()
	return w.Given("", Object{"subject": "user:olga", "role": "admin"})
}

// Company gives the server a directory: Mia belongs to the retries project, which belongs to team:pay, which belongs to
// org:acme. It returns the admin's header and Mia's.
func (w *World) Company() (admin, mia Header) {
	w.T.Helper()
	olga := w.Admin()
	admin, mia = Bearer(olga), w.GivenTo("user:mia", olga)
	for _, member := range []string{"user:mia", "user:olga", "project:retries", "team:pay", "org:acme"} {
		w.Ask("PUT", "/v1/directory/"+member, nil, admin).Want(http.StatusOK)
	}
	for member, group := range map[string]string{"project:retries": "team:pay", "team:pay": "org:acme"} {
		w.Ask("PUT", "/v1/directory/"+member+"/groups/"+group, nil, admin).Want(http.StatusOK)
	}
	return admin, mia
}

// Expire confirms an item for a moment, and waits until that has passed.
func (w *World) Expire(id string) {
	w.T.Helper()
	var until time.Time
	for brief := 100 * time.Millisecond; ; brief *= 2 { // until it is the future for the server, too
		until = time.Now().Add(brief)
		confirm := Object{"until": until.UTC().Format(time.RFC3339Nano)}
		if w.Ask("POST", "/v1/knowledge/"+id+"/confirm", confirm).Status == http.StatusOK {
			break
		}
	}
	databasetest.Until(w.T, id+" has expired", func() bool { return time.Now().After(until) })
}

// Measures waits until the server shows a line among its metrics.
func (w *World) Measures(line string) {
	w.T.Helper()
	databasetest.Until(w.T, line, func() bool {
		return strings.Contains(string(w.Ask("GET", "/metrics", nil).Want(http.StatusOK).Body), line+"\n")
	})
}

// Rebuild rebuilds the projection of knowledge with parameters, and waits until it has ended.
func (w *World) Rebuild(query string, headers ...Header) Object {
	w.T.Helper()
	const path = "/v1/projections/knowledge/rebuild"
	w.Ask("POST", path+query, nil, headers...).Want(http.StatusAccepted)
	return w.Rebuilt()
}

// Rebuilt waits until a rebuild has ended.
func (w *World) Rebuilt() (last Object) {
	w.T.Helper()
	databasetest.Until(w.T, "the rebuild ends", func() bool {
		last = w.Ask("GET", "/v1/projections/knowledge/rebuild", nil).Want(http.StatusOK).JSON()
		return last["progress"] == nil
	})
	return last
}

// EndsAt fails the test unless so many events were recorded.
func (w *World) EndsAt(want int64) {
	w.T.Helper()
	got, _, err := w.Log.Reader.Head(database.ForTenant(w.T.Context(), domain.DefaultTenant), domain.DefaultTenant)
	if got != want || err != nil {
		w.T.Errorf("the log ends at %d, %v, want %d", got, err, want)
	}
}
