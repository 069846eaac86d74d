package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/record"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// connected is a client of a server that answers with handler.
func connected(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := terminal.Remote{
		Server: server.URL, Timeout: 5 * time.Second, As: "agent:x",
		OnBehalfOf: "user:1",
	}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func refusing(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestExitCodesTellARefusalFromAnOutage(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{
		400: terminal.ExitRefused, 401: terminal.ExitRefused, 403: terminal.ExitRefused, 404: terminal.ExitNotFound,
		409: terminal.ExitRefused, 410: terminal.ExitNotFound,
		412: terminal.ExitRefused, 413: terminal.ExitRefused, 422: terminal.ExitRefused, 429: terminal.ExitUnavailable,
		500: terminal.ExitFailed, 502: terminal.ExitUnavailable,
		503: terminal.ExitUnavailable, 504: terminal.ExitUnavailable, 507: terminal.ExitUnavailable,
	} {
		api := connected(t, refusing(status, `{"title":"No","detail":"it is so"}`))
		_, err := api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
		if got := terminal.AsFailure(err).Code; got != want {
			t.Errorf("status %d: exit code %d, want %d", status, got, want)
		}
	}
}

func TestAProblemKeepsItsFieldsAndItsFix(t *testing.T) {
	t.Parallel()
	api := connected(t, refusing(422, `{"status":422,"title":"Invalid","detail":"two fields","errors":[
		{"field":"scopes[0]","message":"must be an entity"},{"field":"content","message":"must not be empty"}],
			"fix":"mend them"}`))
	_, err := api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
	want := &terminal.Failure{
		Code: terminal.ExitRefused, Status: 422, Detail: "Invalid", Fix: "mend them",
		Fields: []terminal.Field{
			{Field: "scopes[0]", Message: "must be an entity"},
			{Field: "content", Message: "must not be empty"},
		},
	}
	if diff := cmp.Diff(terminal.AsFailure(err), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestWhatIsNoAnnalsIsCalledSo(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"a web page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a plain 404":  http.NotFound,
		"a redirect":   http.RedirectHandler("https://example.org/", http.StatusFound).ServeHTTP,
		"half an item": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"id":`)) },
	} {
		var k knowledge.Knowledge
		_, err := connected(t, handler).Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, &k)
		if f := terminal.AsFailure(err); f.Code != terminal.ExitUnavailable || !strings.Contains(f.Detail,
			"no Annals server") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestARequestSaysWhoAsksAndNeverLeavesItsPath(t *testing.T) {
	t.Parallel()
	var asked *http.Request
	api := connected(t, func(_ http.ResponseWriter, r *http.Request) { asked = r })
	if _, err := api.Do(t.Context(),
		client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge", "a/../b?c#d"}}, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := asked.URL.EscapedPath(), "/v1/knowledge/a%2F..%2Fb%3Fc%23d"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	if asked.Header.Get("Annals-Actor") != "agent:x" || asked.Header.Get("Annals-On-Behalf-Of") != "user:1" {
		t.Errorf("asked as %v", asked.Header)
	}
}

func TestNobodyThereAndNobodyAnsweringAreBothUnavailable(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + silent.Addr().String()
	ask := func() *terminal.Failure {
		api, err := terminal.Remote{Server: address, Timeout: 100 * time.Millisecond}.Connect()
		if err != nil {
			t.Fatal(err)
		}
		_, err = api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
		return terminal.AsFailure(err)
	}
	if f := ask(); f.Code != terminal.ExitUnavailable || !strings.Contains(f.Detail, "within 100ms") {
		t.Errorf("a silent server: %+v", f)
	}
	if err := silent.Close(); err != nil {
		t.Fatal(err)
	}
	if f := ask(); f.Code != terminal.ExitUnavailable || !strings.Contains(f.Detail, "no server answers") {
		t.Errorf("no server: %+v", f)
	}
}

func TestAnImportOutlastsABusyServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	api := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			refusing(503, `{"title":"busy","status":503}`)(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"id":"a","status":"created"}` + "\n"))
	})
	s := &record.Sender{Server: api, Patience: time.Minute}
	b := record.Batch{
		Records: []record.Record{{Number: 1, Err: record.ErrTooLong}, {Number: 2, Raw: []byte("{}")}},
		Sent:    []int{1},
	}
	began := time.Now()
	answers, err := s.Send(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if why := answers[0].Why(); why == nil || why.Status != http.StatusRequestEntityTooLarge || why.Fix == "" ||
		answers[1].Status != "created" {
		t.Errorf("answers %+v", answers)
	}
	if waited := time.Since(began); waited < time.Second {
		t.Errorf("asked again after %s, want at least the Retry-After of 1s", waited)
	}
}

func TestAnImportSendsAgainWhatTheServerCouldNotTake(t *testing.T) {
	t.Parallel()
	var bodies []string
	answers := []string{
		`{"id":"1","status":"created"}` + "\n" + `{"status":"error","error":{"status":422,"title":"bad"}}` + "\n" +
			`{"status":"error","error":{"status":503,"title":"shutting down"}}` + "\n",
		`{"id":"3","status":"created"}` + "\n" + `{"id":"4","status":"cre`,
		`{"id":"4","status":"unchanged"}` + "\n",
	}
	api := connected(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		_, _ = w.Write([]byte(answers[len(bodies)-1]))
	})
	b := record.Batch{Sent: []int{0, 1, 2, 3}}
	for i := range 4 {
		b.Records = append(b.Records, record.Record{Number: i + 1, Raw: fmt.Appendf(nil, "%d", i+1)})
	}
	got, err := (&record.Sender{Server: api, Patience: time.Minute}).Send(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bodies, []string{"1\n2\n3\n4\n", "3\n4\n", "4\n"}); diff != "" {
		t.Errorf("sent (-got +want):\n%s", diff)
	}
	var statuses []string
	for _, answer := range got {
		statuses = append(statuses, answer.Status)
	}
	if diff := cmp.Diff(statuses, []string{"created", "error", "created", "unchanged"}); diff != "" {
		t.Errorf("answers (-got +want):\n%s", diff)
	}
}

func TestAnImportGivesUpOnAServerThatStaysAwayOrRefuses(t *testing.T) {
	t.Parallel()
	b := record.Batch{Records: []record.Record{{Number: 1, Raw: []byte("{}")}}, Sent: []int{0}}
	for status, want := range map[int]int{503: terminal.ExitUnavailable, 403: terminal.ExitRefused} {
		s := &record.Sender{Server: connected(t, refusing(status, `{"title":"no"}`)), Patience: 0}
		if _, err := s.Send(t.Context(), b); terminal.AsFailure(err).Code != want {
			t.Errorf("status %d: %v", status, err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	s := &record.Sender{Server: connected(t, refusing(503, `{"title":"no"}`)), Patience: time.Hour}
	if _, err := s.Send(ctx, b); err == nil {
		t.Error("an interrupted import went on waiting")
	}
}
