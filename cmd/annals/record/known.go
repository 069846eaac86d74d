package record

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type reportKnownCommand struct {
	exporting

	About    string `arg:""`
	On       string `required:"" placeholder:"DATE"`
	Zone     string `placeholder:"ZONE"`
	Limit    int    `short:"n" default:"20" placeholder:"N"`
	Language string `enum:"en,zh" default:"en" placeholder:"en|zh"`
}

func (r *reportKnownCommand) Run(ctx context.Context, c *terminal.Console) error {
	zone := r.Zone
	if zone == "" { // the end of the day here
		day, isDate, err := domain.ParseTime(r.On, time.Now())
		if err != nil || !isDate {
			return terminal.Wrong("as in --on 2026-03-03 or --on yesterday", "--on must be a date")
		}
		r.On, zone = day.Format(time.DateOnly), day.AddDate(0, 0, 1).Add(-time.Microsecond).Format("Z07:00")
	}
	q := client.Get("v1", "reports", "known")
	q.Query = url.Values{
		"about": {r.About}, "on": {r.On}, "zone": {zone}, "limit": {strconv.Itoa(r.Limit)}, "language": {r.Language},
	}
	server, err := r.Connect()
	if err != nil {
		return err
	}
	if r.Output != "" {
		return r.write(ctx, c, server, q)
	}
	var known api.Known
	answer, err := server.Do(ctx, q, &known)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(answer.Body)
	}
	printKnown(c, known)
	return nil
}

// write writes the report with its proof into a file.
func (r *reportKnownCommand) write(
	ctx context.Context, c *terminal.Console, server *client.Client, q client.Request,
) error {
	q.Header = http.Header{"Accept": {"text/html"}}
	err := terminal.WriteFile(c, r.Output, func(out *bytes.Buffer, flush func() error) error {
		page, err := server.Open(ctx, q)
		if err != nil {
			return err
		}
		defer page.Close() //nolint:errcheck // it was only read
		_, err = io.Copy(out, page)
		return cmp.Or(err, flush())
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return c.Document(map[string]any{"file": r.Output})
	}
	c.Say("written to %s; annals verify %s --key KEY verifies it offline", r.Output, r.Output)
	return nil
}

func printKnown(c *terminal.Console, known api.Known) {
	c.Say("as of %s; times are in your time zone", terminal.Moment(known.Until))
	name := func(entity string) string {
		if known.Names[entity] != "" {
			return known.Names[entity]
		}
		return entity
	}
	steps := func(all []api.KnownStep) {
		for _, step := range all {
			what := step.Word()
			if step.Count > 1 {
				what += fmt.Sprintf(" ×%d", step.Count)
			}
			to := make([]string, len(step.To))
			for i, entity := range step.To {
				to[i] = name(entity)
			}
			if step.Other != nil {
				to = append(to, step.Other.Title)
			}
			if len(to) > 0 {
				what += ": " + strings.Join(to, ", ")
			}
			c.Say("  %s  %s", terminal.Moment(step.At), terminal.Joined(" · ", what, name(step.By), step.Reason))
		}
	}
	for _, item := range known.Items {
		title := item.Title
		if item.Band == "perhaps" {
			title += " (perhaps)"
		}
		c.Say("\n%s · %s\n  %s", terminal.Bold.Render(title), name(item.Knowledge.Owner),
			strings.ReplaceAll(item.Knowledge.Content, "\n", "\n  "))
		steps(item.Standing())
		steps(item.Disputed)
		steps(item.Later)
	}
	for _, item := range known.Erased {
		c.Say("\nan item of %s that was erased since", name(item.Owner))
		steps(item.Later)
	}
	if len(known.Items) == 0 {
		c.Say("nothing about it was known on that day, as far as you may see")
	}
	for _, scope := range known.Readers {
		if scope.Hidden {
			continue
		}
		c.Say("\n%s could be read by:", name(scope.Scope))
		for _, reader := range scope.Readers {
			c.Say("  %s: %s", name(reader.Subject), whyItReads(reader))
		}
	}
}
