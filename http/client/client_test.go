package client_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

func TestAProgramRemembersFindsAndJudges(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		made, err := w.api.Remember(ctx, client.Knowledge{
			ID: "retry", Type: "strategy", Task: "calling rate-limited APIs", Content: "Retry 429s with jitter",
			Tags: client.Tags{"domain": {"http"}, "lang": {"go", "c"}}, Scopes: []string{"team:web"}, Owner: "team:web",
		})
		if err != nil || made.Outcome != "created" || made.Position == 0 || made.Events == "" ||
			made.Knowledge.Revision != 1 {
			t.Fatalf("got %+v, %v", made, err)
		}
		again, err := w.api.Save(ctx,
			client.Knowledge{ID: "retry", Type: "strategy", Content: "Honour Retry-After", Reason: "RFC 6585"})
		if err != nil || again.Outcome != "revised" || again.Knowledge.Revision != 2 {
			t.Fatalf("got %+v, %v", again, err)
		}
		found, err := w.api.Search(ctx, client.Search{
			Query: "honour retry-after", Filter: client.Filter{Types: []string{"strategy"}},
		})
		if err != nil || len(found.Items) != 1 || found.Items[0].Scope != "team:web" || found.Items[0].Score == 0 {
			t.Fatalf("got %+v, %v", found, err)
		}
		if _, err := w.api.GiveFeedback(ctx, "retry",
			client.Vote{Verdict: "helpful", TraceID: "1", Outcome: "worked"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.api.ReportStale(ctx, "retry", "it sends 503"); err != nil {
			t.Fatal(err)
		}
		confirmed, err := w.api.Confirm(ctx, "retry", "tried it")
		if err != nil || *confirmed.Knowledge.Eval.Confidence != 0.75 {
			t.Fatalf("got %+v, %v", confirmed.Knowledge.Eval, err)
		}
		k, err := w.api.At(ctx, confirmed.Knowledge.URI)
		if err != nil || k.ID != "retry" || k.Content != "Honour Retry-After" {
			t.Fatalf("got %+v, %v", k, err)
		}
		if err := w.api.Forget(ctx, "retry", "the API is gone"); err != nil {
			t.Fatal(err)
		}
		var names []string
		for event, err := range w.api.History(ctx, "retry") {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.TrimPrefix(event.Name, "knowledge."))
			if event.Name == "knowledge.revised" && event.Reason != "RFC 6585" {
				t.Errorf("revised for the reason %q", event.Reason)
			}
		}
		want := []string{"remembered", "revised", "found_helpful", "reported_stale", "confirmed", "deleted"}
		if diff := cmp.Diff(names, want); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARefusalSaysWhich(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.api.Remember(ctx, client.Knowledge{Content: "x", Type: "lunch", Scopes: []string{"web"}})
		refused, ok := errors.AsType[*client.Error](err)
		if !errors.Is(err, client.ErrInvalid) || !ok || len(refused.Errors) != 2 || !strings.Contains(err.Error(),
			"scopes[0]") {
			t.Errorf("got %v", err)
		}
		if _, err := w.api.Knowledge(ctx, "../keys"); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		done, err := w.api.Remember(ctx, client.Knowledge{ID: "a", Content: "x", Type: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		if event, err := w.api.Event(ctx,
			done.Events); err != nil || event.EventID != done.Events || event.Name != "knowledge.remembered" {
			t.Errorf("got %+v, %v", event, err)
		}
		if _, err := w.api.Event(ctx, "0198c0de-0000-7000-8000-000000000001"); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("an id that no event has: %v", err)
		}
		if _, err := w.api.Remember(ctx, client.Knowledge{ID: "a", Content: "y", Type: "tool"}); !errors.Is(err,
			client.ErrConflict) || errors.Is(err, client.ErrOvertaken) {
			t.Errorf("got %v", err)
		}
		found, err := w.api.Search(ctx, client.Search{Query: "y", Position: true})
		if err != nil || *found.Position != done.Position {
			t.Errorf("looked up to %d, %v", *found.Position, err)
		}
		same := client.Knowledge{Content: "x", Type: "tool"}
		if _, err := w.api.RememberBeside(ctx, same, "refuse"); !errors.Is(err, client.ErrConflict) {
			t.Errorf("got %v", err)
		}
		if known, err := w.api.RememberBeside(ctx, same, "vote"); err != nil || known.Knowledge.ID != "a" ||
			known.Outcome != "recorded" {
			t.Errorf("got %+v, %v", known, err)
		}
		if err := w.api.Forget(ctx, "a", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := w.api.Knowledge(ctx, "a"); !errors.Is(err, client.ErrGone) || errors.Is(err, client.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := w.api.CommitSession(ctx, "s/../../x", "lunch"); err == nil || errors.Is(err, client.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

// lossy loses the answers to some requests, after they have been carried out.
type lossy struct {
	http.Handler
	loses atomic.Int64
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && l.loses.Add(-1) >= 0 {
		l.Handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	l.Handler.ServeHTTP(w, r)
}

func TestWhatIsSentAgainHappensOnce(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		way := &lossy{}
		w := newWorld(t, db, func(h http.Handler) http.Handler { way.Handler = h; return way })
		way.loses.Store(2)
		made, err := w.api.Remember(t.Context(), client.Knowledge{Content: "once", Type: "tool"})
		if err != nil || made.Outcome != "created" {
			t.Fatalf("got %+v, %v", made, err)
		}
		items := 0
		for _, err := range w.api.List(t.Context(), nil) {
			if items++; err != nil {
				t.Fatal(err)
			}
		}
		if items != 1 {
			t.Errorf("remembered %d times", items)
		}
		way.loses.Store(1)
		if err := w.api.Say(t.Context(), "s", client.Message{Role: "user", Content: "hello"}); err != nil {
			t.Errorf("got %v", err)
		}
		way.loses.Store(1)
		if committed, err := w.api.CommitSession(t.Context(), "s",
			"stated"); err != nil || committed.TaskID == "" || !committed.Archived {
			t.Errorf("got %+v, %v", committed, err)
		}
		if diff := cmp.Diff(w.said("s"), []string{"user: hello", "commit"}); diff != "" {
			t.Errorf("said twice, or never:\n%s", diff)
		}
	})
}

// answering is a server of somebody else's that always answers the same.
func answering(t *testing.T, status int, header http.Header, body string) (string, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // whoever has left misses nothing
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestABusyServerIsAskedAgainAndABrokenOneIsNot(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int64{503: 3, 429: 3, 502: 3, 500: 1, 422: 1, 404: 1} {
		url, asked := answering(t, status, nil, `{"title":"no"}`)
		c, err := client.New(client.Config{Server: url})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Search(t.Context(), client.Search{Query: "x"})
		if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != status || asked.Load() != want {
			t.Errorf("%d: asked %d times: %v", status, asked.Load(), err)
		}
	}
	url, asked := answering(t, 503, http.Header{"Retry-After": {"60"}}, "")
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), client.Search{Query: "x"}); asked.Load() != 1 || !errors.Is(err,
		client.ErrUnavailable) {
		t.Errorf("asked %d times, within a minute: %v", asked.Load(), err)
	}
}

func TestAHungServerIsGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	c, err := client.New(client.Config{Server: server.URL, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), client.Search{Query: "x"}); !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestHealthIsRememberedLongerWhenItIsGood(t *testing.T) {
	t.Parallel()
	url, asked := answering(t, 200, nil, `{"status":"ok","version":"1"}`)
	up, err := client.New(client.Config{Server: url})
	if err != nil {
		t.Fatal(err)
	}
	away, err := client.New(client.Config{Server: "http://127.0.0.1:1", DownFor: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !up.Available(t.Context()) || away.Available(t.Context()) {
			t.Fatal("up is down, or down is up")
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	forgetful, err := client.New(client.Config{Server: url, UpFor: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	forgetful.Available(t.Context())
	forgetful.Available(t.Context())
	if asked.Load() != 3 {
		t.Errorf("asked %d times, want once for each and one more", asked.Load())
	}
}

func TestThisMachineIsReachedWithoutAProxy(t *testing.T) {
	url, _ := answering(t, 200, nil, `{"status":"ok"}`)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	t.Setenv("NO_PROXY", "")
	for _, server := range []string{url, strings.Replace(url, "127.0.0.1", "localhost", 1)} {
		c, err := client.New(client.Config{Server: server})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Health(t.Context()); err != nil {
			t.Errorf("%s: %v", server, err)
		}
	}
}

func TestAnAddressMustBeOne(t *testing.T) {
	t.Parallel()
	for _, cfg := range []client.Config{{Server: "annals"}, {Server: "ftp://x"}, {Server: "http://"}, {Key: "a\nb"}} {
		if _, err := client.New(cfg); err == nil {
			t.Errorf("took %+v", cfg)
		}
	}
}

func TestACertificateThatIsNotTrustedIsNoSilence(t *testing.T) {
	t.Parallel()
	server := servertest.Untrusted(t)
	c, err := client.New(client.Config{Server: server.URL, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Search(t.Context(), client.Search{Query: "x"})
	refused, known := errors.AsType[*client.Error](err)
	if !known || !errors.Is(err, client.ErrUnavailable) || !strings.Contains(refused.Title,
		"not trusted: x509: ") || !strings.Contains(refused.Fix, "SSL_CERT_FILE") {
		t.Errorf("got %v", err)
	}
}

func TestAPatientClientWaitsAsItIsTold(t *testing.T) {
	t.Parallel()
	began, asked := time.Now(), 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked++; asked {
		case 1:
			w.Header().Set("Retry-After", time.Now().Add(2*time.Second).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler)
		case 3:
			<-r.Context().Done() // it takes too long
		default:
			_, _ = io.WriteString(w, `{"status":"ok"}`)
		}
	}))
	defer server.Close()
	c, err := client.New(client.Config{Server: server.URL, Timeout: 300 * time.Millisecond, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Patient(time.Minute).Health(t.Context()); err != nil || asked != 4 || time.Since(began) < time.Second {
		t.Errorf("asked %d times in %s: %v", asked, time.Since(began), err)
	}
	asked = 1
	if _, err := c.Search(t.Context(), client.Search{Query: "x"}); err == nil || !strings.Contains(err.Error(), "the request may have been executed") {
		t.Errorf("got %v", err)
	}
}

func TestAListThatNeverEndsEndsWithAnError(t *testing.T) {
	t.Parallel()
	url, asked := answering(t, 200, nil, `{"items":[{"id":"a"}],"next_cursor":"same"}`)
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range c.List(t.Context(), nil) { //nolint:revive // it reads all
	}
	if !errors.Is(err, client.ErrNotAnnals) || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestARedirectSaysWhereTo(t *testing.T) {
	t.Parallel()
	url, _ := answering(t, 302, http.Header{"Location": {"https://example.org/login?token=secret"}}, "")
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Health(t.Context())
	if !errors.Is(err, client.ErrNotAnnals) || !strings.Contains(err.Error(), "redirects to https://example.org/login") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
