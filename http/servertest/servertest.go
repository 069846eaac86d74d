package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/past"
)

// Base is a log with its readers, on a database of the test's own.
type Base struct {
	DB        *database.DB
	Log       *events.Log
	Followers *follow.Followers
	Knowledge *projections.Knowledge
	Past      *past.Projection
}

// Open opens the log. It closes it when the test ends, after the cleanups that the test registers later.
func Open(t *testing.T, db *database.DB, options events.Options) Base {
	t.Helper()
	everything := database.ForEveryTenant(t.Context())
	knowledge, err := projections.Open(everything, db, projections.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	options.Logger = databasetest.Log(t)
	options.Selection = knowledge.Browser
	log, followers := follow.NewLog(db, knowledge.Projection, options)
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close log: %v", err)
		}
	})
	past, err := projections.OpenPast(everything, knowledge, log, followers)
	if err != nil {
		t.Fatal(err)
	}
	return Base{DB: db, Log: log, Followers: followers, Knowledge: knowledge, Past: past}
}

// Reader reads the present and the past.
func (b Base) Reader() projections.Reader {
	return projections.Reader{Knowledge: b.Knowledge, Past: b.Past, Log: b.Log, Followers: b.Followers}
}

// Untrusted serves with a certificate that no client trusts, until the test ends.
func Untrusted(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// Refusing answers with a problem, and asks to come again after a second.
func Refusing(status int, problem string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(problem))
	}
}

// Follow lets projections follow the log until the test ends.
func Follow(t *testing.T, subscribe func(*message.Router)) {
	t.Helper()
	router, err := follow.NewRouter(databasetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	subscribe(router)
	ended := make(chan error, 1)
	go func() { ended <- router.Run(database.ForEveryTenant(context.WithoutCancel(t.Context()))) }()
	<-router.Running()
	t.Cleanup(func() {
		if err := errors.Join(router.Close(), <-ended); err != nil {
			t.Errorf("router: %v", err)
		}
	})
}

// Execute runs a statement for every tenant.
func Execute(t *testing.T, db *database.DB, statement string, values ...any) {
	t.Helper()
	err := db.Transact(database.ForEveryTenant(t.Context()), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Request is a request with headers, each "Name: value". A body that is no string and no reader is sent as JSON.
func Request[H ~string](t *testing.T, method, url string, body any, headers ...H) *http.Request {
	t.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	case io.Reader:
		content = b
	default:
		written, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(written)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(string(h), ":")
		request.Header.Set(name, strings.TrimSpace(value))
	}
	return request
}

// Send sends a request and reads the whole answer.
func Send(t *testing.T, client *http.Client, request *http.Request) (status int, header http.Header, body []byte) {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", request.Method, request.URL.Path, err)
	}
	body, err = io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatalf("%s %s: %v", request.Method, request.URL.Path, err)
	}
	return response.StatusCode, response.Header, body
}
