package console_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

func TestInNoAuthModeAReaderActsAsAnybodyUntilTheyStop(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "shared", Type: "tool", Content: "For all.", Scopes: []string{"public"}})
		p := w.open("/console/k/shared")
		p.Click(".who a")
		p.WaitFor("#Annals-Actor")
		p.Axe()
		p.Type("#Annals-Actor", "nobody in particular")
		p.Type("#Annals-On-Behalf-Of", "user:bo")
		p.Click("main button")
		p.WaitFor("#Annals-Actor-wrong")
		p.Eval(`document.getElementById("Annals-Actor").value = ""`, nil)
		p.Type("#Annals-Actor", "agent:coder")
		p.Click("main button")
		p.WaitFor("aside form")
		containsAll(t, p.URL(), "/console/k/shared")
		p.Axe()
		containsAll(t, p.Text("header"), "agent coder", "for bo")
		containsAll(t, p.Text("body"), "You act as agent coder, on behalf of bo.")
		var commands string
		p.Eval(`document.querySelector(".commands").textContent`, &commands)
		containsAll(t, commands, "-H 'Annals-Actor: agent:coder' -H 'Annals-On-Behalf-Of: user:bo'")
		p.Go("/console/k/shared/act/stale")
		p.Click("main form button")
		p.WaitFor("[role=status]")
		p.Click("aside form button")
		p.WaitFor("body:not(:has(aside form))")
		var got api.Page[api.Event]
		query := url.Values{"name": {"knowledge.reported_stale"}, "order": {"desc"}, "limit": {"1"}}
		if _, err := w.api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"v1", "events"}, Query: query}, &got); err != nil {
			t.Fatal(err)
		}
		if e := got.Items[0]; e.Actor != "agent:coder" || e.OnBehalfOf != "user:bo" || e.Authentication != "open" {
			t.Errorf("got %+v", e)
		}
	})
}

func TestAChoiceThatTheAPIRefusesEndsAndItsFormWritesNothing(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		w.remember(client.Knowledge{ID: "shared", Type: "tool", Content: "For all.", Scopes: []string{"public"}})
		var desk api.IssuedKey
		wanted := map[string]any{"subject": "agent:desk", "role": "admin", "acts_for": true}
		if _, err := w.api.Do(t.Context(), client.Post(wanted, "v1", "keys"), &desk); err != nil {
			t.Fatal(err)
		}
		browser := w.login(desk.Key)
		for member, send := range map[string]func() (int, string){
			"user:mia":    func() (int, string) { return w.send(browser, "/console/k/shared/act/stale", "revision", "1") },
			"agent:coder": func() (int, string) { return w.visit(browser, "/console/") },
		} {
			_, page := w.send(browser, "/console/acting", "Annals-On-Behalf-Of", member)
			containsAll(t, page, `on behalf of <bdi title="`+member)
			if _, err := w.api.Do(t.Context(), client.Post(nil, "v1", "directory", member, "deactivate"), nil); err != nil {
				t.Fatal(err)
			}
			status, page := send()
			if refused := strings.Contains(page, "so nothing was done") && strings.Contains(page, member+" was deactivated"); refused != (status == http.StatusForbidden) || refused != (member == "user:mia") {
				t.Errorf("%s: %d\n%s", member, status, page)
			}
			if _, page = w.visit(browser, "/console/"); strings.Contains(page, "on behalf of") || !strings.Contains(page, "agent:desk") {
				t.Errorf("the choice does not end:\n%s", page)
			}
		}
		if k, err := w.api.Knowledge(t.Context(), "shared"); err != nil || k.Stale.Reporters > 0 {
			t.Errorf("%+v, %v", k, err)
		}
		_, page := w.send(browser, "/console/acting", "Annals-On-Behalf-Of", "user:mia")
		containsAll(t, page, "user:mia was deactivated", `value="user:mia"`)
	})
}

func TestOnlyAKeyThatMayActForOthersDoes(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		mia, _ := w.given("user:mia")
		for key, want := range map[string]int{rootKey: http.StatusOK, mia: http.StatusNotFound} {
			c := cookieClient(t)
			send := func(path string, form url.Values) (int, string) {
				r := servertest.Request(t, http.MethodPost, w.url+path, form.Encode(), "Content-Type: application/x-www-form-urlencoded")
				status, _, body := servertest.Send(t, c, r)
				return status, string(body)
			}
			send("/console/login", url.Values{"key": {key}})
			if status, _ := get(t, c, w.url+"/console/acting"); status != want {
				t.Errorf("the form: got %d, want %d", status, want)
			}
			status, body := send("/console/acting", url.Values{"Annals-On-Behalf-Of": {"user:bo"}, "Annals-Actor": {"user:eve"}})
			if key == mia {
				if status != http.StatusForbidden {
					t.Errorf("a key that acts for nobody else: got %d", status)
				}
				at, err := url.Parse(w.url + "/console/")
				if err != nil {
					t.Fatal(err)
				}
				kept := []*http.Cookie{{Name: "annals-acting", Value: "Annals-On-Behalf-Of=user%3Abo", Path: "/console/"}}
				c.Jar.SetCookies(at, kept) // from when the key had the right
				_, _, page := servertest.Send(t, c, servertest.Request[string](t, http.MethodGet, w.url+"/console/", nil))
				if slices.ContainsFunc(c.Jar.Cookies(at), func(c *http.Cookie) bool { return c.Name == kept[0].Name }) || !strings.Contains(string(page), "user:mia") {
					t.Error("a choice that the API refuses does not end")
				}
				continue
			}
			if status != http.StatusSeeOther {
				t.Fatalf("got %d: %s", status, body)
			}
			r := servertest.Request[string](t, http.MethodGet, w.url+"/console/", nil)
			_, _, page := servertest.Send(t, c, r)
			containsAll(t, string(page), `on behalf of <bdi title="user:bo">`)
			send("/console/login", url.Values{"key": {mia}}) // another user of the browser
			_, _, page = servertest.Send(t, c, servertest.Request[string](t, http.MethodGet, w.url+"/console/", nil))
			if !strings.Contains(string(page), "user:mia") || strings.Contains(string(page), "user:bo") {
				t.Error("the next user of the browser acts for somebody")
			}
		}
	})
}
