package visible_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// What recording adds to the answer to a search with ten hits.
func BenchmarkGive(b *testing.B) {
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/search", nil)
	c := &serve.Call{
		API: &serve.API{Now: time.Now}, Request: r, Response: httptest.NewRecorder(), Route: "/v1/search",
		Principal: domain.OpenPrincipal(),
	}
	hits := make([]domain.Found, 10)
	for i := range hits {
		hits[i].Knowledge = &domain.Knowledge{ID: "a", Number: int64(i + 1)}
	}
	give := visible.Items{Recorder: forgetting{}}.GiveUse
	b.ReportAllocs()
	for b.Loop() {
		give(c, func(given *domain.Given) {
			given.Items = serve.Map(hits, func(h domain.Found) domain.GivenItem { return domain.GivenHit(h, domain.Detail) })
		})
	}
}

type forgetting struct{}

func (forgetting) Give(domain.Given) string { return "r1-1" }
