package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
)

// An admin invites a colleague with four clicks. The colleague finds what the team knows with two: to accept, and to
// leave the page with their key.
func TestAColleagueIsInvitedAndFindsWhatTheTeamKnows(t *testing.T) {
	each(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{Type: "strategy", Content: "We deploy on Tuesdays.", Owner: "team:pay", Scopes: []string{"team:pay"}})
		admin := w.open("/console/login")
		admin.Type("#key", rootKey)
		admin.Press("Enter")
		clicks := 0
		click := func(p *browsertest.Page, selector, then string) {
			p.Click(selector)
			p.WaitFor(then)
			clicks++
		}
		click(admin, `nav a[href="/console/health"]`, `nav a[href="/console/access"]`)
		click(admin, `nav a[href="/console/access"]`, `main a[href$="/invite"]`)
		click(admin, `main a[href$="/invite"]`, "#subject")
		admin.Axe()
		admin.Type("#subject", "user:mia")
		admin.Type("#memberships", "team:pay")
		click(admin, "main form[method=post] button", "#link")
		admin.Axe()
		var link string
		admin.Eval(`document.querySelector("#link").value`, &link)

		mia := w.open(strings.TrimPrefix(link, w.url))
		mia.WaitFor("main button[name=accept]")
		var address string
		if mia.Eval("location.href", &address); strings.Contains(address, "annals_") {
			t.Errorf("the code is in the address: %s", address)
		}
		containsAll(t, mia.Text("main"), "Invited by", "mia", "team:pay")
		mia.Axe()
		click(mia, "main form[method=post] button", "#key")
		mia.Axe()
		containsAll(t, mia.Text("pre"), "annals install --server "+w.url+" --api-key annals_")
		click(mia, `main a[href="/console/"]`, "input[type=search]")
		mia.Type("input[type=search]", "deploy")
		mia.Press("Enter")
		mia.WaitFor(".hit")
		containsAll(t, mia.Text(".hits"), "We deploy on Tuesdays.")
		if clicks != 6 {
			t.Errorf("%d clicks", clicks)
		}
	})
}

// Programs follow links to preview them. That opens no invitation.
func TestAnInvitationSaysWhatItIsUntilItIsOpened(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		admin := w.login(rootKey)
		_, page := w.send(admin, "/console/access/invite", "subject", "user:mia", "role", "member", "memberships", "team:pay", "lasts", "for a week")
		link := strings.TrimPrefix(valueOf(t, page, "link"), w.url)
		before, code, _ := strings.Cut(link, "#code=") // no browser sends what is behind the #
		_, keys := w.visit(admin, "/console/access")
		containsAll(t, keys, "invited</span>", "/revoke")
		for range 2 {
			if status, page := w.ask(before + "?code=" + code); status != http.StatusOK || valueOf(t, page, "code") != "" {
				t.Errorf("%d\n%s", status, page)
			}
			status, page := w.send(browse(t), before, "code", code)
			if status != http.StatusOK || keyForm.FindString(page) != code {
				t.Errorf("%d\n%s", status, page)
			}
			containsAll(t, page, "Invited by", "user:mia", "team:pay")
		}
		mia := browse(t)
		_, page = w.send(mia, "/console/invited", "code", code, "accept", "true")
		if key := valueOf(t, page, "key"); key == code || !keyForm.MatchString(key) {
			t.Errorf("the key is %s", key)
		}
		for _, again := range []string{code, code[:len(code)-1], ""} {
			if status, page := w.send(browse(t), "/console/invited", "code", again); status != http.StatusUnauthorized {
				t.Errorf("%d\n%s", status, page)
			}
		}
		status, page := w.send(browse(t), "/console/invited", "code", code, "accept", "true")
		if status != http.StatusUnauthorized {
			t.Errorf("%d\n%s", status, page)
		}
		containsAll(t, page, "the invitation was opened before")
	})
}
