package knowledge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

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
		answer, err := r.ask(ctx, fmt.Sprintf("keep which one? 1 to %d:", all), true)
		if err != nil {
			return err
		}
		number, _ = strconv.Atoi(answer)
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
		r.notice = "kept " + what
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
	body := api.ProposalClosing{Outcome: string(domain.OutcomeDistinct), Reason: reason, Also: one.Pair.All[1:]}
	closing := client.Post(body, "v1", "reviews", "proposals", one.Pair.All[0], "close")
	return r.send(ctx, closing, "kept",
		undoing{stays: "a closed proposal stays closed: merge the items by hand"})
}
