package serve

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/embedding"
)

const consoleRootKey = "0123456789abcdef0123456789abcdef"

// served is the handler of a server on a database of its own.
func served(t *testing.T, console, rootKey string) http.Handler {
	t.Helper()
	cfg := Config{
		Storage: Storage{Data: t.TempDir()}, LogName: "annals", Scrub: "on", consoling: consoling{Console: console},
		receiptSettings: receiptSettings{Receipts: []string{"off"}}, // part: receipts
	}.Complete()
	cfg.RootKey = rootKey
	service, err := OpenService(t.Context(), cfg, embedding.Builtin{}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service.API.Handler()
}

// asked is the answer to a request with headers, each "Name: value".
func asked(t *testing.T, h http.Handler, method, url, form string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer
}

const browser = "Accept: text/html,*/*"

func TestABrowserIsLedToTheConsoleIfThereIsOne(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		home    string
		console int
	}{"on": {"/console/", http.StatusOK}, "off": {"/docs", http.StatusNotFound}} {
		h := served(t, mode, "")
		led := asked(t, h, "GET", "http://localhost/", "", browser)
		servertest.Same(t, led.Code, http.StatusSeeOther, mode)
		servertest.Same(t, led.Header().Get("Location"), want.home, mode)
		servertest.Same(t, asked(t, h, "GET", "http://localhost/console/", "", browser).Code, want.console, mode)
		program := asked(t, h, "GET", "http://localhost/", "", "Accept: */*")
		servertest.Same(t, program.Code, http.StatusOK, mode)
		servertest.Like(t, program.Body.String(), servertest.Containing(`"name":"annals"`), mode)
	}
	led := asked(t, served(t, "on", ""), "GET", "http://localhost/console", "")
	servertest.Same(t, led.Code, http.StatusSeeOther)
	servertest.Same(t, led.Header().Get("Location"), consolePath)
}

// In no-auth mode a website could let its own name lead to this machine, and read what the console answers.
func TestTheConsoleAnswersThisMachinesNamesOnlyInNoAuthMode(t *testing.T) {
	t.Parallel()
	h := served(t, "on", "")
	for host, reads := range map[string]bool{"localhost:1933": true, "127.0.0.1": true, "evil.example": false, "evil.example:1933": false} {
		answer := asked(t, h, "GET", "http://"+host+consolePath, "", browser)
		if got := strings.Contains(answer.Body.String(), "user:default"); got != reads {
			t.Errorf("%s: got %d %s", host, answer.Code, answer.Body)
		}
	}
}

func TestOnlyItsOwnPagesWriteInTheConsole(t *testing.T) {
	t.Parallel()
	h := served(t, "on", consoleRootKey)
	const url, form = "https://annals.example/console/login", "key=" + consoleRootKey
	for header, refused := range map[string]bool{
		"Sec-Fetch-Site: same-origin": false, "Origin: https://annals.example": false, "Sec-Fetch-Site: none": false,
		"Sec-Fetch-Site: cross-site": true, "Sec-Fetch-Site: same-site": true, "Origin: https://evil.example": true, "Origin: null": true,
	} {
		answer := asked(t, h, "POST", url, form, header)
		if got := answer.Code == http.StatusForbidden; got != refused {
			t.Errorf("%s: got %d %s", header, answer.Code, answer.Body)
		}
		if refused && answer.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: a cookie was set", header)
		}
	}
}

func TestALoginAtTheConsoleIsALoginAtTheAPI(t *testing.T) {
	t.Parallel()
	h := served(t, "on", consoleRootKey)
	login := asked(t, h, "POST", "http://localhost/console/login", "key="+consoleRootKey)
	cookies := login.Result().Cookies()
	if len(cookies) != 1 || strings.Contains(cookies[0].Value, consoleRootKey) {
		t.Fatalf("got %d with the cookies %v", login.Code, cookies)
	}
	me := asked(t, h, "GET", "http://localhost/v1/whoami", "", "Authorization: Bearer "+cookies[0].Value)
	servertest.Like(t, me.Body.String(), servertest.Containing(`"authentication":"key:root"`))
	for range 30 {
		asked(t, h, "POST", "http://localhost/console/login", "key=wrong")
	}
	servertest.Same(t, asked(t, h, "GET", "http://localhost/v1/whoami", "", "Authorization: Bearer wrong").Code, 429)
	servertest.Same(t, asked(t, h, "GET", "http://localhost/v1/whoami", "", "Authorization: Bearer "+cookies[0].Value).Code, 200)
}
