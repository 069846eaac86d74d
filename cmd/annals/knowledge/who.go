package knowledge

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// WhoCommand says who knows about a subject, or about which subjects a group or a member knows.
type WhoCommand struct {
	terminal.Remote
	terminal.Tabular

	Words  []string `arg:"" optional:""`
	Scope  string   `complete:"scopes" group:"filter" placeholder:"SCOPE"`
	Limit  int      `short:"n" default:"20" placeholder:"N"`
	Team   string   `xor:"of" placeholder:"GROUP"`
	Member string   `xor:"of" placeholder:"MEMBER"`
}

func (w *WhoCommand) Run(ctx context.Context, c *terminal.Console) error {
	words := strings.Join(w.Words, " ")
	if (words == "") == (w.Team+w.Member == "") {
		return terminal.Wrong("annals who kafka, annals who --team team:pay or annals who --member user:mia",
			"say what it is about, or of whom")
	}
	if words == "" {
		return w.subjects(ctx, c)
	}
	q := client.Get("v1", "expertise")
	q.Query = url.Values{"q": {words}, "limit": {fmt.Sprint(w.Limit)}}
	terminal.Put(q.Query, "scope", w.Scope)
	var found api.Expertise
	return w.Answer(ctx, c, q, &found, func() error {
		if len(found.Items) == 0 {
			w.Empty(c, "nobody wrote about it")
			return nil
		}
		rows := terminal.NewTable("WHO", "WROTE", "CONFIRMED", "THANKED", "LAST", terminal.Mark)
		for _, e := range found.Items {
			mark := ""
			switch {
			case !e.Active:
				mark = "deactivated"
			case e.Alone:
				mark = "alone"
			}
			who := terminal.Joined(", ", e.Subject, e.Name)
			rows.Row(who, e.Wrote, e.Confirmed, e.Thanked, e.Last, terminal.Amber.Render(mark))
		}
		return w.Show(c, rows)
	})
}

// subjects prints a line for each subject, with who wrote most about it.
func (w *WhoCommand) subjects(ctx context.Context, c *terminal.Console) error {
	q := client.Get("v1", "expertise", "subjects")
	q.Query = url.Values{}
	terminal.Put(q.Query, "group", w.Team)
	terminal.Put(q.Query, "member", w.Member)
	var found api.SubjectMap
	return w.Answer(ctx, c, q, &found, func() error {
		if len(found.Subjects) == 0 {
			w.Empty(c, "nobody wrote anything")
			return nil
		}
		rows := terminal.NewTable(strings.ToUpper(found.Kind), "ITEMS", "WHO", terminal.Mark)
		for i, subject := range found.Subjects {
			var wrote []string
			for _, p := range found.People {
				if n := p.Counts[i]; n > 0 {
					wrote = append(wrote, fmt.Sprintf("%s %d", p.Subject, n))
				}
			}
			mark := ""
			if subject.Alone != "" {
				mark = "alone"
			}
			rows.Row(subject.Name, subject.Items, strings.Join(wrote, ", "), terminal.Amber.Render(mark))
		}
		return w.Show(c, rows)
	})
}
