package console

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/client"
)

// The cookie of a session. Under TLS its name makes browsers refuse one that another host or an unprotected page set.
const (
	sessionCookie = "annals"
	secureCookie  = "__Host-annals"
)

func sessionCookieName(r *http.Request) string {
	if r.TLS != nil {
		return secureCookie
	}
	return sessionCookie
}

// sessionOf is the session's token; empty if the browser has none.
func sessionOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookieName(r))
	if err != nil {
		return ""
	}
	return cookie.Value
}

func setSession(w http.ResponseWriter, r *http.Request, token string, expires time.Time) {
	setCookie(w, r, http.Cookie{Name: sessionCookieName(r), Value: token, Path: "/", Expires: expires})
}

// setCookie keeps a value in the browser, which no script may read and, by default, no other site send; an empty one
// ends the cookie.
func setCookie(w http.ResponseWriter, r *http.Request, cookie http.Cookie) {
	cookie.HttpOnly, cookie.Secure = true, r.TLS != nil
	cookie.SameSite = cmp.Or(cookie.SameSite, http.SameSiteStrictMode)
	if cookie.Value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// login is what the login page shows.
type login struct {
	Next     string // where to go afterwards
	Error    string
	Refused  string // why the provider's user may not log in
	Provider bool   // users may log in at a provider
}

// showLogin shows the login page.
func (c *Console) showLogin(p *page, data login, status int) {
	data.Provider = c.cfg.Provider != nil
	p.Data = data
	p.render("login", status)
}

func (c *Console) loginForm(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	c.showLogin(p, login{Next: localPath(p.param("next"))}, http.StatusOK)
}

// login exchanges a key for a session. The page does not say which part of a key was wrong.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	next := localPath(r.PostFormValue("next"))
	key := strings.TrimSpace(r.PostFormValue("key"))
	if c.cfg.OpenSession == nil || key == "" {
		c.showLogin(p, login{Next: next, Error: "Enter a key."}, http.StatusUnprocessableEntity)
		return
	}
	token, expires, err := c.cfg.OpenSession(r, key)
	if err != nil {
		c.showLogin(p, login{Next: next, Error: "The key was not accepted."}, http.StatusUnauthorized)
		return
	}
	setSession(w, r, token, expires)
	setActingAs(w, r, nil)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// logout ends the session, and the provider's if that opened it.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	end := c.providersEnd(w, r)
	setSession(w, r, "", time.Unix(0, 0))
	setActingAs(w, r, nil)
	if end != "" {
		p := c.page(w, r)
		p.Data = onward{"You are logged out", "Log out at the provider, too", end}
		p.render("onward", http.StatusOK)
		return
	}
	http.Redirect(w, r, Root+"login", http.StatusSeeOther)
}

// toLogin asks a caller without a valid key to log in, and then to come back.
func (p *page) toLogin() {
	address := Root + "login" + encode(nil, "next", p.r.URL.RequestURI())
	switch {
	case p.r.Header.Get("HX-Request") != "" && p.r.Method == http.MethodGet:
		// It would put the login page into a part of this one.
		p.w.Header().Set("HX-Redirect", address)
		p.w.WriteHeader(http.StatusOK)
		return
	case p.r.Method == http.MethodGet:
		http.Redirect(p.w, p.r, address, http.StatusSeeOther)
		return
	}
	why := p.keep(problemOf(&client.Error{Problem: unauthenticated}))
	why.LogIn = true
	p.fail(why)
}

// localPath is a page of the console to go to. Any other address becomes the first page, so that a link to the login
// cannot lead to another website.
func localPath(next string) string {
	parsed, err := url.Parse(next)
	if err != nil || parsed.Host != "" || parsed.Scheme != "" || strings.Contains(next, `\`) ||
		!strings.HasPrefix(parsed.Path, Root) || path.Clean(parsed.Path)+"/" != strings.TrimRight(parsed.Path, "/")+"/" {
		return Root
	}
	return parsed.RequestURI()
}
