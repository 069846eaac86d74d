package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type scrubRecordedCommand struct {
	terminal.Remote

	Since string `required:"" placeholder:"MOMENT"`
	Until string `placeholder:"MOMENT"`
	Plan  bool
}

// scrubbedPage is an answer about a part of the log.
type scrubbedPage struct {
	Items []json.RawMessage `json:"items"`
	api.LogSpan
}

// Run implements the command.
func (s *scrubRecordedCommand) Run(ctx context.Context, c *terminal.Console) error {
	since, err := terminal.SinceOf("since", s.Since)
	if err != nil {
		return err
	}
	until, err := terminal.ThroughOf("until", s.Until)
	if err != nil {
		return err
	}
	server, err := s.Connect()
	if err != nil {
		return err
	}
	slow := server.Within(max(s.Timeout, time.Minute))
	query := url.Values{"since": {since}}
	if until != "" {
		query.Set("until", until)
	}
	if s.Plan {
		return s.plan(ctx, c, slow, query)
	}
	return s.redact(ctx, c, slow, query)
}

// each asks until there is nothing left.
func (s *scrubRecordedCommand) each(ctx context.Context, c *terminal.Console, server *client.Client, r client.Request, item func(json.RawMessage) error) error {
	bar := terminal.WatchCount(c, "scrubbing", 0)
	defer bar.End()
	first := int64(0)
	for {
		var page scrubbedPage
		if _, err := server.Do(ctx, r, &page); err != nil {
			return err
		}
		for _, raw := range page.Items {
			if err := item(raw); err != nil {
				return err
			}
		}
		if first == 0 {
			first = page.From
		}
		bar.Set(page.Through-first+1, page.To-first+1)
		if page.NextCursor == "" {
			return nil
		}
		r.Query.Set("cursor", page.NextCursor)
	}
}

func (s *scrubRecordedCommand) plan(ctx context.Context, c *terminal.Console, server *client.Client, query url.Values) error {
	found, things, named, held := knowledge.Redactions{}, map[string]bool{}, 0, map[string]bool{}
	texts := map[int64]bool{}
	all := []json.RawMessage{}
	rows := &terminal.Grid{Heads: []string{"WHAT", "POSITION", "EVENT", "FIELD", "FOUND"}}
	r := client.Request{Method: http.MethodGet, Path: []string{"v1", "scrubbing", "findings"}, Query: query}
	err := s.each(ctx, c, server, r, func(raw json.RawMessage) error {
		var f api.Finding
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		what := f.ID
		if what == "" {
			what = f.Stream
		}
		kind := fmt.Sprintf("%d %s", f.Count, f.Class)
		switch {
		case f.InName:
			named++
			kind += ", in a name"
		case f.Held:
			held[f.Stream] = true
			kind += ", under legal hold"
		default:
			found[f.Class] += f.Count
			things[f.Stream], texts[f.Position] = true, true
		}
		all = append(all, raw)
		rows.Row(terminal.Printable(what), strconv.FormatInt(f.Position, 10), terminal.Printable(f.Name), terminal.Printable(f.Field), terminal.Printable(kind))
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": all})
	}
	if len(all) == 0 {
		c.Say("nothing to redact")
		return nil
	}
	c.Table(rows.Render(c.Width))
	if len(texts) > 0 {
		c.Say("would redact %s in %s of %d", found.List(), terminal.Several(len(texts), "text"), len(things))
	}
	if len(held) > 0 {
		c.Note("%s, and would be refused", terminal.Some(int64(len(held)), "is under legal hold", "are under legal hold"))
	}
	if named > 0 {
		c.Note("%d in names cannot be redacted: erase the item, or revise its tags and meta first", named)
	}
	return nil
}

func (s *scrubRecordedCommand) redact(ctx context.Context, c *terminal.Console, server *client.Client, query url.Values) error {
	found, things, texts := knowledge.Redactions{}, 0, 0
	all := []json.RawMessage{}
	refused := map[string]string{}
	r := client.Request{Method: http.MethodPost, Path: []string{"v1", "scrubbing", "redactions"}, Query: query}
	err := s.each(ctx, c, server, r, func(raw json.RawMessage) error {
		var done api.Redaction
		if err := json.Unmarshal(raw, &done); err != nil {
			return err
		}
		if done.Refused != "" {
			refused[done.Stream] = done.Refused
		}
		if len(done.Events) > 0 {
			things++
			texts += len(done.Events)
			found.Add(done.Redacted)
		}
		all = append(all, raw)
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		err = c.Document(map[string]any{"items": all})
	case texts == 0 && len(refused) == 0:
		c.Say("nothing to redact")
	case texts > 0:
		c.Say("redacted %s in %s of %d", found.List(), terminal.Several(int(texts), "text"), things)
		c.Note("the files hold it until they are rewritten: annals erase --sweep")
	}
	if err != nil || len(refused) == 0 {
		return err
	}
	for _, why := range refused {
		c.Note("not redacted: %s", terminal.Printable(why))
	}
	failed := &terminal.Failure{Code: terminal.ExitRefused, Detail: terminal.Some(int64(len(refused)), "was not redacted", "were not redacted")}
	if texts > 0 {
		failed.Code = terminal.ExitFailed // in part
	}
	return failed
}
