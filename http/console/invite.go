package console

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// invitation is the page on which an admin invites somebody: a form, and then a link.
type invitation struct {
	form
	Made   api.IssuedKey
	Link   string   // empty before it is made
	Joined []string // the groups of the directory that the person belongs to now
	stated []string // the groups that the key states, since the directory has them not
}

// askInvitation asks whom to invite: by a name and an address, which becomes an id. The invited person gets a key.
func askInvitation(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, notFound(p)
	}
	if _, err := readKeys(p); err != nil { // who may not read keys may not issue them
		return nil, err
	}
	lasts := field{Name: "lasts", Label: "The link is valid", Values: overlaps()[:4]}
	teams := newKeyFields()[2]
	teams.Label = "Teams"
	data := &invitation{form: *newForm(p, []field{
		{Name: "display_name", Label: "Name"},
		{Name: "subject", Label: "E-mail address or id", Required: true},
		teams,
		newKeyFields()[1], lasts,
	})}
	data.names = map[string]string{"member": "subject", "expires_at": "lasts"}
	return data, nil
}

// notOfIDs are the characters of an address that no id has.
var notOfIDs = regexp.MustCompile(`[^a-z0-9._-]+`)

// idOf is the id for an address: what is before the @, in small letters. An id, and the name of a member, stand for
// themselves.
func idOf(p *page, address string) string {
	if name, _, is := strings.Cut(address, "@"); is && !strings.Contains(address, ":") {
		return domain.User + ":" + notOfIDs.ReplaceAllString(strings.ToLower(name), "-")
	}
	if entity, why := entityOf(p, []string{"user", "agent"}, address); why == "" {
		return entity
	}
	return domain.User + ":" + address
}

// check refuses what the API would refuse of the key, before anything is written: a person without a link is half done.
func (i *invitation) check(key map[string]any) error {
	role := slices.IndexFunc(i.Fields, func(f field) bool { return f.Name == "role" })
	ends, is := key["expires_at"].(time.Time)
	switch isGroup := func(s string) bool { return slices.Contains(groups, strings.SplitN(s, ":", 2)[0]) }; {
	case len(i.unknown) > 0:
		return &client.Error{Problem: api.Problem{
			Status: http.StatusUnprocessableEntity, Title: "Some fields are not right",
		}}
	case slices.ContainsFunc(linesOf(i.Values["memberships"]), func(s string) bool { return !isGroup(s) }):
		return wrongField("memberships", "must be one of project:ID, team:ID, org:ID")
	case i.text("role") != "" && !slices.Contains(i.Fields[role].Values, i.text("role")):
		return wrongField("role", "must be one of "+strings.Join(i.Fields[role].Values, ", "))
	case !is || !ends.After(i.page.Now):
		return wrongField("lasts", "must lie ahead")
	}
	return nil
}

// enrol adds the person to the directory and to those of the groups that it has. The others are left for the key.
func (i *invitation) enrol(p *page, who string) error {
	var known api.Member
	name, err := i.text("display_name"), p.get(&known, nil, "v1", "directory", who)
	isNew := errors.Is(err, client.ErrNotFound)
	switch {
	case err != nil && !isNew:
		return err
	case isNew && name == "" && domain.Entity(who).Kind() == domain.User:
		return wrongField("display_name", say(p.Language, "must say what they are called: they are not in the directory"))
	case name != "" && known.DisplayName != "" && name != known.DisplayName:
		return wrongField("subject", say(p.Language, "%s is %s already: choose another id, or leave the name empty", who,
			known.DisplayName))
	case isNew, name != known.DisplayName && name != "":
		body := api.NewMember{DisplayName: &name}
		request := client.Request{Method: http.MethodPut, Path: []string{"v1", "directory", who}, Body: body}
		if _, err := p.write(request, nil); err != nil {
			return err
		}
	}
	for _, group := range linesOf(i.Values["memberships"]) {
		err := p.get(&struct{}{}, nil, "v1", "directory", group)
		if err == nil {
			request := client.Request{
				Method: http.MethodPut, Path: []string{"v1", "directory", who, "groups", group},
				Body: api.NewMembership{Role: "member"},
			}
			if i.Joined = append(i.Joined, group); !slices.ContainsFunc(known.Groups, func(m api.Membership) bool {
				return m.Group == group && m.Through == ""
			}) {
				_, err = p.write(request, nil)
			}
		} else if errors.Is(err, client.ErrNotFound) {
			i.stated, err = append(i.stated, group), nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// invite makes an invitation. Its link is in this answer alone.
func invite(p *page) (any, error) {
	view, err := askInvitation(p)
	if err != nil {
		return nil, err
	}
	data := view.(*invitation)
	who := idOf(p, data.text("subject"))
	key := map[string]any{"subject": who, "role": data.text("role"), "invitation": true}
	if lasts := secondsOf(data.Values["lasts"]); lasts != nil {
		shown, err := time.Parse(time.RFC3339, p.r.PostFormValue("shown")) // a form that is sent twice asks for the same
		if err != nil {
			shown = p.Now
		}
		key["expires_at"] = shown.Add(time.Duration(*lasts) * time.Second)
	}
	if err = data.check(key); err == nil {
		err = data.enrol(p, who)
	}
	if err == nil {
		key["memberships"] = data.stated
		_, err = p.write(client.Post(key, "v1", "keys"), &data.Made)
	}
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
