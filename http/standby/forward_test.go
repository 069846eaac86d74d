package standby_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/standby"
)

// write is the answer to a write at a standby whose primary's server, by the settings, says this of itself.
func write(t *testing.T, ready string) (status int, said string) {
	t.Helper()
	primary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			_, _ = io.WriteString(w, ready)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" by "+r.Header.Get("Authorization"))
	}))
	defer primary.Close()
	at, err := url.Parse(primary.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := &standby.Forwarder{
		Primary: at, Database: "a1", Logger: slog.New(slog.DiscardHandler),
		Await: func(context.Context, string, int64) error { return nil },
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/knowledge", http.NoBody)
	r.Header.Set("Authorization", "Bearer annals_key")
	to, err := f.Elsewhere(r)
	if err != nil {
		return 0, err.Error()
	}
	w := httptest.NewRecorder()
	to.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestAWriteIsForwardedToThePrimaryOfTheSameDatabaseOnly(t *testing.T) {
	t.Parallel()
	status, said := write(t, `{"role":"primary","database":"a1"}`)
	if status != http.StatusCreated || said != "POST /v1/knowledge by Bearer annals_key" {
		t.Errorf("got %d %s, want the answer of the primary's server", status, said)
	}
	for ready, why := range map[string]string{
		`{"role":"standby","database":"a1"}`: "reads a standby",
		`{"role":"primary","database":"b2"}`: "has another database",
		`{"status":"ready","checks":[]}`:     "is no server of PostgreSQL's primary",
		`<html>`:                             "does not answer as a server of Annals",
	} {
		if _, said := write(t, ready); !strings.Contains(said, why) {
			t.Errorf("of a server that says %s: got %s, want %s", ready, said, why)
		}
	}
}
