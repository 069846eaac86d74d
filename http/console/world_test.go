package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/operate"
	httpreceipts "github.com/annals-kb/annals/http/receipts" // part: receipts
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/http/viking" // part: viking
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/rebuild"
	"github.com/annals-kb/annals/projections/receipts" // part: receipts
	"github.com/annals-kb/annals/projections/sessions" // part: viking
)

const rootKey = "0123456789abcdef0123456789abcdef"

// world is a server with a console.
type world struct {
	t         *testing.T
	db        *database.DB
	log       *events.Log
	followers *follow.Followers
	full      atomic.Bool // a check of the server fails
	url       string
	key       string // the server's public key for proofs
	api       *client.Client

	proves   any                // the prover, if there is one
	receipts *receipts.Receipts // part: receipts
	ahead    atomic.Int64       // of the clock of the receipts
}

// onOne runs a test on one of the engines, chosen by the name of the test. The console contains no SQL, and the API below
// it is tested on both. root is the key of root; empty for no-auth mode.
func onOne(t *testing.T, root string, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	engine, _ := databasetest.OneOf(t)
	databasetest.OnServed(t, engine, func(t *testing.T, db *database.DB) { test(t, newWorld(t, db, root)) })
}

// each is onOne on both engines.
func each(t *testing.T, root string, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) { test(t, newWorld(t, db, root)) })
}

// newWorld starts a server. with completes its configuration.
func newWorld(t *testing.T, db *database.DB, root string, with ...func(*servertest.Config, *console.Config)) *world {
	t.Helper()
	base := servertest.Open(t, db, events.Options{})
	w := &world{t: t, db: db, log: base.Log, followers: base.Followers}
	prover := servertest.Prover(t, db, base.Log, base.Followers, time.Nanosecond) // part: proofs
	servertest.Follow(t, prover.Follow)                                           // part: proofs
	w.key = prover.Key()                                                          // part: proofs
	servertest.Follow(t, base.Past.Follow)
	cfg := base.Config(t)
	entrance := events.NewScrubbingWriter(base.Log, true)
	cfg.Writer = entrance
	learn(t, base, entrance) // part: extraction
	rebuilder := rebuild.New(base.Knowledge.Versions, base.Knowledge.Models, base.Log, base.Followers)
	t.Cleanup(rebuilder.Close)
	cfg.Rebuilder, cfg.Background = rebuild.Rebuilds{Rebuilder: rebuilder}, projections.Background{Followers: base.Followers, Past: base.Past}
	cfg.Probes = []operate.Probe{{Name: "disk", Check: func(context.Context) error {
		if w.full.Load() {
			return errors.New("the disk is full")
		}
		return nil
	}}}
	cfg.Protections = func(ctx context.Context) (all []domain.Protection, err error) {
		found, err := database.Protections(ctx, db)
		for _, one := range found {
			all = append(all, domain.Protection(one))
		}
		return all, err
	}
	cfg.Settings = api.Settings{Items: []api.Setting{
		{Name: "rate", Value: "7", Origin: "ANNALS_RATE", Variable: "ANNALS_RATE", Group: "limits", Help: "Requests a second."},
		{Name: "root-key", Value: "(not shown)", Origin: "ANNALS_ROOT_KEY", Variable: "ANNALS_ROOT_KEY", Group: "secrets"},
	}}
	cfg.Models = []operate.Model{
		{Model: api.Model{Name: "embedding", Model: "builtin:1:512", Reason: "built in"}, Try: func(context.Context) (int, error) { return 512, nil }},
		{Model: api.Model{Name: "llm", Model: "model some"}, Try: func(context.Context) (int, error) { return 0, errors.New("no such host") }},
	}
	eraser := projections.NewEraser(base.Knowledge, base.Log, databasetest.Log(t))
	cfg.Eraser, cfg.Scrubbing, cfg.Recorded = eraser, entrance, entrance
	erasing, stop := context.WithCancel(database.ForEveryTenant(context.WithoutCancel(t.Context())))
	var running sync.WaitGroup
	running.Go(func() { eraser.Run(erasing) })
	t.Cleanup(func() { stop(); running.Wait() })
	cfg.Prover, w.proves = prover, prover                                                                                                                                      // part: proofs
	clock := func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }                                                                                         // part: receipts
	w.receipts = receipts.New(t.Context(), receipts.Options{DB: db, Log: base.Log, Items: base.Knowledge.Browser, Ranking: "test", Clock: clock, Logger: databasetest.Log(t)}) // part: receipts
	cfg.Recorder, cfg.Receipts = w.receipts, w.receipts                                                                                                                        // part: receipts
	cfg.Evidence, _ = w.proves.(httpreceipts.Prover)                                                                                                                           // part: receipts
	cfg.Callers.RootKey, cfg.Callers.Keys = root, keys.NewKeys(db, base.Log)
	cfg.Callers.SessionKey = []byte(rootKey)
	var server *annalshttp.Server
	deliver(t, base, &cfg, func() *annalshttp.Server { return server }) // part: webhooks
	inner, err := client.New(client.Config{Timeout: -1, Retries: -1, Transport: client.Inside(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { server.Handler().ServeHTTP(w, r) }))})
	if err != nil {
		t.Fatal(err)
	}
	look := console.Config{
		API: inner, Version: "test", Logger: databasetest.Log(t),
		OpenSession: func(r *http.Request, key string) (string, time.Time, error) {
			return server.Callers.OpenSession(r, key)
		},
		OpenLogin: func(ctx context.Context, token string, ends time.Time) (string, time.Time, error) {
			return server.Callers.OpenLogin(ctx, token, ends)
		},
	}
	for _, complete := range with {
		complete(&cfg, &look)
	}
	pages := console.New(look)
	cfg.Mounts = []annalshttp.Mount{
		viking.Mount(viking.Config{Writer: entrance, Browser: base.Knowledge.Browser, Reader: base.Reader(), Files: events.NewFiles(base.Log), Sessions: sessions.Sessions{Log: base.Log, Followers: base.Followers}}), // part: viking
		{
			Paths: []string{console.Uploads}, Public: []string{console.Uploads}, Handler: pages.Answer, Refuse: pages.Refuse, MaxBody: console.MaxUpload,
		}, {
			Paths: []string{console.Root}, Public: []string{console.Root}, Handler: pages.Answer, Refuse: pages.Refuse,
		},
	}
	server = cfg.New()
	listening := httptest.NewServer(server.Handler())
	t.Cleanup(listening.Close)
	w.url = listening.URL
	w.api = w.as(root)
	return w
}

// as speaks to the server's API with a key.
func (w *world) as(key string) *client.Client {
	w.t.Helper()
	c, err := client.New(client.Config{Server: w.url, Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// remember remembers an item.
func (w *world) remember(k client.Knowledge) client.Receipt {
	w.t.Helper()
	receipt, err := w.api.Remember(w.t.Context(), k)
	if err != nil {
		w.t.Fatal(err)
	}
	return receipt
}

// tell remembers a few items, and lets something happen to them.
func (w *world) tell() {
	w.t.Helper()
	w.remember(client.Knowledge{
		ID: "staging", Type: "definition", Task: "Where is staging?", Content: "The staging database is rebuilt every night.",
	})
	w.remember(client.Knowledge{ID: "language", Type: "user_profile", Task: "用户的语言", Content: "用户喜欢用中文交流。"})
	for _, err := range []error{
		last(w.api.GiveFeedback(w.t.Context(), "staging", client.Vote{Verdict: "helpful", Query: "where is staging", Outcome: "found it"})),
		last(w.api.ReportStale(w.t.Context(), "staging", "it moved")),
		last(w.api.Revise(w.t.Context(), "staging", client.Knowledge{
			Content: "The staging database is rebuilt every morning.", Reason: "the schedule changed",
		})),
	} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func last[T any](_ T, err error) error { return err }

// open opens a page in a browser.
func (w *world) open(path string) *browsertest.Page {
	w.t.Helper()
	p := browsertest.Open(w.t, w.url)
	p.Go(path)
	return p
}

// ask asks for a page without a browser.
func (w *world) ask(path string, headers ...string) (int, string) {
	w.t.Helper()
	status, _, body := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, http.MethodGet, w.url+path, nil, headers...))
	return status, string(body)
}

// given is a key that root makes.
func (w *world) given(subject string) (key, prefix string) {
	w.t.Helper()
	key = w.issued(map[string]any{"subject": subject})
	return key, strings.Split(key, "_")[1]
}

// issued is a key of some rights that root makes.
func (w *world) issued(rights map[string]any) string {
	w.t.Helper()
	_, _, body := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, http.MethodPost, w.url+"/v1/keys",
		rights, "Authorization: Bearer "+rootKey))
	var made struct{ Key string }
	if err := json.Unmarshal(body, &made); err != nil || made.Key == "" {
		w.t.Fatalf("%v: %s", err, body)
	}
	return made.Key
}

func containsAll(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// revoke ends a key.
func (w *world) revoke(prefix string) (int, string) {
	w.t.Helper()
	status, _, body := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, http.MethodDelete, w.url+"/v1/keys/"+prefix,
		map[string]any{"reason": "lost"}, "Authorization: Bearer "+rootKey))
	return status, string(body)
}

// hostileKnowledge has the text in each of its fields.
func hostileKnowledge(text string) client.Knowledge {
	return client.Knowledge{
		Type: "tool", Task: text, Content: text, Abstract: text, Overview: text, Tags: client.Tags{"domain": {text}},
		Source: &client.Source{Name: text, Category: text, URLs: []string{"javascript:alert(1)"}, AgentID: text, TraceID: text},
	}
}

// cookieClient is a client with cookies that follows no redirect.
func cookieClient(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// get answers with the status, and where the page leads.
func get(t *testing.T, c *http.Client, address string) (status int, to string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	return got.StatusCode, got.Header.Get("Location")
}

func must[V any](value V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
