package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/client"
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/mcp"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
)

// world is a server on a database of its own, with a host for user:mia that is connected to it.
type world struct {
	t      *testing.T
	url    string
	tenant string
	key    string
	api    *client.Client // as user:mia
	host   *sdk.ClientSession
	db     *database.DB
	keys   *keyring

	recorder *servertest.Recorder
}

// keyring is a table of keys that may be out of reach.
type keyring struct {
	httpkeys.Keyring
	away atomic.Bool
}

// Key fails while the table is away.
func (k *keyring) Key(ctx context.Context, prefix string) (string, domain.Key, error) {
	if k.away.Load() {
		return "", domain.Key{}, fmt.Errorf("dial tcp 10.0.0.9:5432: %w", domain.ErrUnavailable)
	}
	return k.Keyring.Key(ctx, prefix)
}

type object = map[string]any

const rootKey = "0123456789abcdef0123456789abcdef"

// each runs a test with a host over HTTP on one engine, and unless -short with one over lines on the other.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	one, other := databasetest.OneOf(t)
	on := func(engine database.Engine, transport string, connect func(*world, bool) *sdk.ClientSession) {
		databasetest.OnServed(t, engine, func(t *testing.T, db *database.DB) {
			w := newWorld(t, db)
			w.tenant = transport
			w.post("/v1/tenants", "", object{"name": w.tenant})
			w.key = w.given(object{"subject": "user:mia", "memberships": []string{"team:pay"}, "publish_public": true})
			w.api = w.as(w.key)
			w.host = connect(w, false)
			test(t, w)
		})
	}
	on(one, "http", (*world).byHTTP)
	if !testing.Short() {
		on(other, "stdio", (*world).byLines)
	}
}

func newWorld(t *testing.T, db *database.DB) *world {
	t.Helper()
	base := servertest.Open(t, db, events.Options{})
	var api *annalshttp.Server
	inner, err := client.New(client.Config{Timeout: -1, Transport: client.Inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.Handler().ServeHTTP(w, r)
	}))})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, keys: &keyring{Keyring: keys.NewKeys(db, base.Log)}, recorder: &servertest.Recorder{}}
	hosts := mcp.New(mcp.Config{API: inner, Version: "test"}).Handler()
	cfg := base.Config(t)
	cfg.Recorder = w.recorder
	cfg.Writer, cfg.Callers.Keys, cfg.Callers.RootKey = events.NewScrubbingWriter(base.Log, true), w.keys, rootKey
	cfg.Mounts = []annalshttp.Mount{
		annalshttp.Hosted("/mcp", hosts, mcp.Refuse),
		mountOfViking(t, cfg.Writer, base), // part: viking
	}
	api = cfg.New()
	listening := httptest.NewServer(api.Handler())
	w.url = listening.URL
	t.Cleanup(listening.Close)
	return w
}

// given is a key that root makes.
func (w *world) given(allowing object) string {
	w.t.Helper()
	return w.post("/v1/keys", w.tenant, allowing)["key"].(string)
}

// post lets root make something.
func (w *world) post(path, tenant string, what object) object {
	w.t.Helper()
	headers := []string{"Authorization: Bearer " + rootKey}
	if tenant != "" {
		headers = append(headers, "Annals-Tenant: "+tenant)
	}
	status, _, body := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, http.MethodPost, w.url+path, what, headers...))
	var made object
	if err := json.Unmarshal(body, &made); err != nil || status != http.StatusCreated {
		w.t.Fatalf("%s: %v, %d %v", path, err, status, made)
	}
	return made
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

// byHTTP connects a host over HTTP, whose key goes with every request.
func (w *world) byHTTP(aliases bool) *sdk.ClientSession {
	w.t.Helper()
	return w.connect(w.overHTTP(aliases))
}

func (w *world) overHTTP(aliases bool) sdk.Transport {
	address := w.url + "/mcp"
	if aliases {
		address += "?aliases=true"
	}
	return &sdk.StreamableClientTransport{
		Endpoint: address, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: keyed(w.key)},
	}
}

// keyed sends a key along.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// byLines connects a host as to a process that it started.
func (w *world) byLines(aliases bool) *sdk.ClientSession {
	w.t.Helper()
	return w.byLinesWith("", aliases)
}

func (w *world) byLinesWith(tools string, aliases bool) *sdk.ClientSession {
	w.t.Helper()
	in, hostOut := io.Pipe()
	hostIn, out := io.Pipe()
	server := mcp.New(mcp.Config{API: w.api, Tools: tools, Version: "test"})
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.WithoutCancel(w.t.Context()), in, out, aliases) }()
	w.t.Cleanup(func() {
		hostOut.Close() // the host is gone
		if err := <-served; err != nil {
			w.t.Errorf("serve: %v", err)
		}
		hostIn.Close()
	})
	return w.connect(&sdk.IOTransport{Reader: hostIn, Writer: hostOut})
}

func (w *world) connect(transport sdk.Transport) *sdk.ClientSession {
	w.t.Helper()
	host, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).Connect(w.t.Context(), transport, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { host.Close() })
	return host
}

// result is what a tool said.
type result struct {
	t      *testing.T
	tool   string
	object object // the structured content
	text   string
	failed bool
}

// call calls a tool.
func (w *world) call(tool string, arguments object) result {
	w.t.Helper()
	return w.callOn(w.host, tool, arguments)
}

func (w *world) callOn(host *sdk.ClientSession, tool string, arguments object) result {
	w.t.Helper()
	answer, err := host.CallTool(w.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		w.t.Fatalf("%s: %v", tool, err)
	}
	content, ok := answer.StructuredContent.(object)
	if !ok || len(answer.Content) == 0 {
		w.t.Fatalf("%s: %+v", tool, answer)
	}
	return result{w.t, tool, content, answer.Content[0].(*sdk.TextContent).Text, answer.IsError}
}

// ok is the data of a result that must be one.
func (r result) ok() object {
	r.t.Helper()
	data, ok := r.object["data"].(object)
	if !ok || r.object["status"] != "ok" || r.failed {
		r.t.Fatalf("%s: %+v", r.tool, r)
	}
	return data
}

// refused is the code of a result that must not be one.
func (r result) refused() string {
	r.t.Helper()
	why, ok := r.object["error"].(object)
	if !ok || r.object["status"] != "error" || !r.failed || r.object["message"] != why["message"] || why["message"] == "" {
		r.t.Fatalf("%s: %+v", r.tool, r)
	}
	return why["code"].(string)
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
)
