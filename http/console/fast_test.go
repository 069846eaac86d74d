package console_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

// Whoever asks for a page takes it compressed, and keeps what pages load for ever.
func TestPagesAreCompressedAndWhatTheyLoadIsKept(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		_, page := w.ask("/console/")
		style := page[strings.Index(page, "/console/assets/style"):]
		style, _, _ = strings.Cut(style, `"`)
		for path, cached := range map[string]string{
			"/console/": "no-store", "/console/knowledge": "no-store", "/console/nowhere": "no-store", style: "public, max-age=31536000, immutable",
		} {
			sent := func(as string) (http.Header, int) {
				r := servertest.Request(t, http.MethodGet, w.url+path, nil, "Accept-Encoding: "+as)
				_, header, body := servertest.Send(t, http.DefaultClient, r)
				return header, len(body)
			}
			_, plain := sent("identity")
			header, short := sent("gzip")
			if header.Get("Content-Encoding") != "gzip" || header.Get("Cache-Control") != cached || 2*short > plain {
				t.Errorf("%s has %d bytes instead of %d, with the header %v", path, short, plain, header)
			}
		}
		if status, _ := w.ask(style[:len(style)-5] + "0.css"); status != http.StatusNotFound {
			t.Errorf("a style of another version answers %d", status)
		}
	})
}

// The console can be put on a home screen. It has no worker, so nothing is kept that needs rights.
func TestTheConsoleCanBePutOnAHomeScreen(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		var manifest struct {
			Name, Scope, Display string
			StartURL             string `json:"start_url"`
			Icons                []struct{ Src, Type string }
		}
		status, said := w.ask("/console/manifest.webmanifest") // without a login
		if err := json.Unmarshal([]byte(said), &manifest); err != nil || status != http.StatusOK {
			t.Fatalf("%d %v: %s", status, err, said)
		}
		if manifest.Name != "Annals" || manifest.StartURL != "/console/" || manifest.Scope != "/console/" || manifest.Display != "standalone" {
			t.Errorf("got %+v", manifest)
		}
		for _, icon := range manifest.Icons {
			_, header, _ := servertest.Send(t, http.DefaultClient, servertest.Request(t, http.MethodGet, w.url+icon.Src, nil, "Accept: image/*"))
			if got := header.Get("Content-Type"); got != icon.Type {
				t.Errorf("%s is %q", icon.Src, got)
			}
		}
		var icons int
		p := w.open("/console/login")
		p.Eval(`fetch(document.querySelector("link[rel=manifest]").href).then((r) => r.json()).then((m) => m.icons.length)`, &icons)
		if icons != 2 {
			t.Errorf("the login page leads to %d icons", icons)
		}
	})
}

// Where the system chooses the colours, backgrounds are gone: what is chosen has a line around it or under it.
func TestWhatIsChosenIsSeenInForcedColours(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/review")
		p.ForcedColours()
		look := func(selector string) (shown string) {
			t.Helper()
			p.WaitFor(selector)
			p.Eval(`(() => { const s = getComputedStyle(document.querySelector("`+selector+`"));
				return [s.outlineStyle, s.textDecorationLine, s.borderBottomColor].join(" "); })()`, &shown)
			return shown
		}
		for path, pair := range map[string][2]string{
			"/console/review":                    {".side a[aria-current=page]", ".side a:not([aria-current])"},
			"/console/k/staging":                 {".tabs a[aria-current]", ".tabs a:not([aria-current])"},
			"/console/knowledge?type=definition": {".facets a[aria-current]", ".facets a:not([aria-current])"},
		} {
			p.Go(path)
			if chosen, other := look(pair[0]), look(pair[1]); chosen == other {
				t.Errorf("%s: both look like %q", path, chosen)
			}
		}
	})
}
