package standby_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/standby"
)

// receiver is a primary's server that remembers the last batch as it came, and how often it took one.
type receiver struct {
	standby.Batches
	last  *http.Request
	body  string
	taken int
}

func newReceiver() *receiver {
	r := &receiver{}
	r.Batches = standby.Batches{Key: []byte("the same"), Takes: map[string]standby.Take{
		"words": func(_ context.Context, read func(any) error) (any, error) {
			var words []string
			if err := read(&words); err != nil {
				return nil, err
			}
			r.taken++
			return len(words), nil
		},
		"numbers": func(context.Context, func(any) error) (any, error) { return nil, nil },
	}}
	return r
}

// ServeHTTP answers as a server of the primary.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/readyz" {
		_, _ = io.WriteString(w, `{"role":"primary"}`)
		return
	}
	body, _ := io.ReadAll(request.Body)
	r.last, r.body = request.Clone(context.Background()), string(body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	if err := r.Answer(w, request); err != nil {
		serve.ProblemOf(err, "").Write(w)
	}
}

// send sends a batch of three words, which are signed with a key.
func (r *receiver) send(t *testing.T, key string) (count int, err error) {
	t.Helper()
	server := httptest.NewServer(r)
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := &standby.Forwarder{Primary: at, Key: []byte(key)}
	err = f.Send(t.Context(), "words", []string{"one", "two", "three"}, &count)
	return count, err
}

func TestThePrimaryTakesABatchThatAServerSigned(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	if count, err := r.send(t, "the same"); count != 3 || err != nil {
		t.Errorf("got %d, %v, want the answer 3", count, err)
	}
	if _, err := r.send(t, "another"); err == nil || !strings.Contains(err.Error(), "401: the batch was not signed") {
		t.Errorf("a forged batch: got %v", err)
	}
	if r.taken != 1 {
		t.Errorf("%d batches were taken, want 1", r.taken)
	}
}

func TestABatchThatWasHeardIsOfNoOtherUse(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	if _, err := r.send(t, "the same"); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		path, body string
		later      time.Duration
		refused    bool
	}{
		"again":             {"words", r.body, time.Second, false},
		"later":             {"words", r.body, 2 * time.Minute, true},
		"earlier":           {"words", r.body, -2 * time.Minute, true},
		"with another body": {"words", "[]", 0, true},
		"as another kind":   {"numbers", r.body, 0, true},
	} {
		path := standby.BatchPath + of.path
		again := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(of.body))
		again.Header = r.last.Header
		r.Now = func() time.Time { return time.Now().Add(of.later) }
		err := r.Answer(httptest.NewRecorder(), again)
		if errors.Is(err, domain.ErrUnauthenticated) != of.refused || !of.refused && err != nil {
			t.Errorf("%s: got %v, want refused %t", name, err, of.refused)
		}
	}
}
