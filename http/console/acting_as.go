package console

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// The headers by which a caller says who acts, and for whom. A cookie of the browser's session keeps each.
const (
	actorHeader    = "Annals-Actor" // in no-auth mode only
	onBehalfHeader = "Annals-On-Behalf-Of"
	actingCookie   = "annals-acting"
)

// actingAs are the headers that the reader has chosen.
func actingAs(r *http.Request) http.Header {
	chosen := http.Header{}
	cookie, err := r.Cookie(actingCookie)
	if err != nil {
		return chosen
	}
	query, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return chosen
	}
	for _, name := range []string{actorHeader, onBehalfHeader} {
		if value := query.Get(name); value != "" && len(value) < 300 {
			chosen.Set(name, value)
		}
	}
	return chosen
}

// setActingAs keeps the choice in the browser; an empty one ends it.
func setActingAs(w http.ResponseWriter, r *http.Request, chosen http.Header) {
	if _, err := r.Cookie(actingCookie); err == nil || len(chosen) > 0 {
		setCookie(w, r, http.Cookie{Name: actingCookie, Value: url.Values(chosen).Encode(), Path: Root})
	}
}

// whoami asks who the caller is. If the API refuses what the reader chose, such as after the key lost the right, the
// choice ends. Then nothing is written: the reader's own rights may be others.
func whoami(p *page) error {
	var caller api.Identity
	request := client.Get("v1", "whoami")
	_, err := p.api.Do(p.r.Context(), request, &caller)
	refused := err
	ended := len(p.Acting) > 0 && (isRefused(err) || errors.Is(err, client.ErrUnauthenticated))
	if ended {
		actAs(p, http.Header{})
		setActingAs(p.w, p.r, p.Acting)
		_, err = p.api.Do(p.r.Context(), request, &caller)
	}
	if err != nil {
		return err
	}
	p.Caller = &caller
	if ended && p.r.Method == http.MethodPost {
		return &client.Error{Problem: api.Problem{
			Status: http.StatusForbidden, Title: "You do not act for somebody else any more, so nothing was done",
			Detail: problemOf(refused).Detail, Fix: "Go back, and send the form again as yourself.",
		}}
	}
	return nil
}

// actAs sends the requests of the page as somebody else.
func actAs(p *page, chosen http.Header) {
	p.Acting = chosen
	header := maps.Clone(chosen)
	if session := sessionOf(p.r); session != "" {
		header.Set("Authorization", "Bearer "+session)
	}
	p.api = p.console.cfg.API.With(header)
}

// actingForm is the form that chooses who acts, and for whom.
type actingForm struct {
	form
	Next string
}

func actingFields(noAuth bool) []field {
	fields := []field{
		{Name: actorHeader, Label: "Act as", Kinds: anyone}, {Name: onBehalfHeader, Label: "On behalf of", Kinds: anyone},
	}
	if !noAuth {
		return fields[1:]
	}
	return fields
}

func askActing(p *page) (any, error) {
	if !p.Caller.ActsFor {
		return nil, notFound(p)
	}
	data := &actingForm{*newForm(p, actingFields(p.NoAuth())), localPath(p.param("next"))}
	for _, field := range data.Fields {
		data.Values[field.Name] = p.Acting.Get(field.Name)
	}
	return data, nil
}

// chooseActing keeps the choice if the API accepts it, and goes back to the page.
func chooseActing(p *page) (any, error) {
	data := &actingForm{*newForm(p, actingFields(p.NoAuth())), localPath(p.r.PostFormValue("next"))}
	chosen := http.Header{}
	for _, field := range data.Fields {
		if value := data.text(field.Name); value != "" && !strings.ContainsAny(value, "\r\n") {
			chosen.Set(field.Name, value)
		}
	}
	before := p.Acting
	actAs(p, chosen)
	_, err := p.api.Do(p.r.Context(), client.Get("v1", "whoami"), nil)
	if data.refuse(err) || errors.Is(err, client.ErrUnauthenticated) { // of the one who is chosen
		data.Refused = cmp.Or(data.Refused, problemOf(err))
		actAs(p, before)
		return nil, answer(p, "acting", data, data.Refused.Status)
	}
	if err != nil {
		return nil, err
	}
	setActingAs(p.w, p.r, chosen)
	http.Redirect(p.w, p.r, data.Next, http.StatusSeeOther)
	return nil, errAnswered
}

// seeAs is what an agent would get at a moment of its work.
type seeAs struct {
	form
	Moments []field // of an agent's work
	Chosen  field
	Answer  *api.ContextAnswer // nil if nothing was asked
}

// workMoments are the moments of an agent's work.
func workMoments() []field {
	return []field{
		{Name: "start", Label: "At the start of a task"},
		{Name: "focus", Label: "When a goal is chosen"},
		{Name: "query", Label: "At a question of the user"},
		{Name: "analysis", Label: "After a failure"},
	}
}

// showAs asks for the injection of an agent.
func showAs(p *page) (any, error) {
	var fields []field
	for _, whom := range searchers() {
		fields = append(fields, field{Name: whom.Name, Label: whom.Label, Kinds: []string{whom.Name}})
	}
	p.r.PostForm = p.Query // this form only asks
	data := &seeAs{form: *newForm(p, fields), Moments: workMoments()}
	data.names = map[string]string{}
	for _, whom := range fields {
		data.names["context."+whom.Name+"_id"] = whom.Name
		p.Query.Set(whom.Name, strings.TrimPrefix(data.Values[whom.Name], whom.Name+":"))
	}
	data.Chosen = data.Moments[0]
	if i := slices.IndexFunc(data.Moments, func(m field) bool { return m.Name == p.param("stage") }); i >= 0 {
		data.Chosen = data.Moments[i]
	} else {
		return data, nil
	}
	input := p.param("said")
	request := api.ContextRequest{Stage: data.Chosen.Name, Context: searcherOf(p)}
	switch request.Stage {
	case "start":
		request.Task = input
	case "focus":
		request.Goal = input
	case "query":
		request.Query = input
	case "analysis":
		request.ToolIssues = linesOf(unixLines(input))
	}
	var got api.ContextAnswer
	err := p.post(request, &got, "v1", "context")
	if err := data.failed(p, err, "seeas", data); err != nil {
		return nil, err
	}
	data.Answer = &got
	return data, nil
}
