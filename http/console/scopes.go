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
	query := url.Values{"limit": {"100"}}
	if data.Health, _, err = pageOf[api.ScopeHealth](p, query, "v1", "reports", "health"); err != nil {
		return nil, err
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

// policies is the page of the verification policies, with the form that sets one.
type policies struct {
	form
	Items []api.VerificationPolicy
}

func policyFields() []field {
	return []field{
		{Name: "scope", Label: "Scope, or all", Required: true, Kinds: anyone},
		{Name: "type", Label: "Type", Values: append([]string{""}, policyTypes()...)},
		{Name: "every_days", Label: "Verify every so many days", Required: true},
		{Name: "verifier", Label: "By whom; by anyone who may if empty", Kinds: anyone},
	}
}

func policyTypes() []string {
	return []string{"user_profile", "strategy", "tool", "usecase", "definition", "plan"}
}

// policyActs name what the page has done.
func policyActs() []act {
	return []act{
		{Name: "policy", Done: "The verification policy is set."},
		{Name: "nopolicy", Done: "The verification policy is removed."},
	}
}

func showPolicies(p *page) (any, error) {
	data := &policies{form: *newForm(p, policyFields())}
	return data, data.read(p)
}

func (d *policies) read(p *page) (err error) {
	d.Items, _, err = pageOf[api.VerificationPolicy](p, nil, "v1", "verification")
	return err
}

// changePolicy sets or removes a policy.
func changePolicy(p *page) (any, error) {
	data := &policies{form: *newForm(p, policyFields())}
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
		body := map[string]any{"every_days": data.text("every_days")}
		if days, err := strconv.Atoi(data.text("every_days")); err == nil {
			body["every_days"] = days
		}
		data.put(body, false, "verifier")
		request.Body = body
	}
	p.note(request)
	_, err := p.write(request, nil)
	if err := data.failed(p, err, "policies", data, data.read); err != nil {
		return nil, err
	}
	return goBack(p, done.Name, "scopes/policies")
}
