package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// Programs follow links to preview them. That opens no invitation.
func TestAnInvitationSaysWhatItIsUntilItIsOpened(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		admin := w.login(rootKey)
		_, page := w.send(admin, "/console/access/invite", "display_name", "Mia", "subject", "user:mia", "role", "member", "memberships", "team:pay", "lasts", "for a week")
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
