package embedding_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/annals-kb/annals/projections/embedding"
)

// wireless sends requests to a handler without a connection, so that time in a synctest bubble can pass.
type wireless struct{ http.Handler }

func (w wireless) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		w.ServeHTTP(answer, r)
	}()
	select {
	case <-done:
		return answer.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// inBubble calls test in a bubble with an embedder for an endpoint.
func inBubble(t *testing.T, e *endpoint, config embedding.Config, test func(t *testing.T, openAI *embedding.OpenAI)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config.URL, config.Model, config.Dims = "http://model.test/v1", "test", 4
		config.HTTP = &http.Client{Transport: wireless{e}}
		openAI, err := embedding.NewOpenAI(config)
		if err != nil {
			t.Fatal(err)
		}
		test(t, openAI)
	})
}

func TestAnEndpointSaysHowLongToWait(t *testing.T) {
	for name, header := range map[string]func() string{
		"seconds": func() string { return "7" },
		"a date":  func() string { return time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			e := &endpoint{answer: func(n int, w http.ResponseWriter, _ string) bool {
				if n > 1 {
					return false
				}
				w.Header().Set("Retry-After", header())
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			}}
			inBubble(t, e, embedding.Config{}, func(t *testing.T, openAI *embedding.OpenAI) {
				start := time.Now()
				if _, err := openAI.Embed(t.Context(), []string{"x"}, embedding.Query); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(start).Round(time.Second); waited != 7*time.Second {
					t.Errorf("waited %v, want 7s", waited)
				}
			})
		})
	}
}

func TestAPauseBeyondReasonOrTheDeadlineIsNotWaitedFor(t *testing.T) {
	e := &endpoint{answer: func(_ int, w http.ResponseWriter, _ string) bool {
		w.Header().Set("Retry-After", "70")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}}
	inBubble(t, e, embedding.Config{}, func(t *testing.T, openAI *embedding.OpenAI) {
		start := time.Now()
		_, beyondReason := openAI.Embed(t.Context(), []string{"x"}, embedding.Query)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, beyondDeadline := openAI.Embed(ctx, []string{"x"}, embedding.Query)
		for _, err := range []error{beyondReason, beyondDeadline} {
			if !errors.Is(err, embedding.ErrUnavailable) {
				t.Errorf("got %v, want %v", err, embedding.ErrUnavailable)
			}
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestPausesDoubleUpToALimit(t *testing.T) {
	e := &endpoint{answer: always(http.StatusBadGateway, "")}
	var config embedding.Config
	config.Attempts, config.MinBackoff, config.MaxBackoff = 6, time.Second, 4*time.Second
	inBubble(t, e, config, func(t *testing.T, openAI *embedding.OpenAI) {
		if _, err := openAI.Embed(t.Context(), []string{"x"}, embedding.Query); !errors.Is(err, embedding.ErrUnavailable) {
			t.Fatal(err)
		}
		requests := e.received()
		if len(requests) != 6 {
			t.Fatalf("%d requests, want 6", len(requests))
		}
		for i, ceiling := range []time.Duration{1, 2, 4, 4, 4} {
			ceiling *= time.Second
			if pause := requests[i+1].at.Sub(requests[i].at); pause < ceiling/2 || pause > ceiling {
				t.Errorf("pause %d is %v, want %v…%v", i+1, pause, ceiling/2, ceiling)
			}
		}
	})
}

func TestASilentEndpointIsUnavailable(t *testing.T) {
	e := &endpoint{answer: func(int, http.ResponseWriter, string) bool { time.Sleep(time.Hour); return true }}
	var config embedding.Config
	config.Attempts = 2
	inBubble(t, e, config, func(t *testing.T, openAI *embedding.OpenAI) {
		start := time.Now()
		_, err := openAI.Embed(t.Context(), []string{"x"}, embedding.Query)
		if !errors.Is(err, embedding.ErrUnavailable) || !strings.Contains(err.Error(), "no answer within 30s") {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(start); waited < time.Minute || waited > time.Minute+time.Second {
			t.Errorf("gave up after %v, want twice 30s", waited)
		}
		time.Sleep(2 * time.Hour) // until the endpoint's handlers end
	})
}

func TestRequestsAreSpacedOut(t *testing.T) {
	e := &endpoint{}
	config := embedding.Config{MaxBatch: 1}
	config.RequestsPerSecond = 2
	inBubble(t, e, config, func(t *testing.T, openAI *embedding.OpenAI) {
		start := time.Now()
		if _, err := openAI.Embed(t.Context(), make([]string, 8), embedding.Document); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 3*time.Second { // two at once, then two a second
			t.Errorf("eight requests took %v, want 3s", took)
		}
	})
}
