package console

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// sided is one of the items that a proposal is about.
type sided struct {
	*api.Knowledge
	Text []api.FieldChange // what differs from the first item is marked; of two, on both sides
	Key  string            // that keeps it, as in a terminal
}

// sidesOf are the item under review and the others of its proposal; none if there is no proposal.
func sidesOf(r *api.Review) (all []sided) {
	if r.Pair == nil {
		return nil
	}
	for i, k := range append([]*api.Knowledge{r.Item}, r.Pair.Items...) {
		one := sided{Knowledge: k, Key: strconv.Itoa(i + 1)}
		_, one.Text = sides(r.Item.Content, k.Content)
		all = append(all, one)
	}
	if len(all) == 2 {
		all[0].Text, _ = sides(all[0].Content, all[1].Content)
		all[0].Key, all[1].Key = "ArrowLeft", "ArrowRight"
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
		{Name: "merge", Done: "It stands, and takes the place of the others."},
		{Name: "unmerge", Done: "The merge is undone."},
		{Name: "distinct", Done: "All are right: they are not proposed again."},
		{Name: "dismissed", Done: "The proposal is closed."},
	}
}

// pairRequest is what an act on a proposal asks of the API; without a path if it is no such act. It settles all of a
// group, or nothing.
func pairRequest(form url.Values, act, id string) (request client.Request) {
	reason := form.Get("reason")
	switch act {
	case "merge":
		body := api.Merge{CarryVotes: form.Get("carry") != "", Reason: reason}
		if content := unixLines(form.Get("content")); content != "" && form.Has("merged") {
			body.Content = &content
		}
		var header http.Header
		for i, seen := range form["revision"][:min(len(form["revision"]), len(form["id"]))] {
			if other := form["id"][i]; other == id {
				header = http.Header{"If-Match": {strconv.Quote(seen)}}
			} else {
				revision, _ := strconv.ParseInt(seen, 10, 64)
				body.Items, body.Revisions = append(body.Items, other), append(body.Revisions, revision)
			}
		}
		request = client.Post(body, "v1", "knowledge", id, act)
		request.Header = header
	case "distinct", "dismissed":
		if all := form["proposal"]; len(all) > 0 {
			closing := api.ProposalClosing{Outcome: act, Reason: reason, Also: all[1:]}
			request = client.Post(closing, "v1", "reviews", "proposals", all[0], "close")
		}
	}
	return request
}
