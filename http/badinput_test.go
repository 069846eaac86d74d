package http_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial connects to the server until the test ends.
func (w *world) dial() *net.TCPConn {
	w.t.Helper()
	conn, err := new(net.Dialer).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// begin sends the beginning of a body of 1,000 bytes, as no client of HTTP would.
func (w *world) begin(mediaType, body string) *net.TCPConn {
	w.t.Helper()
	conn := w.dial()
	const head = "POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n"
	_, err := fmt.Fprintf(conn, head+"%s", mediaType, body)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

func TestBadInputGetsAClearErrorAndCostsNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		big := `{"type":"tool","content":"` + strings.Repeat("x", 12<<20) + `"}`
		for name, c := range map[string]struct {
			body   any
			header header
			status int
			says   string
		}{
			"twelve megabytes":              {big, "", 413, "at most 1048576 bytes"},
			"twelve megabytes, unannounced": {io.MultiReader(strings.NewReader(big)), "", 413, "at most 1048576 bytes"},
			"long content":                  {item("a", strings.Repeat("x", 64<<10+1)), "", 422, "content"},
			"invalid UTF-8":                 {"{\"content\": \"\xff\"}", "", 400, "UTF-8"},
			"a NUL byte":                    {"{\"content\": \"\x00\"}", "", 400, "line 1, column 14"},
			"an escaped NUL":                {`{"type": "tool", "content": "\u0000"}`, "", 422, "NUL"},
			"wrong types":                   {`{"type": 1, "content": [], "scopes": "public", "eval": 3, "meta": 1}`, "", 422, `"field":"eval"`},
			"scopes, and none":              {`{"type": "tool", "content": "x", "scopes": []}`, "", 422, "1 to 32 scopes"},
			"unknown fields":                {`{"type": "tool", "content": "x", "contents": "y"}`, "", 422, `"contents"`},
			"no JSON":                       {"hello", "", 400, "line 1, column 1"},
			"half of it":                    {`{"content": "x`, "", 400, "ends too early"},
			"a form":                        {"content=x", "Content-Type: application/x-www-form-urlencoded", 415, "application/json"},
			"no media type":                 {`{"content": "x"}`, "Content-Type:", 415, "application/json"},
			"compressed":                    {"\x1f\x8b", "Content-Encoding: gzip", 415, "compressed"},
			"nothing":                       {nil, "", 400, "empty"},
			"a strange actor":               {item("a", "x"), "Annals-Actor: me", 422, "Annals-Actor"},
			"another tenant":                {item("a", "x"), "Annals-Tenant: acme", 422, "Annals-Tenant"},
			"a strange beneficiary":         {item("a", "x"), "Annals-On-Behalf-Of: user:", 422, "Annals-On-Behalf-Of"},
		} {
			var headers []header
			if c.header != "" {
				headers = append(headers, c.header)
			}
			got := w.ask("POST", "/v1/knowledge", c.body, headers...)
			if got.status != c.status || !bytes.Contains(got.body, []byte(c.says)) {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
			same(t, got.header.Get("Content-Type"), "application/problem+json", name)
		}
		like(t, w.ask("POST", "/v1/knowledge", big).want(413).json(),
			object{"fix": containing("application/x-ndjson")}, "many items")
		if fix, said := w.ask("POST", "/v1/search", big).want(413).json()["fix"]; said { // which lines would not help
			t.Errorf("a long question: do %v", fix)
		}
		w.logEndsAt(0)
	})
}

func TestAValueIsNeverRepeated(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const secret = "hunter2"
		for _, body := range []string{
			`{"content": "x", "type": "hunter2", "owner": "hunter2", "scopes": ["hunter2"], "visibility": "hunter2", "uri": "hunter2"}`,
			`{"content": "x", "category": "hunter2", "source": {"timestamp": "hunter2", "urls": ["hunter2"]}, "occurred_at": "hunter2"}`,
			`{"content": hunter2}`, `{"meta": "hunter2", "tags": "hunter2", "eval": "hunter2"}`,
		} {
			got := w.ask("POST", "/v1/knowledge", body)
			if got.status/100 != 4 || bytes.Contains(got.body, []byte(secret)) {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
		for _, path := range []string{"/v1/knowledge?owner=hunter2&type=hunter2&limit=hunter2&cursor=x", "/v1/knowledge?cursor=hunter2", "/v1/events?name=hunter2"} {
			if got := w.ask("GET", path, nil); got.status/100 != 4 || bytes.Contains(got.body, []byte(secret)) {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	})
}

func TestThereIsNoRouteThatIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("GET", "/v2/knowledge", nil).want(http.StatusNotFound)
		not := w.ask("PUT", "/v1/knowledge/a", item("a", "x")).want(http.StatusMethodNotAllowed)
		like(t, not.header.Get("Allow"), containing("PATCH"))
		same(t, string(w.ask("HEAD", "/healthz", nil).want(http.StatusOK).body), "", "the body of HEAD")
	})
}

func TestAnotherWebsiteCannotWriteThroughABrowser(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", item("a", "x"), "Sec-Fetch-Site: cross-site").want(http.StatusForbidden)
		w.ask("POST", "/v1/knowledge", item("a", "x"), "Origin: https://evil.example").want(http.StatusForbidden)
		rebound := w.request("GET", "/v1/knowledge", nil)
		rebound.Host = "evil.example"
		answer, err := w.client.Do(rebound)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		same(t, answer.StatusCode, http.StatusForbidden, "a name that points here is answered with")
	})
}

// The zero time of a program means that none was given, so one that is given would be ignored.
func TestTheYearOneIsNoTime(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		w.remember("a", "x")
		const one, almost = "0001-01-01T00:00:00Z", "0001-12-31T23:59:59Z"
		for _, zero := range []string{one, almost} {
			for _, bad := range []struct {
				method, path, field string
				body                object
			}{
				{"POST", "/v1/keys", "expires_at", object{"subject": "user:mia", "role": "admin", "expires_at": zero}},
				{"POST", "/v1/knowledge", "occurred_at", object{"type": "strategy", "content": "y", "occurred_at": zero}},
				{"POST", "/v1/knowledge/a/confirm", "until", object{"until": zero}},
				{"POST", "/v1/search", "created_to", object{"query": "x", "created_to": zero}},
				{"POST", "/v1/search", "updated_from", object{"query": "x", "updated_from": zero}},
				{"POST", "/v1/search", "as_of", object{"query": "x", "as_of": zero}},
				{"GET", "/v1/knowledge/a?as_of=" + zero, "as_of", nil},
				{"GET", "/v1/knowledge?as_of=" + zero, "as_of", nil},
				{"GET", "/v1/knowledge?as_of=0001-01-01", "as_of", nil},
				{"GET", "/v1/knowledge?created_to=" + zero, "created_to", nil},
				{"GET", "/v1/events?to=" + zero, "to", nil},
				{"GET", "/v1/events?from=0001-01-01", "from", nil},
			} {
				var body any
				if bad.body != nil {
					body = bad.body
				}
				a := w.ask(bad.method, bad.path, body).want(http.StatusUnprocessableEntity)
				if errs := a.errors(); len(errs) != 1 || !strings.HasPrefix(errs[0], bad.field+": must be a time") {
					t.Errorf("%s %s %v: got %q", bad.method, bad.path, bad.body, errs)
				}
			}
		}
	})
}
