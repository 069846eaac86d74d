package client_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

func TestARequestInsideComesFromWhereItsOuterRequestCameFrom(t *testing.T) {
	t.Parallel()
	var got *http.Request
	inside, err := client.New(client.Config{Transport: client.Inside(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) { got = r },
	))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inside.Do(t.Context(), client.Get("healthz"), nil); err != nil {
		t.Fatal(err)
	}
	if got.RemoteAddr != "127.0.0.1:0" || got.Host != "127.0.0.1:1933" || got.TLS != nil {
		t.Errorf("without an outer request: from %s, to %s, TLS %v", got.RemoteAddr, got.Host, got.TLS)
	}
	outer := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://evil.example/console/", nil)
	outer.RemoteAddr, outer.TLS = "192.0.2.1:4", &tls.ConnectionState{}
	if _, err := inside.Do(client.WithOuter(t.Context(), outer), client.Get("healthz"), nil); err != nil {
		t.Fatal(err)
	}
	if got.RemoteAddr != outer.RemoteAddr || got.Host != "evil.example" || got.TLS != outer.TLS {
		t.Errorf("with an outer request: from %s, to %s, TLS %v", got.RemoteAddr, got.Host, got.TLS)
	}
	if got.Method != http.MethodGet || got.URL.Path != "/healthz" || len(got.Header["Cookie"]) > 0 {
		t.Errorf("the request itself became %s %s", got.Method, got.URL.Path)
	}
}
