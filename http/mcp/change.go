package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// changed is the answer of tools that change something.
type changed struct {
	URI        string         `json:"uri"`
	ID         string         `json:"id"`
	Outcome    string         `json:"outcome"`
	Category   string         `json:"category,omitempty"`
	Scopes     []string       `json:"scopes,omitempty"`
	SeenBy     string         `json:"seen_by,omitempty"` // in words
	Revision   int64          `json:"revision,omitempty"`
	Confidence *float64       `json:"confidence,omitempty"`
	Helpful    *int           `json:"helpful,omitempty"`
	Harmful    *int           `json:"harmful,omitempty"`
	Votes      int            `json:"votes,omitempty"` // by callers
	Voters     int            `json:"voters,omitempty"`
	Replaced   bool           `json:"replaced,omitempty"` // an earlier vote of the same voter, which no longer counts
	Redacted   map[string]int `json:"redacted,omitempty"`
	Similar    []api.Similar  `json:"similar,omitempty"`
}

func changedOf(r client.Receipt) changed {
	k := r.Knowledge
	c := changed{
		URI: k.URI, ID: k.ID, Outcome: r.Outcome, Category: kindOf(k), Scopes: k.Scopes, SeenBy: readersOf(k.Scopes),
		Revision: k.Revision, Redacted: k.Redacted, Similar: k.Similar,
	}
	if k.Eval != nil {
		c.Confidence, c.Helpful, c.Harmful = k.Eval.Confidence, k.Eval.Helpful, k.Eval.Harmful
		c.Votes, c.Voters = k.Eval.Votes, k.Eval.Voters
	}
	return c
}

func (c changed) says(what string) string {
	text := what + " " + c.URI
	if c.Outcome == domain.Proposed { // later, if at all
		c.SeenBy = ""
	}
	if c.SeenBy != "" {
		text += "; seen by " + c.SeenBy
	}
	if votes := domain.VotesBy(c.Votes, c.Voters); votes != "" {
		text += "; " + votes
	}
	var similar strings.Builder
	for _, s := range c.Similar {
		similar.WriteString("; " + resemblances[s.Kind] + " " + s.ID)
	}
	return text + similar.String()
}

// resemblances are the words for the kinds of similar items.
var resemblances = map[string]string{
	domain.Duplicate: "it says the same as", domain.Contradiction: "it contradicts", domain.Resembling: "it resembles",
}

// readersOf says who sees an item with these scopes.
func readersOf(scopes []string) string {
	readers := make([]string, len(scopes))
	for i, scope := range scopes {
		switch readers[i] = scope; domain.Entity(scope).Kind() {
		case string(domain.Public):
			readers[i] = "everyone in the tenant"
		case domain.Project, domain.Team, domain.Org:
			readers[i] = "everyone in " + scope
		}
	}
	return strings.Join(readers, ", ")
}

// remember stores knowledge about a user for that user, lessons for those for whom lessons of sessions are, and other
// knowledge about work, or all of it in a host for a group, for the group of [scopeFor].
// Knowledge that exists already gets a vote instead, even under concurrent requests.
func remember(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	k, err := in.knowledge()
	if err != nil {
		return nil, "", err
	}
	keep := api.RememberBeside
	switch category := domain.Category(k.Category); {
	case len(k.Scopes) > 0 || category.AboutUser():
	case category.IsLesson() && workOf(ctx).scope == "":
		keep = api.RememberLesson
	default:
		switch scope, err := scopeFor(ctx, api); {
		case err != nil:
			return nil, "", err
		case scope != "":
			k.Scopes = []string{scope}
		}
	}
	done, err := keep(ctx, k, cmp.Or(in.text("on_similar"), string(domain.VoteSimilar)))
	if err != nil {
		return nil, "", err
	}
	c, what := changedOf(done), "Remembered"
	switch c.Outcome {
	case domain.Created:
	case domain.Proposed:
		return c, c.says(proposed), nil
	default:
		what = "Known already:"
	}
	if c.Outcome == domain.Recorded {
		c.Outcome = "restated"
	}
	return c, c.says(what), nil
}

const proposed = "Proposed, and unseen by others until a steward accepts it:"

// outcomes are the words for the outcomes of saving.
var outcomes = map[string]string{
	"created": "Saved", "revised": "Revised", "unchanged": "Nothing to change in", "proposed": proposed,
}

func save(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	k, err := in.knowledge()
	if err != nil {
		return nil, "", err
	}
	k.Confirm = k.ID != "" && strings.Trim(string(in["confirm"]), `"`) == "true"
	done, err := reviseOrRemember(ctx, api, k)
	if err != nil {
		return nil, "", err
	}
	c := changedOf(done)
	return c, c.says(outcomes[c.Outcome]), nil
}

// reviseOrRemember revises the item with the id, or remembers a new one.
func reviseOrRemember(ctx context.Context, api *client.Client, k client.Knowledge) (client.Receipt, error) {
	if k.ID == "" {
		return api.RememberBeside(ctx, k, string(domain.ReportSimilar))
	}
	done, err := api.Revise(ctx, k.ID, k)
	switch {
	case errors.Is(err, client.ErrNotFound):
		return api.RememberBeside(ctx, k, string(domain.ReportSimilar))
	case errors.Is(err, client.ErrGone):
		return done, errorWithFix{err, "save it under another id, or without one; memory_history tells by whom, and why"}
	}
	return done, err
}

func forget(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	k, err := find(ctx, api, in.text("uri"))
	if err != nil {
		return nil, "", err
	}
	if err := api.Forget(ctx, k.ID, in.text("reason")); err != nil {
		return nil, "", err
	}
	c := changed{URI: k.URI, ID: k.ID, Outcome: "forgotten"}
	return c, c.says("Forgot") + "; its history stays", nil
}

func reportStale(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	id, err := idOf(ctx, api, in.text("uri"))
	if err != nil {
		return nil, "", err
	}
	done, err := api.ReportStale(ctx, id, in.text("reason"))
	if err != nil {
		return nil, "", err
	}
	c := changedOf(done)
	return c, fmt.Sprintf(
		"Reported %s as out of date; its confidence is %.2f now", c.URI, *cmp.Or(c.Confidence, new(float64)),
	), nil
}

func giveFeedback(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	id, err := idOf(ctx, api, in.text("uri"))
	if err != nil {
		return nil, "", err
	}
	done, err := api.GiveFeedback(ctx, id, client.Vote{
		Verdict: in.text("verdict"), Query: in.text("query"), Outcome: in.text("outcome"), TraceID: in.text("trace_id"),
	})
	if err != nil {
		return nil, "", err
	}
	c := changedOf(done)
	text := fmt.Sprintf(
		"Found %s %s; its confidence is %.2f now", in.text("verdict"), c.URI, *cmp.Or(c.Confidence, new(float64)),
	)
	if c.Replaced = api.Replaced(ctx, done.Events); c.Replaced {
		text += replacedNote[in.text("trace_id") == ""]
	}
	return c, text, nil
}

// replacedNote tells that a vote was replaced, and without a trace how to vote several times a day.
var replacedNote = map[bool]string{
	false: "; this replaces your earlier vote on this trace_id",
	true:  "; this replaces your earlier vote of today: with a trace_id each run has a vote of its own",
}

// idOf is the id of the item that a URI names now or named last. An id stays as it is.
func idOf(ctx context.Context, api *client.Client, named string) (string, error) {
	if !strings.HasPrefix(named, "viking://") {
		return named, nil
	}
	k, err := api.At(client.OnReceipt(ctx, nil), named) // the caller sees the id alone
	if errors.Is(err, client.ErrNotFound) {
		if was, gone := lastAt(ctx, api, named); gone {
			return was.ID, nil
		}
	}
	return k.ID, err
}

// find is the item with a URI or an id. The error of a deleted item tells that it was deleted.
func find(ctx context.Context, api *client.Client, named string) (client.Knowledge, error) {
	id, err := idOf(ctx, api, named)
	if err != nil {
		return client.Knowledge{}, err
	}
	k, err := api.Knowledge(ctx, id)
	if err == nil && k.Quarantined != nil {
		return client.Knowledge{}, errQuarantined
	}
	return k, err
}

// errQuarantined keeps an agent from what its steward may read.
var errQuarantined = &client.Error{Problem: api.Problem{
	Status: http.StatusNotFound, Detail: "the item is quarantined: a steward reads it with annals get, and decides",
}}

// lastAt is the item that had a URI last, if the caller may see it.
func lastAt(ctx context.Context, api *client.Client, uri string) (client.Knowledge, bool) {
	for k, err := range api.List(ctx, url.Values{"uri": {uri}, "status": {"deleted,superseded"}}) {
		if err != nil || k.URI == uri {
			return k, err == nil
		}
	}
	return client.Knowledge{}, false
}
