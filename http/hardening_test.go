package http_test

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
)

func TestBrowsersAreToldToBeCarefulWithEveryAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "x")
		for _, a := range []*answer{
			w.ask("GET", "/", nil), w.ask("GET", "/docs", nil), w.ask("GET", "/openapi.yaml", nil), w.ask("GET", "/metrics", nil), w.ask("GET", "/healthz", nil),
			w.ask("GET", "/v1/knowledge/a", nil), w.ask("GET", "/v1/knowledge/none", nil), w.ask("GET", "/v1/events", nil, "Accept: text/csv"),
			w.ask("GET", "/nowhere", nil), w.ask("PUT", "/v1/search", nil), w.ask("POST", "/v1/search", "{"),
			w.ask("POST", "/v1/search", object{"query": "x"}, "Origin: https://evil.example"),
		} {
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Content-Security-Policy": "default-src 'none'; " + ownStyle(a.body) + "frame-ancestors 'none'",
			} {
				if got := a.header.Get(name); got != want && !(name == "Cache-Control" && strings.HasPrefix(got, "private")) {
					t.Errorf("%s (%d): %s: got %q, want %q", a.what, a.status, name, got, want)
				}
			}
			same(t, a.header.Get("Strict-Transport-Security"), "", a.what)
		}
	})
}

// ownStyle allows the style of a page, if it has one.
func ownStyle(page []byte) string {
	_, style, found := strings.Cut(string(page), "<style>")
	if !found {
		return ""
	}
	style, _, _ = strings.Cut(style, "</style>")
	hash := sha256.Sum256([]byte(style))
	return "style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; "
}

func TestNoOtherWebsiteMayReadAnAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.spec = nil // OPTIONS is described nowhere
		const site = header("Origin: https://evil.example")
		for _, a := range []*answer{
			w.ask("GET", "/v1/knowledge", nil, site), w.ask("POST", "/v1/search", object{"query": "x"}, site), w.ask("GET", "/healthz", nil, site),
			w.ask("OPTIONS", "/v1/knowledge", nil, site, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"),
			w.ask("OPTIONS", "/v1/search", nil, "Origin: null", "Access-Control-Request-Method: POST", "Access-Control-Request-Private-Network: true"),
		} {
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s (%d) says %s: %s", a.what, a.status, name, a.header.Get(name))
				}
			}
		}
	})
}

func TestWhoeverCameOverTLSIsToComeBackOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(annalshttp.New(annalshttp.Config{}).Handler())
	defer server.Close()
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", server.Listener.Addr().String()) //nolint:gosec // it is the header that is looked at
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a := converse(t, conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	like(t, a, containing("Strict-Transport-Security: max-age=31536000"))
}

// converse sends something and reads until the other side hangs up.
func converse(t *testing.T, conn net.Conn, say string) string {
	t.Helper()
	if _, err := conn.Write([]byte(say)); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	if _, err := bufio.NewReader(conn).WriteTo(&all); err != nil {
		t.Fatalf("it did not hang up: %v\n%s", err, all.String())
	}
	return all.String()
}

func TestWhoeverSpeaksTooSlowlyIsDropped(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.Timeout = time.Second }, func(t *testing.T, w *world) {
		const head = "POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		for what, c := range map[string]struct{ say, want string }{
			"nothing":        {"", ""},
			"half a header":  {head + "X-Slow: ", ""},
			"half a body":    {head + "Content-Length: 100\r\n\r\n{\"type\": ", " 408 "},
			"many, and then": {"POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"typ", "HTTP/1.1 200"},
		} {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				got := converse(t, w.dial(), c.say)
				if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, " 200 ") {
					t.Errorf("got %s, want %q", got, c.want)
				}
			})
		}
		t.Run("others meanwhile", func(t *testing.T) {
			t.Parallel()
			w.remember("a", "x")
		})
	})
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.MaxBody, c.MaxLine = 4<<10, 1<<10 }, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", item("a", strings.Repeat("x", 5<<10))).want(http.StatusRequestEntityTooLarge)
		w.ask("POST", "/v1/search", strings.NewReader(strings.Repeat(" ", 5<<10)+"{}")).want(http.StatusRequestEntityTooLarge)
		line := `{"type":"strategy","content":"` + strings.Repeat("x", 2<<10) + "\"}\n"
		for _, l := range w.ask("POST", "/v1/knowledge", line, "Content-Type: application/x-ndjson").want(http.StatusOK).lines() {
			same[any](t, pick(l, "error", "status"), float64(http.StatusRequestEntityTooLarge), "a line that is too long", l)
		}
		got := converse(t, w.dial(), "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: "+
			strings.Repeat("x", 80<<10)+"\r\n\r\n")
		like(t, got, containing(" 431 "), "a header that is too large")
	})
}

// Whoever asks too often with a key is told when to come back; nobody else is, nor is he with another key.
func TestALimitIsAKeysOwn(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		w := newWorld(t, db, events.Options{}, func(c *servertest.Config) {
			c.Rate, c.Now = 2, func() time.Time { return now } // four at once
			c.Callers.Keys, c.Callers.RootKey = keys.NewKeys(db, c.Writer.(*events.Log)), rootKey
		})
		mia, another := bearer(w.given(rootKey, object{"subject": "user:mia"})), bearer(w.given(rootKey, object{"subject": "user:mia"}))
		bob := bearer(w.given(rootKey, object{"subject": "user:bob"}))
		for range 4 {
			w.ask("GET", "/v1/knowledge", nil, mia).want(http.StatusOK)
		}
		refused := w.ask("POST", "/v1/search", object{"query": "x"}, mia).want(http.StatusTooManyRequests)
		same(t, refused.header.Get("Retry-After"), "1")
		w.ask("GET", "/healthz", nil).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge", nil, another).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge", nil, bob).want(http.StatusOK)
		now = now.Add(time.Second)
		w.ask("GET", "/v1/knowledge", nil, mia).want(http.StatusOK)
	})
}
