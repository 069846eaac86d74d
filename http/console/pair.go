package console

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// sided is another item of a proposal beside the item under review. What differs is marked on both sides.
type sided struct {
	Item        *api.Knowledge
	Task, Text  []api.FieldChange // of the other item: what both have, and what only it has
	Here, Tasks []api.FieldChange // of the item under review, and its task
}

// sidesOf compares an item with the others of a proposal, word by word.
func sidesOf(r *api.Review) (all []sided) {
	if r.Pair == nil {
		return nil
	}
	for _, other := range r.Pair.Items {
		one := sided{Item: other}
		one.Tasks, one.Task = sides(r.Item.Task, other.Task)
		one.Here, one.Text = sides(r.Item.Content, other.Content)
		all = append(all, one)
	}
	return all
}

// sides are two texts with marks at what the other one lacks.
func sides(left, right string) (inLeft, inRight []api.FieldChange) {
	for _, part := range text.Diff(left, right) {
		one := api.FieldChange{Op: string(part.Op), Text: part.Text}
		if part.Op != text.Added {
			inLeft = append(inLeft, one)
		}
		if part.Op != text.Removed {
			inRight = append(inRight, one)
		}
	}
	return inLeft, inRight
}

// pairActs are what a reader does about a proposal.
func pairActs() []act {
	return []act{
		{Name: "merge", Done: "The items are merged: the other one is superseded."},
		{Name: "unmerge", Done: "The merge is undone."},
		{Name: "distinct", Done: "Both are right: they are not proposed again."},
		{Name: "dismissed", Done: "The proposal is closed."},
	}
}

// pairRequest is what an act on a proposal asks of the API, and the id of the item that the act is about; false if it
// is none of these acts.
func pairRequest(p *page, act, reason string) (request client.Request, id string, is bool) {
	form := p.r.PostForm
	id = form.Get("id")
	switch act {
	case "merge":
		stays := cmp.Or(form.Get("stays"), form.Get("merged"))
		others := slices.DeleteFunc(append([]string{id}, form["other"]...), func(one string) bool { return one == stays })
		body := api.Merge{Items: others, CarryVotes: form.Get("carry") != "", Reason: reason}
		if content := unixLines(form.Get("content")); content != "" && form.Has("merged") {
			body.Content = &content
		}
		return client.Post(body, "v1", "knowledge", stays, "merge"), stays, true
	case "unmerge":
		return client.Post(api.Reason{Reason: reason}, "v1", "knowledge", id, "unmerge"), id, true
	case "distinct", "dismissed":
		closing := api.ProposalClosing{Outcome: act, Reason: reason}
		return client.Post(closing, "v1", "reviews", "proposals", form.Get("proposal"), "close"), id, true
	}
	return client.Request{Method: http.MethodGet}, id, false
}
