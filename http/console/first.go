package console

import (
	"net/http"
	"strings"
)

// first is what the page of the first admin shows.
type first struct {
	Token, Subject, Key string
	Refused             *problem
}

// showEmpty shows the page that the link of a new server or an invitation leads to. Its secret is behind the #, which
// no browser sends and no log has: a script puts it into the form.
func (c *Console) showEmpty(view string, data any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := c.page(w, r)
		p.Data = data
		p.render(view, http.StatusOK)
	}
}

// makeFirst makes the first admin's key, shows it, and logs the admin in.
func (c *Console) makeFirst(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	data := first{Token: r.PostFormValue("token"), Subject: strings.TrimSpace(r.PostFormValue("subject"))}
	status := http.StatusCreated
	key, err := c.cfg.First(r.Context(), data.Token, data.Subject)
	if err != nil {
		data.Refused = problemOf(err)
		status = data.Refused.Status
	} else if token, expires, err := c.cfg.OpenSession(r, key); err == nil {
		setSession(w, r, token, expires)
	}
	data.Key = key
	p.Data = data
	p.render("first", status)
}
