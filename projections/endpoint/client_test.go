package endpoint_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/projections/endpoint"
)

func TestARequestIsRepeatedAndItsErrorsTellNoSecret(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{401: 1, 429: 3, 503: 3, 200: 1} {
		attempts := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			attempts++
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, r.Header.Get("Authorization")+string(body))
		}))
		t.Cleanup(server.Close)
		client := endpoint.New(endpoint.Config{
			URL: server.URL + "/v1/", Key: "secret", Attempts: 3, MinBackoff: time.Millisecond,
		})
		answer, err := client.Do(t.Context(), http.MethodPost, "/chat", []byte("private"), 1<<10)
		failed, is := errors.AsType[*endpoint.Error](err)
		switch {
		case attempts != want:
			t.Errorf("%d: %d attempts, want %d", status, attempts, want)
		case status == 200 && (err != nil || string(answer) != "Bearer secretprivate"):
			t.Errorf("got %q (%v)", answer, err)
		case status != 200 && (!is || failed.Status != status || failed.Temporary != (want > 1)):
			t.Errorf("%d: got %+v", status, err)
		case err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "private")):
			t.Errorf("the error tells a secret: %v", err)
		}
	}
}
