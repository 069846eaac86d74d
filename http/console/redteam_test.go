package console_test

import (
	"archive/zip"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/servertest"
)

// attack runs a script, leads away, turns the text around and is a long word.
const attack = `"'></textarea></title><script>ran=1</script><img src=x onerror=ran=1><svg onload=ran=1>` +
	`<a href="javascript:ran=1" hx-get="/v1/keys">x</a>[x](javascript:ran=1){{.}}${ran=1}` + "\u202e\u200b"

var longWord = strings.Repeat("W", 300)

// attacked is a world with the attack in each text that anybody may write. It returns the pages that must show it.
func (w *world) attacked(browser *http.Client) []string {
	w.t.Helper()
	ctx := w.t.Context()
	k := hostileKnowledge(attack)
	k.ID, k.Content = "staging", attack+longWord
	w.remember(k)
	revised := client.Knowledge{Content: longWord + attack, Reason: attack}
	for _, err := range []error{
		last(w.api.GiveFeedback(ctx, "staging", client.Vote{Verdict: "helpful", Query: attack, Outcome: attack})),
		last(w.api.GiveFeedback(ctx, "staging", client.Vote{Verdict: "harmful", Query: longWord, Outcome: longWord})),
		last(w.api.Revise(ctx, "staging", revised)),
		last(w.api.ReportStale(ctx, "staging", attack)),
		w.api.Say(ctx, "planning", client.Message{Role: "user", Content: "Remember: I prefer " + attack + longWord}),
		last(w.api.CommitSession(ctx, "planning", "stated")),
	} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	const key = `<img src=x onerror=ran=1><script>ran=1</script>`
	w.sent(w.send(browser, "/console/access", "subject", "user:bob", "role", "member", "note", key))
	w.sent(w.sendFile(browser, "/console/resources", `<img src=x onerror=ran=1>.md`, attack, "reason", attack))
	order := []string{"of", "user:mia", "typed", "user:mia", "legal_basis", key}
	if status, _ := w.send(browser, "/console/privacy/plan", append(order, "ticket", attack)...); status != http.StatusUnprocessableEntity {
		w.t.Errorf("a ticket with markup: %d", status)
	}
	status, erasure := w.send(browser, "/console/privacy/plan", order...)
	w.sent(status, erasure)
	at, _, _ := strings.Cut(erasure[strings.Index(erasure, "/console/privacy/01"):], `"`)
	return []string{
		"/console/k/staging", "/console/k/staging/raw", "/console/k/staging/blame", "/console/knowledge",
		"/console/k/staging/act/revise", "/console/sessions/planning", strings.TrimSuffix(at, "/certificate"),
		"/console/search?q=" + url.QueryEscape(attack), "/console/k/staging?text=markdown",
	}
}

func (w *world) sent(status int, page string) {
	w.t.Helper()
	if status >= http.StatusBadRequest {
		w.t.Fatalf("%d\n%s", status, page)
	}
}

// addresses are those of all pages of a method, of what attacked made.
func addresses(method string) (all []string) {
	names := strings.NewReplacer("{$}", "", "{tab}", "blame", "{name}", "past", "{prefix}", "none", "{entity}", "user:mia")
	for _, pattern := range console.Patterns() {
		of, path, _ := strings.Cut(pattern, " ")
		if of != method {
			continue
		}
		id, act := "staging", "confirm"
		for under, is := range map[string]string{"sessions/": "planning", "log/": "1", "privacy/": "none"} {
			if strings.HasPrefix(path, console.Root+under) {
				id = is
			}
		}
		if strings.HasPrefix(path, console.Root+"projections/") {
			act = "rebuild"
		} else if strings.HasPrefix(path, console.Root+"access/") {
			act = "revoke"
		}
		all = append(all, strings.NewReplacer("{id}", id, "{act}", act).Replace(names.Replace(path)))
	}
	return all
}

// hostileQuery has the attack in each parameter that some page reads, except those named.
func hostileQuery(except ...string) string {
	query := url.Values{}
	for name := range strings.FieldsSeq("q as_of vs cursor next review queue kind type name actor stream from to text tag uri of id said stage " +
		"scope owner sort order show list format expect event done min_confidence on_behalf_of why with_lineage findings") {
		if !slices.Contains(except, name) {
			query.Set(name, attack)
		}
	}
	return "?" + query.Encode()
}

func TestWhatAgentsWroteStaysTextOnEveryPage(t *testing.T) {
	databasetest.Slow(t)
	each(t, rootKey, func(t *testing.T, w *world) {
		shown := w.attacked(w.login(rootKey))
		p := browsertest.Open(t, w.url) // fails the test if the content policy is broken or a dialog opens
		p.Size(360, 900)
		p.Go("/console/login")
		p.Type("#key", rootKey)
		p.Click("main button")
		p.WaitFor(".menu")
		all := slices.Concat(shown, addresses(http.MethodGet))
		for _, path := range addresses(http.MethodGet) {
			all = append(all, path+hostileQuery(), path+hostileQuery("as_of", "vs", "cursor"))
		}
		slices.Sort(all)
		for _, path := range slices.Compact(all) {
			if file, _, _ := strings.Cut(path, "?"); strings.HasSuffix(file, "/csv") || strings.HasSuffix(file, "/evidence") {
				continue
			}
			p.Go(path)
			var ran bool
			p.Eval("'ran' in window", &ran)
			if bad := p.Count("main script, main img, main svg[onload], a[href^='javascript' i], [hx-get^='/v1']"); ran || bad != 0 {
				t.Errorf("%s: a script ran: %v; elements of the text: %d", path, ran, bad)
			}
			var wide int
			if p.Eval("document.documentElement.scrollWidth", &wide); wide > 360 {
				t.Errorf("%s is %d pixels wide", path, wide)
			}
			var text string
			p.Eval("document.getElementById('main').innerHTML", &text)
			if slices.Contains(shown, path) && !strings.Contains(text, "ran=1") {
				t.Errorf("%s does not show what was written", path)
			}
		}
	})
}

// newest is the newest event.
func (w *world) newest() string {
	w.t.Helper()
	_, _, body := servertest.Send(w.t, http.DefaultClient, servertest.Request(w.t, http.MethodGet, w.url+"/v1/events?order=desc&limit=1",
		nil, "Authorization: Bearer "+rootKey))
	return string(body)
}

func TestNoPageOfAnotherWebsiteWrites(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.tell()
		browser, before := w.login(rootKey), w.newest()
		for _, path := range append(addresses(http.MethodPost), "/console/login", "/console/logout", "/console/preferences") {
			for _, from := range []string{"Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
				status, header, page := servertest.Send(t, browser, servertest.Request(t, http.MethodPost, w.url+path, "reason=x&subject=user:eve",
					"Content-Type: application/x-www-form-urlencoded", from))
				if status != http.StatusForbidden || header.Get("Set-Cookie") != "" || !strings.Contains(string(page), "another website") {
					t.Errorf("POST %s with %s: %d", path, from, status)
				}
				protected(t, path, header)
			}
		}
		if after := w.newest(); after != before {
			t.Errorf("another website wrote %s", after)
		}
	})
}

func TestNoPageWritesWhenItIsRead(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.tell()
		browser, before := w.login(rootKey), w.newest()
		const form = "?reason=x&subject=user:eve&of=user:default&typed=user:default&once=1&uri=viking://resources&content=x&type=tool&verdict=helpful"
		for _, path := range append(addresses(http.MethodGet), "/console/k/staging/act/retract", "/console/logout", "/console/preferences", "/console/export") {
			for _, address := range []string{path, path + form} {
				_, header, page := servertest.Send(t, browser, servertest.Request[string](t, http.MethodGet, w.url+address, nil))
				protected(t, address, header)
				if strings.Contains(string(page), rootKey) {
					t.Errorf("%s has the reader's key", address)
				}
			}
		}
		time.Sleep(100 * time.Millisecond) // for what would be written in the background
		if after := w.newest(); after != before {
			t.Errorf("reading wrote %s", after)
		}
	})
}

// protected tests that no website can show an answer in a frame, and that browsers do not guess its type.
func protected(t *testing.T, path string, header http.Header) {
	t.Helper()
	if !strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
		header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Referrer-Policy") == "" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s is answered with %v", path, header)
	}
	if header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%s can be read by other websites", path)
	}
}

func TestInNoAuthModeAForeignNameShowsNothing(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		for _, path := range addresses(http.MethodGet) {
			request := servertest.Request[string](t, http.MethodGet, w.url+path, nil)
			request.Host = "rebound.example"
			_, header, page := servertest.Send(t, http.DefaultClient, request)
			protected(t, path, header)
			if strings.Contains(string(page), "rebuilt every") || strings.Contains(string(page), `method="post" action="/console/k`) {
				t.Errorf("%s tells a website that points its name at this machine:\n%s", path, page)
			}
		}
	})
}

func TestABrowserThatLeavesIsNoErrorOfTheServer(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		inner, err := client.New(client.Config{Server: w.url, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(inner.Close)
		answer := httptest.NewRecorder()
		console.New(console.Config{API: inner}).ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/console/log", nil))
		if answer.Code != 499 {
			t.Errorf("the log has an error %d:\n%s", answer.Code, answer.Body)
		}
	})
}

func TestAHostileUploadIsRefusedAsAWhole(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		archive := func(names ...string) string {
			var out bytes.Buffer
			files := zip.NewWriter(&out)
			for _, name := range names {
				file, err := files.Create(name)
				if err == nil {
					_, err = file.Write(make([]byte, 1<<20)) // a thousandth of it in the archive
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := files.Close(); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		large := make([]string, 300)
		for i := range large {
			large[i] = strconv.Itoa(i) + ".md"
		}
		for what, content := range map[string]string{
			"names a file outside itself": archive("fine.md", "../../etc/evil.md"), "divide it into several": archive(large...),
		} {
			status, page := w.sendFile(browser, "/console/resources", "a.zip", content)
			if status != http.StatusBadRequest || !strings.Contains(page, what) {
				t.Errorf("%s: %d", what, status)
			}
		}
		for name, place := range map[string]string{"../../../etc/passwd.md": "passwd", `..\..\passwd.md`: "______passwd"} {
			status, page := w.sendFile(browser, "/console/resources", name, "# A name")
			if status != http.StatusOK || !strings.Contains(page, "viking://resources/"+place) {
				t.Errorf("%s: %d\n%s", name, status, page)
			}
		}
		for _, kind := range []string{"multipart/form-data; boundary=x", "multipart/form-data"} {
			for _, path := range []string{"/console/resources", "/console/people/import"} {
				status, _, page := servertest.Send(t, browser, servertest.Request(t, http.MethodPost, w.url+path, "--x\r\nbroken",
					"Content-Type: "+kind))
				if status != http.StatusBadRequest || !strings.Contains(string(page), "did not arrive as a whole") {
					t.Errorf("%s, %s: %d", path, kind, status)
				}
			}
		}
	})
}

func TestAMemberReadsNothingOfOthersOnAnyPage(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		const secret = "The secret of the others."
		w.remember(client.Knowledge{ID: "staging", Type: "tool", Task: secret, Content: secret, Scopes: []string{"user:default"}})
		if err := w.api.Say(t.Context(), "planning", client.Message{Role: "user", Content: secret}); err != nil {
			t.Fatal(err)
		}
		w.sent(w.send(w.login(rootKey), "/console/access/tenants", "name", "acme"))
		_, prefix := w.given("user:bob")
		key, _ := w.given("user:mia")
		mia := w.login(key)
		for _, path := range append(addresses(http.MethodGet), "/console/search?q=secret", "/console/export", "/console/export?list=knowledge",
			"/console/sessions/planning?owner=user:default", "/console/see-as?stage=query&said=secret", "/console/privacy/plan?of=staging") {
			status, page := w.visit(mia, strings.Replace(path, "access/none", "access/"+prefix, 1))
			if strings.Contains(page, secret) || strings.Contains(page, prefix) && !strings.Contains(path, "access/") || strings.Contains(page, "acme") {
				t.Errorf("%s tells it", path)
			}
			hidden := strings.HasPrefix(path, "/console/k/") || strings.HasPrefix(path, "/console/sessions/")
			if hidden && status != http.StatusNotFound || strings.HasPrefix(path, "/console/access") && status != http.StatusForbidden {
				t.Errorf("%s: %d", path, status)
			}
		}
	})
}

func TestAnAuditorIsOfferedNoForm(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.tell()
		root := w.login(rootKey)
		w.sendFile(root, "/console/resources", "guide.md", "# Guide")
		_, page := w.send(root, "/console/access", "subject", "user:otto", "role", "auditor")
		otto := w.login(keyForm.FindString(page))
		for _, path := range append(addresses(http.MethodGet), "/console/knowledge/acts?id=staging",
			"/console/resources?uri=viking://resources/guide") {
			_, page := w.visit(otto, path)
			for _, form := range named(t, page, "form", "") {
				to := attribute(form, "action")
				if attribute(form, "method") == "post" && to != "/console/preferences" && to != "/console/logout" {
					t.Errorf("%s offers %s", path, to)
				}
			}
		}
	})
}
