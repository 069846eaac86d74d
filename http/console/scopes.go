package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// scopesPage shows who knows how much, and how good it is.
type scopesPage struct {
	Activity *bars
	Counts   api.Overview
	Kinds    []scopeKind
	Health   []api.ScopeHealth
	Examined bool // Health was asked for: a report that examines each item
}

// scopeKind are the scopes of a kind, such as teams.
type scopeKind struct {
	Kind   string // its label
	Scopes []scopeHealth
}

// scopeHealth is a scope with shares of its items.
type scopeHealth struct {
	api.ScopeOverview
	Confirmed, Stale, Contested portion
	Shares                      *api.ScopeHealth // nil if the report lacks the scope
}

// portion is how many items there are of all.
type portion struct {
	Items int
	Share float64
}

func showScopes(p *page) (any, error) {
	var data scopesPage
	var err error
	if data.Activity, err = countWeeks(p); err != nil || p.Moment.Past() {
		return &data, err
	}
	if err := p.get(&data.Counts, nil, "v1", "overview"); err != nil {
		return nil, err
	}
	if data.Examined = p.param("health") != ""; data.Examined {
		query := url.Values{"limit": {"100"}}
		if data.Health, _, err = pageOf[api.ScopeHealth](p, query, "v1", "reports", "health"); err != nil {
			return nil, err
		}
	}
	for _, label := range []string{"Public", "Organisation", "Team", "Project", "Agent", "User"} {
		all, kind := scopeKind{Kind: label}, strings.ToLower(label)
		if label == "Organisation" {
			kind = "org"
		}
		for _, of := range data.Counts.ByScope {
			if found, _, _ := strings.Cut(of.Scope, ":"); found == kind {
				part := func(items int) portion { return portion{items, float64(items) / float64(of.Items)} }
				one := scopeHealth{of, part(of.Confirmed), part(of.Stale), part(of.Contested), nil}
				if i := slices.IndexFunc(data.Health, func(h api.ScopeHealth) bool { return h.Scope == of.Scope }); i >= 0 {
					one.Shares = &data.Health[i]
				}
				all.Scopes = append(all.Scopes, one)
			}
		}
		data.Kinds = append(data.Kinds, all)
	}
	data.Kinds = slices.DeleteFunc(data.Kinds, func(k scopeKind) bool { return len(k.Scopes) == 0 })
	return &data, nil
}

// policies is the page of the policies, with the form that sets one.
type policies struct {
	form
	Items   []api.VerificationPolicy
	Classes []class
	Changes bool // the form began with a policy that there is
}

// class is a class of writers, whose items a policy lets wait for approval.
type class struct {
	Name, Label string
	Chosen      bool
}

func classes() []class {
	return []class{
		{Name: "agent", Label: "Agents"},
		{Name: "personal_agent", Label: "Agents that act for a person"},
		{Name: "person", Label: "People"},
		{Name: "import", Label: "Imports"},
		{Name: "outside", Label: "Texts from outside, such as web pages"},
	}
}

// Label is the words for a class.
func (policies) Label(name string) string {
	for _, c := range classes() {
		if c.Name == name {
			return c.Label
		}
	}
	return name
}

// choose chooses classes.
func (d *policies) choose(names []string) {
	for i, c := range d.Classes {
		d.Classes[i].Chosen = slices.Contains(names, c.Name)
	}
}

func policyFields() []field {
	return []field{
		{Name: "scope", Label: "Scope, or all", Required: true, Kinds: anyone},
		{Name: "type", Label: "Type", Values: append([]string{""}, policyTypes()...)},
		{Name: "every_days", Label: "Verify every so many days; never if empty"},
		{Name: "verifier", Label: "By whom; by anyone who may if empty", Kinds: anyone},
	}
}

func policyTypes() []string {
	return []string{"user_profile", "strategy", "tool", "usecase", "definition", "plan"}
}

// policyActs name what the page has done.
func policyActs() []act {
	return []act{
		{Name: "policy", Done: "The policy is set."},
		{Name: "nopolicy", Done: "The policy is removed."},
	}
}

// newPolicies is the page with what was sent.
func newPolicies(p *page) *policies {
	data := &policies{form: *newForm(p, policyFields()), Classes: classes(), Changes: p.r.PostFormValue("changes") != ""}
	data.choose(p.r.PostForm["approve"])
	return data
}

// showPolicies shows the policies, with the form of the one that the address names.
func showPolicies(p *page) (any, error) {
	data := newPolicies(p)
	err := data.read(p)
	for _, one := range data.Items {
		if p.param("scope") == one.Scope && p.param("type") == one.Type {
			data.Changes = true
			data.choose(one.Approve)
			data.Values = map[string]string{"scope": one.Scope, "type": one.Type, "verifier": one.Verifier}
			if one.EveryDays > 0 {
				data.Values["every_days"] = strconv.Itoa(one.EveryDays)
			}
		}
	}
	return data, err
}

func (d *policies) read(p *page) (err error) {
	d.Items, _, err = pageOf[api.VerificationPolicy](p, nil, "v1", "verification")
	return err
}

// changePolicy sets or removes a policy.
func changePolicy(p *page) (any, error) {
	data := newPolicies(p)
	request := client.Request{
		Method: http.MethodPut, Path: []string{"v1", "verification", data.text("scope")}, Query: url.Values{},
	}
	if kind := data.text("type"); kind != "" {
		request.Query.Set("type", kind)
	}
	done := policyActs()[0]
	if p.r.PostFormValue("step") == "remove" {
		request.Method, done = http.MethodDelete, policyActs()[1]
	} else {
		body := map[string]any{}
		data.put(body, false, "every_days", "verifier")
		if days, err := strconv.Atoi(data.text("every_days")); err == nil {
			body["every_days"] = days
		}
		if names := p.r.PostForm["approve"]; data.Changes || names != nil {
			body["approve"] = append([]string{}, names...)
		}
		request.Body = body
	}
	p.note(request)
	_, err := p.write(request, nil)
	if err := data.failed(p, err, "policies", data, data.read); err != nil {
		return nil, err
	}
	return goBack(p, done.Name, "scopes/policies")
}
