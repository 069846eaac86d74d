package knowledge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// mostGrouped is how many items one merge may be about.
const mostGrouped = 21

// grouped lets items that contradict one another be one review, the one that comes first. Its pair has all of them.
func grouped(ctx context.Context, server *client.Client, list []*Reviewed) (all []*Reviewed, err error) {
	waiting, known := map[string]*Reviewed{}, map[string]*api.Knowledge{}
	for _, one := range list {
		for _, k := range one.items() {
			known[k.ID] = k
		}
		waiting[one.Item.ID] = one
	}
	in := map[string]*Reviewed{} // the group of an item
	for _, one := range list {
		if first := in[one.Item.ID]; first != nil {
			first.join(one)
			continue
		}
		all = append(all, one)
		if one.Pair == nil || one.Pair.Kind != string(domain.Contradiction) {
			continue
		}
		group := []*api.Knowledge{one.Item}
		in[one.Item.ID] = one
		for at := 0; at < len(group); at++ {
			for _, id := range disputing(group[at], waiting[group[at].ID]) {
				if in[id] != nil || len(group) == mostGrouped {
					continue
				}
				if known[id] == nil {
					known[id] = &api.Knowledge{}
					if _, err := server.Do(ctx, client.Get("v1", "knowledge", id), known[id]); err != nil {
						return nil, err
					}
				}
				if known[id].Status == string(domain.Active) {
					group, in[id] = append(group, known[id]), one
				}
			}
		}
		one.Pair.Items = group[1:]
	}
	return all, nil
}

// disputing are the ids of the items that contradict an item, which itself waits for a review unless one is nil.
func disputing(k *api.Knowledge, one *Reviewed) (ids []string) {
	if one != nil && one.Pair != nil && one.Pair.Kind == string(domain.Contradiction) {
		for _, other := range one.Pair.Items {
			ids = append(ids, other.ID)
		}
	}
	return append(ids, k.DisputedBy...)
}

// join adds why another item of the group waits, unless it is for the contradiction.
func (r *Reviewed) join(other *Reviewed) {
	for _, why := range other.Reasons {
		if why.Queue != domain.QueueContradiction {
			why.Text = terminal.Joined(": ", other.Item.ID, why.Text)
			r.Reasons = append(r.Reasons, why)
		}
	}
}

// keepSide lets the left or the right item of a pair, 0 or 1, take the place of the other.
func (r *Reviewer) keepSide(ctx context.Context, side int) error {
	if all := len(r.List[r.at].items()); all > 2 {
		return notNumbered(all)
	}
	return r.merged(ctx, side, nil)
}

// keepNumbered lets an item of a group take the place of the others. If there are more than a key can name, it asks.
func (r *Reviewer) keepNumbered(ctx context.Context, number int) error {
	all := len(r.List[r.at].items())
	if all > 9 {
		said, err := r.ask(ctx, fmt.Sprintf("keep which one? 1 to %d:", all), true)
		if err != nil {
			return err
		}
		number, _ = strconv.Atoi(said)
	}
	if number < 1 || number > all {
		return notNumbered(all)
	}
	return r.merged(ctx, number-1, nil)
}

func notNumbered(all int) error { return fmt.Errorf("a number keeps one of these: 1 to %d", all) }

// merged merges the others of a group into one of its items, with a new content unless it is nil. Votes for what
// contradicts it do not count for it.
func (r *Reviewer) merged(ctx context.Context, stays int, content *string) error {
	one := r.List[r.at]
	k := one.items()[stays]
	body := api.Merge{Content: content, CarryVotes: one.Pair.Kind == string(domain.Duplicate)}
	for _, other := range one.items() {
		if other != k {
			body.Items, body.Revisions = append(body.Items, other.ID), append(body.Revisions, other.Revision)
		}
	}
	what := k.ID + " in place of " + strings.Join(body.Items, ", ")
	var err error
	if body.Reason, err = r.ask(ctx, "keep "+what+": why?", false); err != nil {
		return err
	}
	back := client.Post(api.Reason{Reason: "undone in a review"}, "v1", "knowledge", k.ID, "unmerge")
	err = r.send(ctx, about(k, http.MethodPost, body, "merge"), "merged", undoing{request: back})
	if err == nil {
		r.said = "kept " + what
	}
	return err
}

// keepAll closes the proposals about the items of a group.
func (r *Reviewer) keepAll(ctx context.Context) error {
	one := r.List[r.at]
	reason, err := r.ask(ctx, "all of them are right: why?", false)
	if err != nil {
		return err
	}
	closing := func(proposal string) client.Request {
		body := api.ProposalClosing{Outcome: string(domain.OutcomeDistinct), Reason: reason}
		return client.Post(body, "v1", "reviews", "proposals", proposal, "close")
	}
	for len(one.Pair.Items) > 1 {
		others, err := r.proposals(ctx, one)
		if err != nil {
			return err
		}
		if len(others) == 0 {
			break
		}
		for _, proposal := range others { // each lets others be listed
			if _, err := r.Server.Do(ctx, closing(proposal), nil); err != nil {
				return err
			}
		}
	}
	return r.send(ctx, closing(one.Pair.Proposal), "kept",
		undoing{stays: "a closed proposal stays closed: merge the items by hand"})
}

// proposals are the listed proposals about items of the same group, but not the one that is shown.
func (r *Reviewer) proposals(ctx context.Context, one *Reviewed) (ids []string, err error) {
	var group []string
	for _, k := range one.items() {
		group = append(group, k.ID)
	}
	list, err := listReviews(ctx, r.Server, url.Values{"queue": {one.Pair.Kind}}, 1000)
	for _, other := range list {
		outside := func(k *api.Knowledge) bool { return !slices.Contains(group, k.ID) }
		if other.Pair != nil && other.Pair.Proposal != one.Pair.Proposal && other.Pair.Kind == one.Pair.Kind &&
			!slices.ContainsFunc(other.items(), outside) {
			ids = append(ids, other.Pair.Proposal)
		}
	}
	return ids, err
}
