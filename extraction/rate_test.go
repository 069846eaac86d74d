package extraction_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/annals-kb/annals/extraction"
)

// near is an endpoint to which no wire leads.
type near struct{ *endpoint }

func (n near) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestAModelIsAskedSoOftenASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answers: []func(http.ResponseWriter){completion("Sure!"), completion(about)}}
		model, err := extraction.NewModel(extraction.ModelConfig{
			URL: "http://model.test/v1", Model: "gpt-test", RequestsPerSecond: 2, Client: &http.Client{Transport: near{e}},
		})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for range 7 { // and one more, since the first answer cannot be read
			if _, err := model.Summarize(t.Context(), "deploying", handbook); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 3*time.Second || len(e.requests) != 8 { // two at once, then two a second
			t.Errorf("%d requests took %v, want 3s", len(e.requests), took)
		}
	})
}
