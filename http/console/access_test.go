package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/servertest"
)

// login is a browser without scripts that has logged in with a key.
func (w *world) login(key string) *http.Client {
	w.t.Helper()
	browser := browse(w.t)
	if status, page := w.send(browser, "/console/login", "key", key); status != http.StatusOK {
		w.t.Fatalf("log in: %d\n%s", status, page)
	}
	return browser
}

// visit asks for a page with a browser without scripts.
func (w *world) visit(browser *http.Client, path string) (int, string) {
	w.t.Helper()
	status, _, page := servertest.Send(w.t, browser, servertest.Request[string](w.t, http.MethodGet, w.url+path, nil))
	return status, string(page)
}

// valueOf is the value of a field, its values if it has several, or the text of a text area.
func valueOf(t *testing.T, page, name string) string {
	t.Helper()
	is := func(n *html.Node) bool { return attribute(n, "name") == name || attribute(n, "id") == name }
	fields := elements(t, page, is)
	if len(fields) == 0 {
		t.Fatalf("no field %s in:\n%s", name, page)
	}
	if fields[0].Data == "textarea" {
		return said(fields[0])
	}
	values := attribute(fields[0], "value")
	for _, field := range fields[1:] {
		if attribute(field, "list") != "" { // of several entities
			values += "\n" + attribute(field, "value")
		}
	}
	return strings.TrimSpace(values)
}

var keyForm = regexp.MustCompile(`annals_([a-z2-7]{10})_[a-z2-7]{52}`)

func TestAKeyIsShownInTheAnswerToItsFormAlone(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		_, page := w.visit(browser, "/console/access")
		form := []string{
			"once", valueOf(t, page, "once"), "subject", "agent:crawler", "role", "service",
			"memberships", "team:pay\r\n\r\nteam:web", "acts_for", "1", "expires_at", "2999-01-31", "note", "nightly",
		}
		status, page := w.send(browser, "/console/access", form...)
		key := valueOf(t, page, "key")
		if status != http.StatusCreated || !keyForm.MatchString(key) {
			t.Fatalf("%d\n%s", status, page)
		}
		me, err := w.as(key).Whoami(t.Context())
		if err != nil || me.Subject != "agent:crawler" || me.Role != "service" || len(me.Memberships) != 2 {
			t.Errorf("%+v, %v", me, err)
		}
		status, page = w.send(browser, "/console/access", form...)
		if keyForm.MatchString(page) || !strings.Contains(page, "This form was sent before") {
			t.Errorf("sent again: %d\n%s", status, page)
		}
		_, page = w.visit(browser, "/console/access")
		if keyForm.MatchString(page) {
			t.Errorf("the list has the key:\n%s", page)
		}
		containsAll(t, page, "agent:crawler", "team:pay, team:web", "acts for others", "2999-01-31", "/rotate", "/revoke")
	})
}

func TestARefusedKeyLosesNothingThatWasTyped(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		const hostile = `"><script>alert(1)</script></textarea>`
		status, page := w.send(w.login(rootKey), "/console/access", "subject", "mia"+hostile, "role", "auditor",
			"memberships", "team:pay\npay"+hostile, "publish_public", "1", "expires_at", "soon", "note", hostile)
		if status != http.StatusUnprocessableEntity {
			t.Fatalf("%d\n%s", status, page)
		}
		for name, want := range map[string]string{
			"subject": "mia" + hostile, "memberships": "team:pay\npay" + hostile, "expires_at": "soon", "note": hostile,
		} {
			if got := valueOf(t, page, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		for _, name := range []string{"subject", "memberships", "expires_at"} {
			wrong := elements(t, page, func(n *html.Node) bool { return attribute(n, "id") == name+"-wrong" })
			if len(wrong) != 1 || !strings.Contains(said(wrong[0]), "must") {
				t.Errorf("%s has no message", name)
			}
		}
		containsAll(t, page, `value="auditor" selected`, ` checked`)
		for _, bad := range elements(t, page, isDangerous) {
			t.Errorf("<%s %v>", bad.Data, bad.Attr)
		}
	})
}

func TestARotatedKeyStaysValidForTheOverlap(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		for overlap, stays := range map[string]bool{"for an hour": true, "not at all": false} {
			old, prefix := w.given("user:mia")
			path := "/console/access/" + prefix + "/rotate"
			if status, page := w.visit(browser, path); status != http.StatusOK || !strings.Contains(page, "user:mia") {
				t.Fatalf("%d\n%s", status, page)
			}
			status, page := w.send(browser, path, "overlap", overlap)
			if status != http.StatusCreated {
				t.Fatalf("%d\n%s", status, page)
			}
			containsAll(t, page, "The old key is valid until", prefix)
			if _, err := w.as(valueOf(t, page, "key")).Whoami(t.Context()); err != nil {
				t.Errorf("the new key: %v", err)
			}
			if _, err := w.as(old).Whoami(t.Context()); (err == nil) != stays {
				t.Errorf("%s: the old key: %v", overlap, err)
			}
			if status, page := w.send(browser, path, "overlap", overlap); status != http.StatusConflict {
				t.Errorf("rotated twice: %d\n%s", status, page)
			}
		}
	})
}

func TestARevocationNamesItsKeyAndItsConsequence(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		key, prefix := w.given("user:mia")
		path := "/console/access/" + prefix + "/revoke"
		_, page := w.visit(browser, path)
		containsAll(t, said(named(t, page, "main", "")[0]), prefix, "mia", "cannot be undone")
		if _, err := w.as(key).Whoami(t.Context()); err != nil {
			t.Fatalf("it was revoked without a form: %v", err)
		}
		const hostile = "<script>alert(1)</script>"
		status, page := w.send(browser, path, "reason", hostile)
		if status != http.StatusOK || strings.Contains(page, prefix) {
			t.Errorf("%d\n%s", status, page)
		}
		containsAll(t, page, "The key is revoked.", "Keys that are not valid any more: 1")
		_, page = w.visit(browser, "/console/access?show=all")
		containsAll(t, page, prefix, "revoked")
		_, page = w.visit(browser, "/console/log?name=key.revoked")
		if strings.Contains(page, hostile) || !strings.Contains(page, html.EscapeString(hostile)) {
			t.Errorf("the reason is not escaped:\n%s", page)
		}
		for _, path := range []string{path, "/console/access/aaaaaaaaaa/revoke", "/console/access/" + prefix + "/erase"} {
			if status, _ := w.visit(browser, path); status != http.StatusNotFound {
				t.Errorf("%s: %d", path, status)
			}
		}
	})
}

func TestOnlyAdminsSeeKeys(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		key, prefix := w.given("user:mia")
		member, root := w.login(key), w.login(rootKey)
		for _, path := range []string{"/console/access", "/console/access/tenants", "/console/access/" + prefix + "/revoke"} {
			status, page := w.visit(member, path)
			if status != http.StatusForbidden || strings.Contains(page, `href="/console/access"`) {
				t.Errorf("%s: %d\n%s", path, status, page)
			}
		}
		if status, _ := w.send(member, "/console/access", "subject", "user:bob"); status != http.StatusForbidden {
			t.Errorf("a member creates a key: %d", status)
		}
		if status, _ := w.send(member, "/console/access/"+prefix+"/revoke"); status != http.StatusForbidden {
			t.Errorf("a member revokes a key: %d", status)
		}
		status, page := w.send(root, "/console/access/tenants", "name", "acme")
		if status != http.StatusOK {
			t.Errorf("a tenant: %d\n%s", status, page)
		}
		containsAll(t, page, "The tenant is created.", "acme", `href="/console/access"`)
		status, page = w.send(root, "/console/access/tenants", "name", "Not So")
		if status != http.StatusUnprocessableEntity || valueOf(t, page, "name") != "Not So" {
			t.Errorf("a wrong name: %d\n%s", status, page)
		}
		if status, _ := w.send(root, "/console/access?as_of=1", "subject", "user:bob"); status != http.StatusConflict {
			t.Errorf("a key in the past: %d", status)
		}
	})
}

func TestTheFirstKeyIsAnAdminsAndEndsNoAuthMode(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		status, page := w.ask("/console/access")
		if status != http.StatusOK {
			t.Fatalf("%d\n%s", status, page)
		}
		containsAll(t, page, `value="admin" selected`, "The first key ends no-auth mode", "only root rebuilds")
		status, page = w.send(browse(t), "/console/access", "subject", "user:mia", "role", "member")
		if status != http.StatusConflict || valueOf(t, page, "subject") != "user:mia" {
			t.Fatalf("%d\n%s", status, page)
		}
		_, page = w.send(browse(t), "/console/access", "subject", "user:mia", "role", "admin")
		containsAll(t, page, "This was the first key", `href="/console/login"`)
		if strings.Contains(page, "No-auth mode") {
			t.Error("the page says that every caller is accepted")
		}
		_, page = w.visit(w.login(valueOf(t, page, "key")), "/console/access")
		containsAll(t, page, "your own")
	})
}

// A key is listed for a scope if and only if the API gives it an item of that scope.
func TestAReportSaysWhoCanReadAScopeAndWhy(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		for _, scope := range []string{"team:pay", "user:bob"} {
			id := strings.ReplaceAll(scope, ":", "-")
			w.remember(client.Knowledge{ID: id, Type: "tool", Content: "for " + scope, Owner: "user:owner", Scopes: []string{scope}})
		}
		keys := map[string]string{} // by subject
		for subject, rest := range map[string][]string{
			"user:mia": {"role", "member", "memberships", "team:pay"}, "user:bob": {"role", "member"},
			"user:ada": {"role", "admin"}, "user:eve": {"role", "auditor"}, "agent:helper": {"role", "service"},
		} {
			status, page := w.send(browser, "/console/access", append([]string{"subject", subject}, rest...)...)
			if status != http.StatusCreated {
				t.Fatalf("%d\n%s", status, page)
			}
			keys[subject] = keyForm.FindString(page)
		}
		for scope, why := range map[string]string{"team:pay": "stated by the key", "user:bob": "their own, or public"} {
			_, page := w.visit(browser, "/console/reports/access?scope="+scope)
			containsAll(t, page, why, "by the role of the key")
			for subject, key := range keys {
				_, err := w.as(key).Knowledge(t.Context(), strings.ReplaceAll(scope, ":", "-"))
				if got := strings.Contains(page, `actor=`+url.QueryEscape(subject)+`"`); got != (err == nil) {
					t.Errorf("%s is listed for %s: %t, the API says %v", subject, scope, got, err)
				}
			}
		}
	})
}

func TestTheRevocationOfTheLastAdminSaysSo(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		var revocations []string
		for _, subject := range []string{"user:ada", "user:eve"} {
			_, page := w.send(browser, "/console/access", "subject", subject, "role", "admin")
			prefix := keyForm.FindStringSubmatch(page)[1]
			revocations = append(revocations, "/console/access/"+prefix+"/revoke")
		}
		if _, page := w.visit(browser, revocations[0]); strings.Contains(page, "the last key") {
			t.Error("there is another admin")
		}
		w.send(browser, revocations[0])
		_, page := w.visit(browser, revocations[1])
		containsAll(t, page, "This is the last key that administers the tenant", "Only the root key of the server")
	})
}

func TestAnAdminCreatesUsesAndRevokesAKey(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		admin := w.open("/console/access")
		signIn := func(p *browsertest.Page, key string) {
			p.Type("#key", key)
			p.Click("main button")
			p.WaitFor("nav")
		}
		signIn(admin, rootKey)
		admin.Type("#subject", "user:mia")
		admin.Axe()
		admin.Click("main details button")
		admin.WaitFor("textarea#key[readonly]")
		admin.Axe()
		var key string
		admin.Eval("document.getElementById('key').value", &key)
		mia := w.open("/console/log")
		signIn(mia, key)
		containsAll(t, mia.Text(".who"), "mia")
		if mia.Count("nav a[href='/console/access']") != 0 {
			t.Error("a member sees the entry of the keys")
		}
		admin.Go("/console/access")
		admin.Axe()
		admin.Click("td a[href$='/rotate']")
		admin.WaitFor("#overlap")
		admin.Axe()
		admin.Go("/console/access/" + keyForm.FindStringSubmatch(key)[1] + "/revoke")
		containsAll(t, admin.Text("main"), "mia")
		admin.Type("#reason", "lost")
		admin.Axe()
		admin.Click("button.danger")
		admin.WaitFor(".done")
		mia.Go("/console/log")
		mia.WaitFor("#key")
	})
}

func TestAKeyOfASubjectThatTheDirectoryLacksIsMarked(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		browser := w.login(rootKey)
		for _, subject := range []string{"user:mia", "user:nobody"} {
			w.sent(w.send(browser, "/console/access", "subject", subject, "role", "member"))
		}
		if _, page := w.visit(browser, "/console/access"); strings.Contains(page, "unknown subject") {
			t.Errorf("there is no directory:\n%s", page)
		}
		w.staff()
		_, page := w.visit(browser, "/console/access")
		if strings.Count(page, "unknown subject") != 1 || !strings.Contains(page, `nobody</bdi></a> <span class="badge warn">unknown subject</span>`) {
			t.Errorf("%s", page)
		}
	})
}
