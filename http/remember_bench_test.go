package http

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

// instant is no log: it answers at once, so that only the cost of HTTP is left to measure.
type instant struct{}

func (instant) Submit(_ context.Context, s domain.Submission) (domain.Receipt, error) {
	command := s.Command.(domain.Remember)
	k := &domain.Knowledge{ID: command.ID}
	at := domain.EventMetadata{EventID: newID(), Position: 1, Version: 1, RecordedAt: time.Now()}
	err := k.Evolve(command.Knowledge, at, domain.DefaultConfidence())
	return domain.Receipt{
		Events: []domain.Event{{EventID: at.EventID}}, Knowledge: k, Position: 1, Outcome: domain.Created,
	}, err
}

func (i instant) SubmitAll(ctx context.Context, all []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(all))
	for n, s := range all {
		results[n].Receipt, results[n].Err = i.Submit(ctx, s)
	}
	return results
}

const profile = `{"type": "user_profile", "task": "coding style", "tags": {"category": "preference", "domain": "coding_style"},
 "scopes": ["user:123", "project:456"], "owner": "user:123", "visibility": "shared",
 "content": "The user prefers TypeScript to JavaScript and cares for type safety.",
 "source": {"agent_id": "general_assistant", "trace_id": "trace-xxx", "timestamp": "2026-03-03"},
 "eval": {"helpful": 5, "harmful": 0, "confidence": 0.9}}`

// BenchmarkRemember is a request through every layer but the connection and the log.
func BenchmarkRemember(b *testing.B) {
	handler := New(Config{Writer: instant{}}).Handler()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/v1/knowledge", strings.NewReader(profile))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusCreated {
				b.Fatal(w.Body)
			}
		}
	})
}

// BenchmarkRememberOverTCP adds connections of 64 clients in the same process.
func BenchmarkRememberOverTCP(b *testing.B) {
	server := httptest.NewServer(New(Config{Writer: instant{}}).Handler())
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/v1/knowledge", strings.NewReader(profile))
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("Content-Type", jsonType)
			answer, err := client.Do(r)
			if err != nil || answer.StatusCode != http.StatusCreated {
				b.Errorf("%v, %v", answer, err)
				return
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// BenchmarkRememberMany is one record among many.
func BenchmarkRememberMany(b *testing.B) {
	handler := New(Config{Writer: instant{}}).Handler()
	line := strings.ReplaceAll(profile, "\n", "") + "\n"
	b.SetBytes(int64(len(line)))
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/v1/knowledge", strings.NewReader(strings.Repeat(line, b.N)))
	r.Header.Set("Content-Type", linesType)
	b.ResetTimer()
	handler.ServeHTTP(httptest.NewRecorder(), r)
}
