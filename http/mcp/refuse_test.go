package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
)

func TestAHostShowsThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db)
		w.key = w.given(object{"subject": "user:mia"})
		host := w.byHTTP(false)
		w.keys.away.Store(true)
		_, err := host.CallTool(t.Context(), &sdk.CallToolParams{Name: "retrieve_memory", Arguments: object{"query": "x"}})
		if err == nil || !strings.HasSuffix(err.Error(), ": UNAVAILABLE: the database cannot be reached just now") {
			t.Errorf("got %v", err)
		}
		w.keys.away.Store(false)
		w.callOn(host, "retrieve_memory", object{"query": "x"}).ok()
	})
}

func TestWhoIsRefusedIsToldInTheFormThatHostsRead(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db)
		w.key = w.given(object{"subject": "user:mia"})
		const (
			away  = `"error":{"code":-32603,"message":"UNAVAILABLE: the database cannot be reached just now"}`
			wrong = `"error":{"code":-32600,"message":"UNAUTHENTICATED: the key is not valid`
		)
		wrongKey := w.key[:20] + "x" + w.key[21:]
		if wrongKey == w.key {
			wrongKey = w.key[:20] + "y" + w.key[21:]
		}
		for name, test := range map[string]struct {
			away              bool
			method, body, key string
			status            int
			header            string
			want              string
		}{
			"a request":      {true, http.MethodPost, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, w.key, http.StatusOK, "Retry-After", away + `,"id":7`},
			"another id":     {true, http.MethodPost, `{"jsonrpc":"2.0","id":"a","method":"ping"}`, w.key, http.StatusOK, "Retry-After", away + `,"id":"a"`},
			"a notification": {true, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, w.key, http.StatusServiceUnavailable, "Retry-After", away + `,"id":null`},
			"no message":     {true, http.MethodPost, `{`, w.key, http.StatusServiceUnavailable, "Retry-After", away + `,"id":null`},
			"a stream":       {true, http.MethodGet, ``, w.key, http.StatusServiceUnavailable, "Retry-After", away + `,"id":null`},
			"a wrong key":    {false, http.MethodPost, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, wrongKey, http.StatusUnauthorized, "Www-Authenticate", wrong},
		} {
			w.keys.away.Store(test.away)
			request, err := http.NewRequestWithContext(t.Context(), test.method, w.url+"/mcp", strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header = http.Header{"X-Api-Key": {test.key}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			status, header, body := servertest.Send(t, http.DefaultClient, request)
			if status != test.status || header.Get(test.header) == "" || header.Get("Content-Type") != "application/json" || !strings.Contains(string(body), test.want) {
				t.Errorf("%s: got %d %v %s, want %d %s", name, status, header, body, test.status, test.want)
			}
		}
	})
}
