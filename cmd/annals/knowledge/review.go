package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// ReviewCommand shows what waits for a review, in a terminal one item at a time.
type ReviewCommand struct {
	terminal.Remote
	terminal.Tabular

	Queue    string `complete:"queues" group:"filter" placeholder:"QUEUE"`
	Scope    string `complete:"scopes" group:"filter" placeholder:"SCOPE"`
	Assigned string `group:"filter" placeholder:"ENTITY"`
	Mine     bool   `group:"filter"`
	Limit    int    `short:"n" default:"100" placeholder:"N"`
}

// Reviewed is an item that waits for a review.
type Reviewed struct{ api.Review }

func (r *ReviewCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	query := url.Values{"mine": {strconv.FormatBool(r.Mine)}}
	terminal.Put(query, "queue", r.Queue)
	terminal.Put(query, "scope", r.Scope)
	terminal.Put(query, "assigned", r.Assigned)
	if c.JSON {
		page, err := terminal.ReadFirst[json.RawMessage](ctx, server, []string{"v1", "reviews"}, query, r.Limit)
		if err != nil {
			return err
		}
		return c.Document(map[string]any{"items": page.Items})
	}
	list, err := listReviews(ctx, server, query, r.Limit)
	if err != nil {
		return err
	}
	switch {
	case len(list) == 0:
		r.Empty(c, "nothing waits for a review")
		return nil
	case !c.Interactive() || r.Quiet || len(r.Columns) > 0:
		return r.print(c, list)
	}
	screen, err := terminal.OpenScreen(c)
	if err != nil {
		return err
	}
	defer screen.Close()
	return (&Reviewer{Server: server, Screen: screen, List: list}).Run(ctx)
}

// listReviews reads the first items that wait for a review.
func listReviews(ctx context.Context, server *client.Client, query url.Values, limit int) ([]*Reviewed, error) {
	page, err := terminal.ReadFirst[*Reviewed](ctx, server, []string{"v1", "reviews"}, query, limit)
	return page.Items, err
}

func (r *ReviewCommand) print(c *terminal.Console, list []*Reviewed) error {
	rows := terminal.NewTable("USES", "ASSIGNED", "ID", "WHY", "KNOWLEDGE")
	rows.Spare = []string{"USES"}
	for _, one := range list {
		uses, assigned, k := 0, "", Knowledge{*one.Item}
		if one.Used != nil {
			uses = one.Used.Count
		}
		if one.Assigned != nil {
			assigned = strings.Join(one.Assigned.To, ", ")
		}
		rows.Row(uses, assigned, k.ID, one.queues(), k.Snippet(SnippetColumns))
	}
	return r.Show(c, rows)
}

// items are the item, and the others of its pair or group if it is in one.
func (r *Reviewed) items() []*api.Knowledge {
	if r.Pair == nil {
		return []*api.Knowledge{r.Item}
	}
	return append([]*api.Knowledge{r.Item}, r.Pair.Items...)
}

// queues are the names of the queues that the item is in.
func (r *Reviewed) queues() string {
	names := make([]string, len(r.Reasons))
	for i, why := range r.Reasons {
		names[i] = strings.ReplaceAll(why.Queue, "_", " ")
	}
	return strings.Join(names, ", ")
}

// show prints why an item waits, for whom, and what it says.
func (r *Reviewed) show(c *terminal.Console) {
	for _, why := range r.Reasons {
		count := ""
		if why.Count > 0 {
			count = fmt.Sprintf("%d×", why.Count)
		}
		since := ""
		if why.Since != nil {
			since = "since " + terminal.Text(why.Since)
		}
		queue := strings.ReplaceAll(why.Queue, "_", " ")
		c.Say("%s", terminal.Amber.Render(terminal.Joined(" · ", queue, count, since, why.Text)))
	}
	if r.Used != nil {
		c.Say("used %d times, the last time %s", r.Used.Count, terminal.Text(r.Used.Last))
	}
	if r.Assigned != nil {
		c.Say("assigned to %s, the %s", strings.Join(r.Assigned.To, ", "), r.Assigned.Why)
	}
	c.Say("")
	if len(r.items()) == 1 {
		Knowledge{*r.Item}.Print(c)
		return
	}
	judged := ""
	if r.Pair.Rule != "" {
		judged = fmt.Sprintf(" (rule %s, score %.2f)", r.Pair.Rule, r.Pair.Score)
	}
	if r.Pair.Reason != "" {
		c.Say("%s: %s", r.Pair.By, r.Pair.Reason)
	}
	c.Say("probable %s%s:", r.Pair.Kind, judged)
	if len(r.Pair.Items) > 1 {
		for i, k := range r.items() {
			Knowledge{*k}.printBlock(c, fmt.Sprint(i+1))
		}
		return
	}
	width := (min(c.Width, 160) - 3) / 2
	left, right := besides("← ", *r.Item, width), besides("→ ", *r.Pair.Items[0], width)
	for i := range max(len(left), len(right)) {
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		c.Lines(terminal.Padded(a, width) + " │ " + b)
	}
}

// besides are the lines of an item in a column, below the key that keeps it.
func besides(key string, k api.Knowledge, width int) (lines []string) {
	shown := Knowledge{k}
	lines = append(lines, terminal.OneLine(key+k.ID, width))
	for text := range strings.Lines(terminal.Joined("\n", k.Task, k.Content)) {
		lines = append(lines, terminal.Wrapped(terminal.Printable(strings.TrimRight(text, "\n")), width)...)
	}
	facts := terminal.Joined(" · ", k.Owner, strings.Join(k.Scopes, " "), shown.votes(), terminal.Text(k.CreatedAt))
	return append(append(lines, ""), terminal.Wrapped(facts, width)...)
}

// about is a request about an item, in the revision that was shown.
func about(k *api.Knowledge, method string, body any, path ...string) client.Request {
	return client.Request{
		Method: method, Path: append([]string{"v1", "knowledge", k.ID}, path...), Body: body,
		Header: http.Header{"If-Match": {fmt.Sprintf(`"%d"`, k.Revision)}},
	}
}
