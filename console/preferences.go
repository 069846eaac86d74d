package console

import (
	"net/http"
	"strings"
	"time"
)

// Preferences are what a reader chose about all pages.
type Preferences struct {
	Language string // en or zh
	Theme    string // light or dark; empty for that of the system
	Text     string // markdown, or empty for the text of items as it was written
}

const (
	languageCookie = "annals-language"
	themeCookie    = "annals-theme"
	textCookie     = "annals-text"
)

// preferencesOf reads the cookies. Without a choice, the browser's languages decide.
func preferencesOf(r *http.Request) Preferences {
	p := Preferences{Language: english}
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), chinese) {
		p.Language = chinese
	}
	if cookie, err := r.Cookie(languageCookie); err == nil && isLanguage(cookie.Value) {
		p.Language = cookie.Value
	}
	if cookie, err := r.Cookie(themeCookie); err == nil && isTheme(cookie.Value) {
		p.Theme = cookie.Value
	}
	if cookie, err := r.Cookie(textCookie); err == nil && isText(cookie.Value) {
		p.Text = cookie.Value
	}
	if asked := r.URL.Query(); asked.Has("text") && isText(asked.Get("text")) {
		p.Text = asked.Get("text")
	}
	return p
}

func isLanguage(s string) bool { return s == english || s == chinese }

func isTheme(s string) bool { return s == "light" || s == "dark" || s == "" }

func isText(s string) bool { return s == "markdown" || s == "" }

// savePreferences keeps a choice for a year, and goes back to the page.
func (c *Console) savePreferences(w http.ResponseWriter, r *http.Request) {
	for name, cookie := range map[string]struct {
		name  string
		valid func(string) bool
	}{"language": {languageCookie, isLanguage}, "theme": {themeCookie, isTheme}, "text": {textCookie, isText}} {
		if value := r.PostFormValue(name); r.PostForm.Has(name) && cookie.valid(value) {
			http.SetCookie(w, &http.Cookie{
				Name: cookie.name, Value: value, Path: Root, Expires: time.Now().AddDate(1, 0, 0), HttpOnly: true,
				Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
			})
		}
	}
	http.Redirect(w, r, localPath(r.PostFormValue("next")), http.StatusSeeOther)
}
