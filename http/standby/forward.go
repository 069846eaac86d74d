package standby

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// forwardedHeader marks a request on its way from a standby's server to the primary's.
const forwardedHeader = "Annals-Forwarded"

// Forwarder decides whether this server, which reads a standby, or that of the primary answers a request. It is safe
// for concurrent use.
type Forwarder struct {
	Primary  *url.URL // of the primary's server; nil if it is not known
	Database string   // which database the standby is; empty if it does not tell
	Key      []byte   // signs batches: see [Batches]
	// Await returns when the standby has replayed a position of a tenant's log, or with an error when ctx ends.
	Await  func(ctx context.Context, tenant string, position int64) error
	Logger *slog.Logger

	proxying sync.Once
	proxy    http.Handler

	mu    sync.Mutex
	asked time.Time // when the primary's server was asked last
	found error     // why writes are not forwarded there
}

// Elsewhere returns what forwards a write to the primary's server, and nil for a request that this server answers. It
// refuses a write that cannot be forwarded, or was forwarded already.
func (f *Forwarder) Elsewhere(r *http.Request) (http.Handler, error) {
	if Reads(r) {
		return nil, nil
	}
	if r.Header.Get(forwardedHeader) != "" {
		return nil, misdirected("reads a standby")
	}
	if f.Primary == nil {
		return nil, domain.Refuse(domain.ErrUnavailable, "this server reads a standby, and knows no primary for writes").
			WithFix("write to the primary's server, or name it to this one with ANNALS_PRIMARY_URL")
	}
	if err := f.Check(r.Context()); err != nil {
		return nil, err
	}
	f.proxying.Do(func() { f.proxy = f.newProxy() })
	return f.proxy, nil
}

// reading are the paths whose requests change nothing, whatever their method. Those that end with a slash include what
// is below them. MCP and the console send their writes to the API of this process, which forwards these.
var reading = []string{
	"/v1/search", "/v1/context", "/v1/knowledge/fingerprints", "/v1/containments/preview", "/v1/settings/test",
	"/mcp", "/console", "/console/",
	"/api/v1/search/", "/api/v1/skills/find", "/api/v1/skills/validate", "/api/v1/system/",
}

// Reads tells whether a request changes nothing in the database.
func Reads(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	for _, path := range reading {
		if r.URL.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path) {
			return true
		}
	}
	return false
}

// ReadsItems tells whether a request changes nothing, and is about knowledge and not about the server, the log or
// access. MCP and the console ask in this way themselves.
func ReadsItems(r *http.Request) bool {
	for _, path := range []string{
		"/v1/search", "/v1/context", "/v1/knowledge", "/api/v1/search/", "/api/v1/content/", "/api/v1/fs/",
	} {
		if strings.HasPrefix(r.URL.Path, path) {
			return Reads(r)
		}
	}
	return false
}

// network has no limit for the answer: the primary's server has its own.
var network = &http.Transport{
	DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	TLSHandshakeTimeout: 5 * time.Second, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
	DisableCompression: true,
}

// newProxy makes what forwards a request as it is, with the caller's credentials. An answer may begin before the
// request has ended, as with bulk requests.
func (f *Forwarder) newProxy() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(f.Primary)
			r.SetXForwarded()
			r.Out.Header.Set(forwardedHeader, "1")
		},
		ModifyResponse: func(answer *http.Response) error {
			f.await(answer)
			return nil
		},
		Transport: network, FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(f.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			f.Logger.WarnContext(r.Context(), "a write could not be forwarded to the primary", "error", err)
			serve.ProblemOf(unreached(err), "").Write(w)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w) // not every writer has what follows
		_ = control.EnableFullDuplex()
		_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
		proxy.ServeHTTP(w, r)
	})
}

// await waits until the caller finds here what was written there, unless the standby is slow.
func (f *Forwarder) await(answer *http.Response) {
	const most = time.Second
	position, err := strconv.ParseInt(answer.Header.Get("Annals-Position"), 10, 64)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(answer.Request.Context(), most)
	defer cancel()
	caller, _ := domain.CallerOf(ctx)
	_ = f.Await(ctx, caller.Tenant, position)
}

func unreached(err error) error {
	if failed, is := errors.AsType[*net.OpError](err); is && failed.Op == "dial" {
		return silent()
	}
	return domain.Refuse(domain.ErrUnavailable, "the primary's server did not answer; it may have recorded the write").
		WithFix("try again with the same Idempotency-Key")
}

func silent() error {
	return domain.Refuse(domain.ErrUnavailable, "the primary's server cannot be reached; nothing was recorded").
		WithFix("try again, and see that ANNALS_PRIMARY_URL is right")
}

func misdirected(is string) error {
	return domain.Refuse(domain.ErrUnavailable, "the server that ANNALS_PRIMARY_URL names %s; nothing was recorded", is).
		WithFix("let ANNALS_PRIMARY_URL name the server of the primary that the standby follows")
}

// Check tells whether the primary's server takes writes for this database, as of a few seconds ago. A server that was
// the right one, and does not answer, still counts.
func (f *Forwarder) Check(ctx context.Context) error {
	const age, ageOfError = 10 * time.Second, time.Second
	f.mu.Lock()
	defer f.mu.Unlock()
	since := time.Since(f.asked)
	if f.found == nil && since < age || since < ageOfError {
		return f.found
	}
	known := !f.asked.IsZero() && f.found == nil
	other, err := f.ask(ctx)
	if ctx.Err() != nil { // the caller has left
		return cmp.Or(f.found, err)
	}
	f.asked = time.Now()
	switch {
	case err != nil && known:
	case err != nil:
		f.found = err
	case other.Role == "standby":
		f.found = misdirected("reads a standby")
	case other.Role != "primary":
		f.found = misdirected("is no server of PostgreSQL's primary")
	case other.Database != f.Database && other.Database != "" && f.Database != "":
		f.found = misdirected("has another database")
	default:
		f.found = nil
	}
	return f.found
}

// ask asks the primary's server for its role.
func (f *Forwarder) ask(ctx context.Context) (other api.Readiness, err error) {
	const patience = 1500 * time.Millisecond // less than that of a probe
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(asking, http.MethodGet, f.Primary.JoinPath("readyz").String(), http.NoBody)
	if err != nil {
		return other, err
	}
	answer, err := network.RoundTrip(r)
	if err != nil {
		return other, silent()
	}
	defer answer.Body.Close() //nolint:errcheck // its content was read
	if json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&other) != nil {
		return other, misdirected("does not answer as a server of Annals")
	}
	return other, nil
}
