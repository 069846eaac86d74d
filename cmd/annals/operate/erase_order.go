package operate

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
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// orMisspelt is what else may be the matter if nothing is there to be erased. It may have been erased before, which is no failure.
const orMisspelt = "if that is a surprise, look at how it is written"

// order lets the server erase many things, and watches. The order is the server's: it is carried out whether
// or not somebody watches.
func (e *EraseCommand) order(ctx context.Context, c *terminal.Console, server *client.Client) error {
	body := api.ErasureOrder{
		Of: e.What, WithLineage: e.WithLineage,
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket,
	}
	var order api.Erasure
	_, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: []string{"v1", "erasures"}, Header: e.Header(0), Body: body}, &order)
	if err != nil {
		return err
	}
	bar := terminal.WatchCount(c, "erasing", 1)
	defer bar.End()
	for pause := 20 * time.Millisecond; order.State == "under_way"; pause = min(2*pause, time.Second) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			bar.End()
			c.Note("the server goes on: %s", order.ID)
			return ctx.Err()
		}
		seen := client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures", order.ID}}
		order = api.Erasure{} // an answer leaves out what is none
		if _, err := server.Do(ctx, seen, &order); err != nil {
			return err
		}
		bar.Set(order.Erased, order.Erased+order.Left)
	}
	bar.End()
	switch {
	case c.JSON:
		if err := c.Document(order); err != nil {
			return err
		}
	case order.Erased+order.NotErased+order.Revoked == 0:
		c.Say("nothing to erase: nothing of %s is here", terminal.Bold.Render(terminal.Printable(e.What)))
		c.Note("%s", orMisspelt)
	default:
		e.erased = order.Erased > 0
		gone, err := e.gone(ctx, server, order)
		if err != nil {
			return err
		}
		c.Say("erased %s for good: %d of %d", terminal.Bold.Render(terminal.Printable(gone)), order.Erased, order.Erased+order.NotErased)
	}
	if order.Revoked > 0 && !c.JSON {
		c.Say("%s; nobody but root gets in any more", terminal.Some(order.Revoked, "key was revoked", "keys were revoked"))
	}
	if order.NotErased == 0 {
		return nil
	}
	for _, r := range order.Refused {
		c.Note("not erased: %s", terminal.Printable(r.Reason))
	}
	refused := &terminal.Failure{Code: terminal.ExitRefused, Detail: fmt.Sprintf("%d of %d were not erased", order.NotErased, order.Erased+order.NotErased)}
	if order.Erased == 0 {
		return refused
	}
	refused.Code = terminal.ExitFailed
	return partlyErased{refused}
}

// gone names what an order has erased: one of an item and its lineage that was refused in part, thing by thing.
func (e *EraseCommand) gone(ctx context.Context, server *client.Client, order api.Erasure) (string, error) {
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
	return terminal.Enumerated(things, int(order.Erased)), nil
}

// doomed is something that is to be erased, or that is related to it.
type doomed struct{ api.ErasureTarget }

// kind is what kind of thing it is.
func (d doomed) kind() string {
	kind, _, _ := strings.Cut(d.Stream, ":")
	return cmp.Or(kind, "knowledge")
}

// byKind counts what becomes of the things of each kind.
func byKind(kinds map[[2]string]int64) *terminal.Grid {
	rows := &terminal.Grid{Heads: []string{"", "KIND", "HOW MANY"}}
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		rows.Row(kind[0], terminal.Printable(kind[1]), terminal.Counted(kinds[kind]))
	}
	return rows
}

// plan says what would be erased, and what goes back to it.
func (e *EraseCommand) plan(ctx context.Context, c *terminal.Console, server *client.Client) error {
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
	if c.JSON {
		err = c.Document(a.Body)
	}
	if err == nil && len(list.Items) == 0 && list.Keys == 0 {
		err = &terminal.Failure{Code: terminal.ExitNotFound, Detail: fmt.Sprintf("nothing of %s is here: nothing would be erased", e.What), Fix: orMisspelt}
	}
	if err != nil || c.JSON {
		return err
	}
	rows, kinds := &terminal.Grid{Heads: []string{"", "ID", "OWNER", "STATUS", "WHY"}, Spare: []string{"STATUS"}}, map[[2]string]int64{}
	var goes, kept, others, related int64
	refused := ""
	for _, d := range list.Items {
		mark, why := "keep", "named"
		switch {
		case d.Goes:
			mark = terminal.Red.Render("erase")
			goes++
		case d.Held && d.Kept, strings.HasPrefix(d.Reason, "its archive"):
			mark = terminal.Amber.Render("held")
			kept++
		case d.Kept:
			mark = terminal.Amber.Render("stays")
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
		rows.Row(mark, terminal.Printable(what), terminal.Printable(d.Owner), d.Status, terminal.Printable(why))
		kinds[[2]string{mark, d.kind()}]++
	}
	if few := 20; len(list.Items) > few && !e.Rows && !e.Quiet {
		rows = byKind(kinds)
		defer c.Note("--rows names each of them, --json gives all")
	}
	if err := e.Show(c, rows); err != nil || e.Quiet {
		return err
	}
	would := terminal.Counted(goes) + " would be erased"
	if kept > 0 {
		would += ", " + terminal.Some(kept, "is under legal hold", "are under legal hold")
	}
	if others > 0 {
		would += ", " + terminal.Some(others, "is another's to erase", "are others' to erase")
	}
	tenant, isTenant := strings.CutPrefix(e.What, "tenant:")
	switch {
	case refused != "":
		c.Say("nothing would be erased: %s", terminal.Printable(refused))
	case isTenant:
		c.Say("%s, which is all that was written in %s; %s, so that nobody but root gets in; its name stays taken",
			would, terminal.Printable(tenant), terminal.Some(list.Keys, "key would be revoked", "keys would be revoked"))
	case related == 0:
		c.Say("%s; nothing else is related to it", would)
	case e.WithLineage:
		c.Say("%s, what is related among them", would)
	default:
		c.Say("%s; what else is related to them, %s in all: --with-lineage erases those items, too", would, terminal.Counted(related))
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
