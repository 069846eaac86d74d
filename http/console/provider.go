package console

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

const (
	attemptLasts    = 5 * time.Minute
	providerPath    = Root + "login/oidc"
	providersTokens = "jwt:" // how the API calls callers with a token
)

// onward is a page that leads on by itself. A redirect would not do: after a login the browser has come from the
// provider, and would not send the session's cookie (SameSite=Strict). After a form was sent, the content policy
// forbids a redirect to another website.
type onward struct{ Title, Label, Address string }

// toProvider sends a browser to the provider.
func (c *Console) toProvider(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	next := localPath(p.param("next"))
	address, attempt, err := c.cfg.Provider.Begin(r.Context(), c.redirect(p), next)
	if err != nil {
		c.notLoggedIn(p, next, err)
		return
	}
	setAttempt(w, r, attempt)
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// fromProvider exchanges the provider's answer for a session.
func (c *Console) fromProvider(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	name, _ := attemptCookie(r)
	attempt, err := r.Cookie(name)
	if err != nil {
		attempt = &http.Cookie{}
	}
	setAttempt(w, r, "")
	idToken, ends, next, err := c.cfg.Provider.Finish(r.Context(), attempt.Value, c.redirect(p), p.Query)
	token, expires := "", time.Time{}
	if err == nil {
		token, expires, err = c.cfg.OpenLogin(r.Context(), idToken, ends)
	}
	if err != nil {
		c.notLoggedIn(p, Root, err)
		return
	}
	setSession(w, r, token, expires)
	setActingAs(w, r, nil)
	p.Data = onward{"You are logged in", "Continue", localPath(next)}
	p.render("onward", http.StatusOK)
}

// notLoggedIn shows the login page again. Only the log says why.
func (c *Console) notLoggedIn(p *page, next string, err error) {
	c.cfg.Logger.WarnContext(p.r.Context(), "login at the provider", "error", err)
	refused := "The login at the provider did not succeed. Try again, or ask an admin: the server's log says why."
	c.showLogin(p, login{Next: next, Refused: refused}, http.StatusUnauthorized)
}

func (c *Console) redirect(p *page) string {
	return cmp.Or(c.cfg.Redirect, p.Origin()+providerPath+"/callback")
}

// attemptCookie is the cookie of a login at the provider. Under TLS its name makes browsers refuse one that another
// host set, which could log the user in as somebody else.
func attemptCookie(r *http.Request) (name, path string) {
	if r.TLS != nil {
		return "__Host-annals-login", "/"
	}
	return "annals-login", providerPath
}

// setAttempt keeps an attempt; an empty one ends it. The provider's website leads back, so the cookie is Lax.
func setAttempt(w http.ResponseWriter, r *http.Request, attempt string) {
	name, path := attemptCookie(r)
	setCookie(w, r, http.Cookie{
		Name: name, Value: attempt, Path: path, MaxAge: int(attemptLasts.Seconds()), SameSite: http.SameSiteLaxMode,
	})
}

// providersEnd is the address at which the provider ends its own session; empty if the caller has none there.
func (c *Console) providersEnd(w http.ResponseWriter, r *http.Request) string {
	if c.cfg.Provider == nil {
		return ""
	}
	p := c.page(w, r)
	var caller api.Identity
	_, err := p.api.Do(r.Context(), client.Get("v1", "whoami"), &caller)
	if err != nil || !strings.HasPrefix(caller.Authentication, providersTokens) {
		return ""
	}
	back := strings.TrimSuffix(c.redirect(p), "/oidc/callback")
	return c.cfg.Provider.End(r.Context(), back)
}
