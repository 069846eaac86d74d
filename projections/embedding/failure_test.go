package embedding_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/projections/embedding"
)

// always answers every request so.
func always(status int, body string) func(int, http.ResponseWriter, string) bool {
	return func(_ int, w http.ResponseWriter, _ string) bool {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
		return true
	}
}

func TestFailuresAreToldApartAndKeepSecrets(t *testing.T) {
	t.Parallel()
	leak := secret + " " + private
	for _, test := range []struct {
		name     string
		answer   func(int, http.ResponseWriter, string) bool
		want     error
		says     string
		requests int
	}{
		{
			"a wrong key", always(401, `{"error":{"code":"invalid_api_key","message":"`+leak+`"}}`), embedding.ErrRefused,
			"invalid_api_key", 1,
		},
		{
			"a code that repeats the key", always(400, `{"error":{"code":"`+secret+`"}}`), embedding.ErrRefused, "status 400",
			1,
		},
		{"no such model", always(404, leak), embedding.ErrRefused, "check its URL", 1},
		{"somewhere else", func(_ int, w http.ResponseWriter, _ string) bool {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, embedding.ErrRefused, "status 307", 1},
		{"broken", always(500, leak), embedding.ErrUnavailable, "status 500", 3},
		{"overloaded", always(529, leak), embedding.ErrUnavailable, "after 3 attempts", 3},
		{"a page", always(200, "<html>"+leak), embedding.ErrAnswer, "HTML", 1},
		{"too many", always(429, leak), embedding.ErrQuota, "429", 3},
		{"no money", always(402, leak), embedding.ErrQuota, "402", 1},
		{"numbers that are none", always(200, `{"data":[{"index":0,"embedding":[NaN,1,1,1]}]}`), embedding.ErrAnswer, "", 1},
		{"numbers too large", always(200, `{"data":[{"index":0,"embedding":[1e39,1,1,1]}]}`), embedding.ErrAnswer, "", 1},
		{"no direction", always(200, `{"data":[{"index":0,"embedding":[0,0,0,0]}]}`), embedding.ErrVector, "", 1},
		{"nothing", always(200, ``), embedding.ErrAnswer, "", 1},
		{"too few", always(200, `{"data":[]}`), embedding.ErrAnswer, "0 vectors for 1 texts", 1},
		{"another's index", always(200, `{"data":[{"index":7,"embedding":[1,1,1,1]}]}`), embedding.ErrAnswer, "index 7", 1},
		{"too much", always(200, `{"x":"`+strings.Repeat("x", 100_000)+`"}`), embedding.ErrAnswer, "larger than", 1},
		{
			"another length", always(200, `{"data":[{"index":0,"embedding":[1,2,3]}]}`), embedding.ErrDimensions,
			"got 3, want 4", 1,
		},
		{"cut off", func(_ int, w http.ResponseWriter, _ string) bool {
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, `{"data":[`+leak)
			return true
		}, embedding.ErrUnavailable, "the connection broke", 3},
		{"not HTTP", func(_ int, w http.ResponseWriter, _ string) bool {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = fmt.Fprintf(connection, "%s\r\n\r\n", leak)
				err = connection.Close()
			}
			return err == nil
		}, embedding.ErrUnavailable, "the connection broke", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{answer: test.answer}
			openAI := serve(t, e, func(c *embedding.Config) { c.Attempts = 3 })
			_, err := openAI.Embed(t.Context(), []string{private}, embedding.Document)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %v with %q", err, test.want, test.says)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), private)) {
				t.Errorf("the error tells a secret: %v", err)
			}
			if got := len(e.received()); got != test.requests {
				t.Errorf("%d requests, want %d", got, test.requests)
			}
		})
	}
}

func TestWhatFailsForAWhileSucceedsThen(t *testing.T) {
	t.Parallel()
	e := &endpoint{answer: func(n int, w http.ResponseWriter, _ string) bool {
		if n == 4 {
			return false
		}
		w.WriteHeader([]int{500, 429, 503}[n-1])
		return true
	}}
	vectors, err := serve(t, e, nil).Embed(t.Context(), []string{"x"}, embedding.Query)
	if err != nil || len(vectors) != 1 {
		t.Errorf("%d vectors, error %v", len(vectors), err)
	}
	if got := len(e.received()); got != 4 {
		t.Errorf("%d requests, want 4", got)
	}
}

func TestNobodyThereIsUnavailable(t *testing.T) {
	t.Parallel()
	openAI := serve(t, &endpoint{}, func(c *embedding.Config) { c.URL, c.Attempts = "http://127.0.0.1:1", 2 })
	_, err := openAI.Embed(t.Context(), []string{private}, embedding.Query)
	if !errors.Is(err, embedding.ErrUnavailable) || !strings.Contains(err.Error(), "no connection") {
		t.Errorf("got %v", err)
	}
}

func TestADimensionsErrorHasBothNumbers(t *testing.T) {
	t.Parallel()
	openAI := serve(t, &endpoint{}, func(c *embedding.Config) { c.Dims = 8 })
	_, err := openAI.Embed(t.Context(), []string{"x"}, embedding.Query)
	if !errors.Is(err, embedding.ErrDimensions) || !strings.Contains(err.Error(), "got 4, want 8") {
		t.Errorf("got %v", err)
	}
}

func TestACallerWhoIsGoneIsNotServed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	e := &endpoint{answer: func(int, http.ResponseWriter, string) bool { cancel(); return false }}
	openAI := serve(t, e, func(c *embedding.Config) { c.MaxBatch = 1 })
	if _, err := openAI.Embed(ctx, []string{"x", "y"}, embedding.Query); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if got := len(e.received()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}
