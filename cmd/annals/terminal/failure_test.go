package terminal

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// connected is a client of a server that answers with handler.
func connected(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := Remote{
		Server: server.URL, Timeout: 5 * time.Second, As: "agent:x", OnBehalfOf: "user:1",
	}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func TestExitCodesTellARefusalFromAnOutage(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{
		400: ExitRefused, 401: ExitRefused, 403: ExitRefused, 404: ExitNotFound,
		409: ExitRefused, 410: ExitNotFound,
		412: ExitRefused, 413: ExitRefused, 422: ExitRefused, 429: ExitUnavailable,
		500: ExitFailed, 502: ExitUnavailable,
		503: ExitUnavailable, 504: ExitUnavailable, 507: ExitUnavailable,
	} {
		api := connected(t, servertest.Refusing(status, `{"title":"No","detail":"it is so"}`))
		_, err := api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
		servertest.Same(t, AsFailure(err).Code, want, status)
	}
}

func TestAProblemKeepsItsFieldsAndItsFix(t *testing.T) {
	t.Parallel()
	api := connected(t, servertest.Refusing(422, `{"status":422,"title":"Invalid","detail":"two fields","errors":[
		{"field":"scopes[0]","message":"must be an entity"},{"field":"content","message":"must not be empty"}],
			"fix":"mend them"}`))
	_, err := api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
	want := &Failure{
		Code: ExitUsage, Status: 422, Detail: "Invalid", Fix: "mend them",
		Fields: []Field{
			{Field: "scopes[0]", Message: "must be an entity"},
			{Field: "content", Message: "must not be empty"},
		},
	}
	servertest.Same(t, AsFailure(err), want)
}

func TestWhatIsNoAnnalsIsCalledSo(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"a web page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a plain 404":  http.NotFound,
		"a redirect":   http.RedirectHandler("https://example.org/", http.StatusFound).ServeHTTP,
		"half an item": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"id":`)) },
	} {
		var k api.Knowledge
		_, err := connected(t, handler).Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, &k)
		if f := AsFailure(err); f.Code != ExitUnavailable || !strings.Contains(f.Detail,
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
	servertest.Same(t, asked.Header.Get("Annals-Actor"), "agent:x", "asked as", asked.Header)
	servertest.Same(t, asked.Header.Get("Annals-On-Behalf-Of"), "user:1", "asked as", asked.Header)
}

func TestNobodyThereAndNobodyAnsweringAreBothUnavailable(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + silent.Addr().String()
	ask := func() *Failure {
		api, err := Remote{Server: address, Timeout: 100 * time.Millisecond}.Connect()
		if err != nil {
			t.Fatal(err)
		}
		_, err = api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
		return AsFailure(err)
	}
	if f := ask(); f.Code != ExitUnavailable || !strings.Contains(f.Detail, "within 100ms") {
		t.Errorf("a silent server: %+v", f)
	}
	if err := silent.Close(); err != nil {
		t.Fatal(err)
	}
	if f := ask(); f.Code != ExitUnavailable || !strings.Contains(f.Detail, "no server answers") {
		t.Errorf("no server: %+v", f)
	}
}

func TestADiskThatIsFullSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, err := range []error{database.ErrFull, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}} {
		if f := AsFailure(fmt.Errorf("write the backup: %w", err)); !strings.Contains(f.Fix, "make room") {
			t.Errorf("%v: %+v", err, f)
		}
	}
}
