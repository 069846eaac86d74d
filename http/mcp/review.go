package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

const defaultReviews, maxReviews = 10, 50

// reviewQueue is the answer of review_queue.
type reviewQueue struct {
	Total int       `json:"total"`
	Items []waiting `json:"items"`
}

// waiting is an item that waits for a review, in short.
type waiting struct {
	URI     string             `json:"uri"`
	ID      string             `json:"id"`
	Content string             `json:"content"`
	Reasons []api.ReviewReason `json:"reasons"`
	Pair    *waitingPair       `json:"pair,omitempty"`
}

type waitingPair struct {
	Proposal string    `json:"proposal"`
	Kind     string    `json:"kind"`
	Rule     string    `json:"rule,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Items    []waiting `json:"items"`
}

func waitingOf(k *api.Knowledge) waiting {
	return waiting{URI: k.URI, ID: k.ID, Content: k.Content}
}

func listReviews(ctx context.Context, server *client.Client, in arguments) (any, string, error) {
	query := url.Values{"limit": {strconv.Itoa(in.number("limit", defaultReviews))}}
	for _, name := range []string{"queue", "scope"} {
		if value := in.text(name); value != "" {
			query.Set(name, value)
		}
	}
	if in.text("whose") == "mine" {
		query.Set("mine", "true")
	}
	var found api.Reviews
	request := client.Request{Method: http.MethodGet, Path: []string{"v1", "reviews"}, Query: query}
	if _, err := server.Do(ctx, request, &found); err != nil {
		return nil, "", err
	}
	out := reviewQueue{Total: found.Total, Items: []waiting{}}
	var text strings.Builder
	fmt.Fprintf(&text, "%d items wait for a review.\n", found.Total)
	for _, review := range found.Items {
		w := waitingOf(review.Item)
		w.Reasons = review.Reasons
		var queues []string
		for _, why := range review.Reasons {
			queues = append(queues, strings.ReplaceAll(why.Queue, "_", " "))
		}
		fmt.Fprintf(&text, "\n%s (%s): %s\n", w.URI, strings.Join(queues, ", "), oneLine(w.Content))
		if pair := review.Pair; pair != nil {
			w.Pair = &waitingPair{Proposal: pair.Proposal, Kind: pair.Kind, Rule: pair.Rule, Reason: pair.Reason}
			for _, other := range pair.Items {
				w.Pair.Items = append(w.Pair.Items, waitingOf(other))
				fmt.Fprintf(&text, "  %s of %s: %s\n", pair.Kind, other.URI, oneLine(other.Content))
			}
		}
		out.Items = append(out.Items, w)
	}
	return out, text.String(), nil
}

func confirm(ctx context.Context, server *client.Client, in arguments) (any, string, error) {
	id, err := idOf(ctx, server, in.text("uri"))
	if err != nil {
		return nil, "", err
	}
	body := map[string]string{"reason": in.text("reason")}
	if until := in.text("until"); until != "" {
		body["until"] = until
	}
	var k client.Knowledge
	answer, err := server.Do(ctx, client.Post(body, "v1", "knowledge", id, "confirm"), &k)
	if err != nil {
		return nil, "", err
	}
	c := changedOf(client.Receipt{Knowledge: k, Outcome: answer.Header.Get("Annals-Outcome")})
	return c, c.says("Confirmed"), nil
}

func proposeMerge(ctx context.Context, server *client.Client, in arguments) (any, string, error) {
	body := api.NewProposal{Kind: in.text("kind"), Reason: in.text("reason")}
	for _, named := range in.texts("uris") {
		id, err := idOf(ctx, server, named)
		if err != nil {
			return nil, "", err
		}
		body.Items = append(body.Items, id)
	}
	var done api.Proposal
	if _, err := server.Do(ctx, client.Post(body, "v1", "reviews", "proposals"), &done); err != nil {
		return nil, "", err
	}
	if done.Outcome != "" {
		return done, "It was proposed before, and closed as " + done.Outcome, nil
	}
	return done, fmt.Sprintf("Proposed as %s: people decide", done.Kind), nil
}
