package http_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

// begin sends the beginning of a body of 1,000 bytes, as no client of HTTP would.
func begin(w *World, mediaType, body string) *net.TCPConn {
	w.T.Helper()
	conn := w.Dial()
	const head = "POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n"
	_, err := fmt.Fprintf(conn, head+"%s", mediaType, body)
	if err != nil {
		w.T.Fatal(err)
	}
	return conn
}

func TestBadInputGetsAClearErrorAndCostsNothing(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		big := `{"type":"tool","content":"` + strings.Repeat("x", 12<<20) + `"}`
		for name, c := range map[string]struct {
			body   any
			header Header
			status int
			says   string
		}{
			"twelve megabytes":              {big, "", 413, "at most 1048576 bytes"},
			"twelve megabytes, unannounced": {io.MultiReader(strings.NewReader(big)), "", 413, "at most 1048576 bytes"},
			"long content":                  {Item("a", strings.Repeat("x", 64<<10+1)), "", 422, "content"},
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
			"a strange actor":               {Item("a", "x"), "Annals-Actor: me", 422, "Annals-Actor"},
			"another tenant":                {Item("a", "x"), "Annals-Tenant: acme", 422, "Annals-Tenant"},
			"a strange beneficiary":         {Item("a", "x"), "Annals-On-Behalf-Of: user:", 422, "Annals-On-Behalf-Of"},
		} {
			var headers []Header
			if c.header != "" {
				headers = append(headers, c.header)
			}
			got := w.Ask("POST", "/v1/knowledge", c.body, headers...)
			if got.Status != c.status || !bytes.Contains(got.Body, []byte(c.says)) {
				t.Errorf("%s: %d %s", name, got.Status, got.Body)
			}
			Same(t, got.Header.Get("Content-Type"), "application/problem+json", name)
		}
		Like(t, w.Ask("POST", "/v1/knowledge", big).Want(413).JSON(),
			Object{"fix": Containing("application/x-ndjson")}, "many items")
		if fix, said := w.Ask("POST", "/v1/search", big).Want(413).JSON()["fix"]; said { // which lines would not help
			t.Errorf("a long question: do %v", fix)
		}
		w.EndsAt(0)
	})
}

func TestAValueIsNeverRepeated(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const secret = "hunter2"
		for _, body := range []string{
			`{"content": "x", "type": "hunter2", "owner": "hunter2", "scopes": ["hunter2"], "visibility": "hunter2", "uri": "hunter2"}`,
			`{"content": "x", "category": "hunter2", "source": {"timestamp": "hunter2", "urls": ["hunter2"]}, "occurred_at": "hunter2"}`,
			`{"content": hunter2}`, `{"meta": "hunter2", "tags": "hunter2", "eval": "hunter2"}`,
		} {
			got := w.Ask("POST", "/v1/knowledge", body)
			if got.Status/100 != 4 || bytes.Contains(got.Body, []byte(secret)) {
				t.Errorf("%s: %d %s", body, got.Status, got.Body)
			}
		}
		for _, path := range []string{"/v1/knowledge?owner=hunter2&type=hunter2&limit=hunter2&cursor=x", "/v1/knowledge?cursor=hunter2", "/v1/events?name=hunter2"} {
			if got := w.Ask("GET", path, nil); got.Status/100 != 4 || bytes.Contains(got.Body, []byte(secret)) {
				t.Errorf("%s: %d %s", path, got.Status, got.Body)
			}
		}
	})
}

func TestThereIsNoRouteThatIsNotThere(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("GET", "/v2/knowledge", nil).Want(http.StatusNotFound)
		not := w.Ask("PUT", "/v1/knowledge/a", Item("a", "x")).Want(http.StatusMethodNotAllowed)
		Like(t, not.Header.Get("Allow"), Containing("PATCH"))
		Same(t, string(w.Ask("HEAD", "/healthz", nil).Want(http.StatusOK).Body), "", "the body of HEAD")
	})
}

func TestAnotherWebsiteCannotWriteThroughABrowser(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Item("a", "x"), "Sec-Fetch-Site: cross-site").Want(http.StatusForbidden)
		w.Ask("POST", "/v1/knowledge", Item("a", "x"), "Origin: https://evil.example").Want(http.StatusForbidden)
		rebound := w.Request("GET", "/v1/knowledge", nil)
		rebound.Host = "evil.example"
		answer, err := w.Client.Do(rebound)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		Same(t, answer.StatusCode, http.StatusForbidden, "a name that points here is answered with")
	})
}

// The zero time of a program means that none was given, so one that is given would be ignored.
func TestTheYearOneIsNoTime(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		const one, almost = "0001-01-01T00:00:00Z", "0001-12-31T23:59:59Z"
		for _, zero := range []string{one, almost} {
			for _, bad := range []struct {
				method, path, field string
				body                Object
			}{
				{"POST", "/v1/keys", "expires_at", Object{"subject": "user:mia", "role": "admin", "expires_at": zero}},
				{"POST", "/v1/knowledge", "occurred_at", Object{"type": "strategy", "content": "y", "occurred_at": zero}},
				{"POST", "/v1/knowledge/a/confirm", "until", Object{"until": zero}},
				{"POST", "/v1/search", "created_to", Object{"query": "x", "created_to": zero}},
				{"POST", "/v1/search", "updated_from", Object{"query": "x", "updated_from": zero}},
				{"POST", "/v1/search", "as_of", Object{"query": "x", "as_of": zero}},
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
				a := w.Ask(bad.method, bad.path, body).Want(http.StatusUnprocessableEntity)
				if errs := a.Errors(); len(errs) != 1 || !strings.HasPrefix(errs[0], bad.field+": must be a time") {
					t.Errorf("%s %s %v: got %q", bad.method, bad.path, bad.body, errs)
				}
			}
		}
	})
}
