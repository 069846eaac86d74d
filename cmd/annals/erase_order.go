package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/domain"
)

// orMisspelt is what else may be the matter if nothing is there to be erased. It may have been erased before, which is no failure.
const orMisspelt = "if that is a surprise, look at how it is written"

// order lets the server erase many things, and watches. The order is the server's: it is carried out whether
// or not somebody watches.
func (e *eraseCommand) order(ctx context.Context, c *console, server *client.Client) error {
	body := api.ErasureOrder{
		Of: e.What, WithLineage: e.WithLineage,
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket,
	}
	var order api.Erasure
	_, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: []string{"v1", "erasures"}, Header: e.header(0), Body: body}, &order)
	if err != nil {
		return err
	}
	bar := watchCount(c, "erasing", 1)
	defer bar.end()
	for pause := 20 * time.Millisecond; order.State == "under_way"; pause = min(2*pause, time.Second) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			bar.end()
			c.note("the server goes on: %s", order.ID)
			return ctx.Err()
		}
		seen := client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures", order.ID}}
		order = api.Erasure{} // an answer leaves out what is none
		if _, err := server.Do(ctx, seen, &order); err != nil {
			return err
		}
		bar.set(order.Erased, order.Erased+order.Left)
	}
	bar.end()
	switch {
	case c.json:
		if err := c.document(order); err != nil {
			return err
		}
	case order.Erased+order.NotErased+order.Revoked == 0:
		c.say("nothing to erase: nothing of %s is here", bold.Render(printable(e.What)))
		c.note("%s", orMisspelt)
	default:
		e.erased = order.Erased > 0
		gone, err := e.gone(ctx, server, order)
		if err != nil {
			return err
		}
		c.say("erased %s for good: %d of %d", bold.Render(printable(gone)), order.Erased, order.Erased+order.NotErased)
	}
	if order.Revoked > 0 && !c.json {
		c.say("%s; nobody but root gets in any more", some(order.Revoked, "key was revoked", "keys were revoked"))
	}
	if order.NotErased == 0 {
		return nil
	}
	for _, r := range order.Refused {
		c.note("not erased: %s", printable(r.Reason))
	}
	refused := &failure{Code: exitRefused, Detail: fmt.Sprintf("%d of %d were not erased", order.NotErased, order.Erased+order.NotErased)}
	if order.Erased == 0 {
		return refused
	}
	refused.Code = exitFailed
	return partlyErased{refused}
}

// gone names what an order has erased: one of an item and its lineage that was refused in part, thing by thing.
func (e *eraseCommand) gone(ctx context.Context, server *client.Client, order api.Erasure) (string, error) {
	switch {
	case order.Erased == 0:
		return "nothing", nil
	case order.NotErased == 0, strings.Contains(e.What, ":"):
		return e.What, nil
	}
	query := url.Values{"correlation_id": {domain.ErasureStream(order.ID)}, "name": {"knowledge.erased", "session.erased"}}
	var list struct {
		Items []struct {
			Stream string `json:"stream"`
		} `json:"items"`
	}
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "events"}, Query: query}, &list); err != nil {
		return "", err
	}
	var things []string
	for _, event := range list.Items {
		things = append(things, strings.TrimPrefix(event.Stream, domain.KnowledgeStream("")))
	}
	return enumerated(things, int(order.Erased)), nil
}

// doomed is something that is to be erased, or that is related to it.
type doomed struct{ api.ErasureTarget }

// kind is what kind of thing it is.
func (d doomed) kind() string {
	kind, _, _ := strings.Cut(d.Stream, ":")
	return cmp.Or(kind, "knowledge")
}

// byKind counts what becomes of the things of each kind.
func byKind(kinds map[[2]string]int64) *grid {
	rows := &grid{heads: []string{"", "KIND", "HOW MANY"}}
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		rows.row(kind[0], printable(kind[1]), counted(kinds[kind]))
	}
	return rows
}

// some says how many there are of something.
func some(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return counted(n) + " " + more
}

// plan says what would be erased, and what goes back to it.
func (e *eraseCommand) plan(ctx context.Context, c *console, server *client.Client) error {
	query := url.Values{"of": {e.What}}
	if e.WithLineage {
		query.Set("with_lineage", "true")
	}
	var list struct {
		Items []doomed `json:"items"`
		Keys  int64    `json:"keys"`
	}
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures", "plan"}, Query: query}, &list)
	if err != nil {
		return err
	}
	if c.json {
		err = c.document(a.Body)
	}
	if err == nil && len(list.Items) == 0 && list.Keys == 0 {
		err = &failure{Code: exitNotFound, Detail: fmt.Sprintf("nothing of %s is here: nothing would be erased", e.What), Fix: orMisspelt}
	}
	if err != nil || c.json {
		return err
	}
	rows, kinds := &grid{heads: []string{"", "ID", "OWNER", "STATUS", "WHY"}, spare: []string{"STATUS"}}, map[[2]string]int64{}
	var goes, kept, others, related int64
	refused := ""
	for _, d := range list.Items {
		mark, why := "keep", "named"
		switch {
		case d.Goes:
			mark = red.Render("erase")
			goes++
		case d.Held && d.Kept, strings.HasPrefix(d.Reason, "its archive"):
			mark = amber.Render("held")
			kept++
		case d.Kept:
			mark = amber.Render("stays")
			others++
		}
		if d.ID == e.What {
			refused = d.Reason
		}
		if d.Relation != "" {
			why = d.why()
			if !d.Goes && !d.Kept || e.WithLineage {
				related++
			}
		}
		if d.Reason != "" {
			why += ": " + d.Reason
		}
		what := d.ID
		if what == "" {
			what = d.Stream
		}
		rows.row(mark, printable(what), printable(d.Owner), d.Status, printable(why))
		kinds[[2]string{mark, d.kind()}]++
	}
	if few := 20; len(list.Items) > few && !e.Rows && !e.Quiet {
		rows = byKind(kinds)
		defer c.note("--rows names each of them, --json gives all")
	}
	if err := e.show(c, rows); err != nil || e.Quiet {
		return err
	}
	would := counted(goes) + " would be erased"
	if kept > 0 {
		would += ", " + some(kept, "is under legal hold", "are under legal hold")
	}
	if others > 0 {
		would += ", " + some(others, "is another's to erase", "are others' to erase")
	}
	tenant, isTenant := strings.CutPrefix(e.What, "tenant:")
	switch {
	case refused != "":
		c.say("nothing would be erased: %s", printable(refused))
	case isTenant:
		c.say("%s, which is all that was written in %s; %s, so that nobody but root gets in; its name stays taken",
			would, printable(tenant), some(list.Keys, "key would be revoked", "keys would be revoked"))
	case related == 0:
		c.say("%s; nothing else is related to it", would)
	case e.WithLineage:
		c.say("%s, what is related among them", would)
	default:
		c.say("%s; what else is related to them, %s in all: --with-lineage erases those items, too", would, counted(related))
	}
	return nil
}

// why says what a thing is to the one through which it is related, as a sentence about it.
func (d doomed) why() string {
	if d.Relation == "derives" {
		return d.RelatedTo + " is derived from it"
	}
	return strings.ReplaceAll(d.Relation, "_", " ") + " " + d.RelatedTo
}
