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

	annalshttp "github.com/annals-kb/annals/http"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestBrowsersAreToldToBeCarefulWithEveryAnswer(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		for _, a := range []*Answer{
			w.Ask("GET", "/", nil), w.Ask("GET", "/docs", nil), w.Ask("GET", "/openapi.yaml", nil), w.Ask("GET", "/metrics", nil), w.Ask("GET", "/healthz", nil),
			w.Ask("GET", "/v1/knowledge/a", nil), w.Ask("GET", "/v1/knowledge/none", nil), w.Ask("GET", "/v1/events", nil, "Accept: text/csv"),
			w.Ask("GET", "/nowhere", nil), w.Ask("PUT", "/v1/search", nil), w.Ask("POST", "/v1/search", "{"),
			w.Ask("POST", "/v1/search", Object{"query": "x"}, "Origin: https://evil.example"),
		} {
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Content-Security-Policy": "default-src 'none'; " + ownStyle(a.Body) + "frame-ancestors 'none'",
			} {
				if got := a.Header.Get(name); got != want && !(name == "Cache-Control" && strings.HasPrefix(got, "private")) {
					t.Errorf("%s (%d): %s: got %q, want %q", a.What, a.Status, name, got, want)
				}
			}
			Same(t, a.Header.Get("Strict-Transport-Security"), "", a.What)
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
	Each(t, func(t *testing.T, w *World) {
		w.Spec = nil // OPTIONS is described nowhere
		const site = Header("Origin: https://evil.example")
		for _, a := range []*Answer{
			w.Ask("GET", "/v1/knowledge", nil, site), w.Ask("POST", "/v1/search", Object{"query": "x"}, site), w.Ask("GET", "/healthz", nil, site),
			w.Ask("OPTIONS", "/v1/knowledge", nil, site, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"),
			w.Ask("OPTIONS", "/v1/search", nil, "Origin: null", "Access-Control-Request-Method: POST", "Access-Control-Request-Private-Network: true"),
		} {
			for name := range a.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s (%d) says %s: %s", a.What, a.Status, name, a.Header.Get(name))
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
	Like(t, a, Containing("Strict-Transport-Security: max-age=31536000"))
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
	EachWith(t, func(_ *World, c *Config) { c.Timeout = 3 * time.Second }, func(t *testing.T, w *World) {
		const head = "POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		for what, c := range map[string]struct{ say, want string }{
			"nothing":        {"", ""},
			"half a header":  {head + "X-Slow: ", ""},
			"half a body":    {head + "Content-Length: 100\r\n\r\n{\"type\": ", " 408 "},
			"many, and then": {"POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"typ", "HTTP/1.1 200"},
		} {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				got := converse(t, w.Dial(), c.say)
				if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, " 200 ") {
					t.Errorf("got %s, want %q", got, c.want)
				}
			})
		}
		t.Run("others meanwhile", func(t *testing.T) {
			t.Parallel()
			w.Remember("a", "x")
		})
	})
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	EachWith(t, func(_ *World, c *Config) { c.MaxBody, c.MaxLine = 4<<10, 1<<10 }, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Item("a", strings.Repeat("x", 5<<10))).Want(http.StatusRequestEntityTooLarge)
		w.Ask("POST", "/v1/search", strings.NewReader(strings.Repeat(" ", 5<<10)+"{}")).Want(http.StatusRequestEntityTooLarge)
		line := `{"type":"strategy","content":"` + strings.Repeat("x", 2<<10) + "\"}\n"
		for _, l := range w.Ask("POST", "/v1/knowledge", line, NDJSON).Want(http.StatusOK).Lines() {
			Same[any](t, Pick(l, "error", "status"), float64(http.StatusRequestEntityTooLarge), "a line that is too long", l)
		}
		got := converse(t, w.Dial(), "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: "+
			strings.Repeat("x", 80<<10)+"\r\n\r\n")
		Like(t, got, Containing(" 431 "), "a header that is too large")
	})
}

// Whoever asks too often with a key is told when to come back; nobody else is, nor is he with another key.
func TestALimitIsAKeysOwn(t *testing.T) {
	configure := func(w *World, cfg *Config) {
		Frozen(w, cfg)
		cfg.Rate = 2 // four at once
	}
	EachWith(t, configure, func(t *testing.T, w *World) {
		mia, another := w.GivenTo("user:mia", RootKey), w.GivenTo("user:mia", RootKey)
		bob := w.GivenTo("user:bob", RootKey)
		for range 4 {
			w.Ask("GET", "/v1/knowledge", nil, mia).Want(http.StatusOK)
		}
		refused := w.Ask("POST", "/v1/search", Object{"query": "x"}, mia).Want(http.StatusTooManyRequests)
		Same(t, refused.Header.Get("Retry-After"), "1")
		w.Ask("GET", "/healthz", nil).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge", nil, another).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge", nil, bob).Want(http.StatusOK)
		w.Ahead(time.Second)
		w.Ask("GET", "/v1/knowledge", nil, mia).Want(http.StatusOK)
	})
}

func TestMetricsCountByRouteNotByWhatWasAsked(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("secret-id", "x")
		w.Ask("GET", "/v1/knowledge/secret-id", nil).Want(http.StatusOK)
		w.Ask("GET", "/nowhere/secret-id", nil).Want(http.StatusNotFound)
		w.Ask("POST", "/v1/knowledge", []Object{Item("a", "x"), Item("a", "y")}).Want(http.StatusOK)
		got := string(w.Ask("GET", "/metrics", nil).Want(http.StatusOK).Body)
		for _, line := range []string{
			`annals_http_requests_total{method="GET",route="/v1/knowledge/:id",status="200"} 1`,
			`annals_http_requests_total{method="POST",route="/v1/knowledge",status="201"} 1`,
			`annals_http_requests_total{method="",route="unmatched",status="404"} 1`,
			`annals_http_bulk_records_total{status="created"} 1`,
			`annals_http_bulk_records_total{status="error"} 1`,
			`annals_http_requests_in_flight 1`,
		} {
			Like(t, got, Containing(line+"\n"), line)
		}
		Like(t, got, Lacking("secret-id"), "an id is among the metrics")
	})
}
