package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/servertest"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// Behind a proxy that passes on what lies below /annals/, no address leads to another path of the host.
func TestAProxyMayHaveAPath(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		var w *world
		var mu sync.Mutex
		var outside []string
		proxy := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/annals/") {
				mu.Lock()
				outside = append(outside, r.Method+" "+r.URL.Path)
				mu.Unlock()
				http.NotFound(out, r)
				return
			}
			to, _ := url.Parse(w.url)
			pass := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(to)
				p.Out.Host = p.In.Host
			}}
			http.StripPrefix("/annals", pass).ServeHTTP(out, r)
		}))
		t.Cleanup(proxy.Close)
		root := strings.Repeat("r", 32)
		w = newWorld(t, db, root, func(cfg *servertest.Config, look *console.Config) {
			cfg.PublicURL, look.PublicURL = proxy.URL+"/annals", proxy.URL+"/annals"
		})
		text := `We deploy at /console/ten: href="/console/ten" is a text.`
		w.remember(client.Knowledge{ID: "deploying", Type: "plan", Task: "When do we deploy?", Content: text})

		h := hand{Page: browsertest.Open(t, proxy.URL), t: t}
		h.Go("/annals/console/review")
		h.WaitFor("form")
		h.fill("#key", root)
		h.use("main form button")
		h.WaitFor("h1")
		h.Press("g", "h")
		h.WaitFor("nav.side")
		h.fill("header input[type=search]", "when do we deploy")
		h.Press("Enter")
		h.use(".hits a.entry")
		h.WaitFor(".acts")
		containsAll(t, h.Text("blockquote.said"), text)
		h.use(".vote [value=helpful]")
		h.WaitFor(".vote [name=undo]")
		h.use(`a[aria-keyshortcuts="6"]`)
		h.use("#own")
		h.use("#verify")
		h.WaitFor("#verdict.good")
		h.Press("Control+k")
		h.Press(strings.Split("subscr", "")...)
		h.Press("Enter")
		h.WaitFor("form")
		h.use(`footer a`)
		h.WaitFor("code")
		containsAll(t, h.Text("main, body"), proxy.URL+"/annals")
		h.use(`a[href$="/openapi.json"]`)
		containsAll(t, h.Text("body"), `"url":"`+proxy.URL+`/annals"`)
		h.Go("/annals/console/")
		h.use(`form[action$="/logout"] button`)
		h.WaitFor("#key")
		mu.Lock()
		defer mu.Unlock()
		if len(outside) > 0 {
			t.Errorf("requests outside of /annals/: %q", outside)
		}
	})
}
