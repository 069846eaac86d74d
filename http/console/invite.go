package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// invitation is the page on which an admin invites somebody: a form, and then a link.
type invitation struct {
	form
	Made api.IssuedKey
	Link string // empty before it is made
}

// askInvitation asks whom to invite. The invited person gets a key as newKeyFields describes it.
func askInvitation(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, notFound(p)
	}
	if _, err := readKeys(p); err != nil { // who may not read keys may not issue them
		return nil, err
	}
	lasts := field{Name: "lasts", Label: "The link is valid", Values: overlaps()[:4]}
	whom := field{Name: "subject", Label: "Whom", Required: true, Kinds: []string{"user", "agent"}}
	return &invitation{form: *newForm(p, append([]field{whom}, append(newKeyFields()[1:3], lasts)...))}, nil
}

// invite makes an invitation. Its link is in this answer alone.
func invite(p *page) (any, error) {
	view, err := askInvitation(p)
	if err != nil {
		return nil, err
	}
	data := view.(*invitation)
	key := newKeyOf(&data.form)
	key["invitation"] = true
	if lasts := secondsOf(data.Values["lasts"]); lasts != nil {
		shown, err := time.Parse(time.RFC3339, p.r.PostFormValue("shown")) // a form that is sent twice asks for the same
		if err != nil {
			shown = p.Now
		}
		key["expires_at"] = shown.Add(time.Duration(*lasts) * time.Second)
	}
	_, err = p.write(client.Post(key, "v1", "keys"), &data.Made)
	if err := data.failed(p, err, "invite", data); err != nil {
		return nil, err
	}
	data.Link = p.Origin() + Root + "invited#code=" + data.Made.Key
	return nil, answer(p, "invite", data, http.StatusCreated)
}

// invited is what the page of an invited person shows: the invitation, and then their own key.
type invited struct {
	api.IssuedKey
	Code     string
	Provider bool
	Refused  *problem
}

// openInvited shows who invites whom to what. If the person has accepted, it exchanges the invitation for a key, shows
// it, and logs the person in.
func (c *Console) openInvited(w http.ResponseWriter, r *http.Request) {
	request := client.Get("v1", "invitation")
	if r.PostFormValue("accept") != "" {
		request = client.Post(nil, "v1", "invitation")
	}
	p := c.page(w, r)
	data := invited{Code: strings.TrimSpace(r.PostFormValue("code")), Provider: c.cfg.Provider != nil}
	holder := c.cfg.API.With(http.Header{"Authorization": {"Bearer " + data.Code}})
	_, err := holder.Do(p.r.Context(), request, &data.IssuedKey)
	status := http.StatusOK
	if err != nil {
		data.Refused = problemOf(err)
		status = data.Refused.Status
	} else if data.Key != "" {
		status = http.StatusCreated
		if token, expires, err := c.cfg.OpenSession(r, data.Key); err == nil {
			setSession(w, r, token, expires)
			setActingAs(w, r, nil)
		}
	}
	p.Data = data
	p.render("invited", status)
}
