package operate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type ScrubCommands struct {
	Rules    scrubRulesCommand    `cmd:""`
	Recorded scrubRecordedCommand `cmd:"" default:"withargs"`
}

type scrubRulesCommand struct {
	terminal.Writing

	Off      []string `placeholder:"CLASS" enum:"api_key,jwt,private_key,email,phone,cc"`
	On       []string `placeholder:"CLASS" enum:"api_key,jwt,private_key,email,phone,cc"`
	Allow    []string `placeholder:"SCOPE=CLASS"`
	Disallow []string `placeholder:"SCOPE=CLASS"`
	Add      []string `field:"patterns" sep:"none" placeholder:"CLASS=EXPRESSION"`
	Remove   []string `placeholder:"CLASS"`
}

// scrubClasses are the classes of the built-in rules.
var scrubClasses = []string{"api_key", "jwt", "private_key", "email", "phone", "cc", "id_number", "iban"}

func (r *scrubRulesCommand) Run(ctx context.Context, c *terminal.Console) error {
	request := client.Get("v1", "scrubbing")
	var rules api.Scrubbing
	if len(r.Off)+len(r.On)+len(r.Allow)+len(r.Disallow)+len(r.Add)+len(r.Remove) > 0 {
		server, err := r.Connect()
		if err != nil {
			return err
		}
		if _, err = server.Do(ctx, request, &rules); err == nil {
			err = r.change(&rules)
		}
		if err != nil {
			return err
		}
		request.Method, request.Header, request.Body = http.MethodPut, r.Header(0), rules
		rules = api.Scrubbing{}
	}
	return r.Answer(ctx, c, request, &rules, func() error {
		if !rules.Active {
			c.Say("this server redacts nothing: ANNALS_SCRUB is off")
		}
		rows := terminal.NewTable("CLASS", "REDACTED", "EXPRESSION")
		for _, class := range scrubClasses {
			redacted := "yes"
			if slices.Contains(rules.Off, class) {
				redacted = "no"
			}
			rows.Row(class, redacted, "")
		}
		for _, allowed := range rules.Allow {
			scope, class, _ := strings.Cut(allowed, "=")
			rows.Row(class, "not in "+scope, "")
		}
		for _, p := range rules.Patterns {
			rows.Row(p.Class, "yes", p.Expression)
		}
		c.Table(rows)
		return nil
	})
}

// change applies the flags to the rules.
func (r *scrubRulesCommand) change(rules *api.Scrubbing) error {
	rules.Active = false
	with := func(there, more, less []string) []string {
		there = slices.DeleteFunc(append(there, more...), func(one string) bool { return slices.Contains(less, one) })
		slices.Sort(there)
		return slices.Compact(there)
	}
	rules.Off, rules.Allow = with(rules.Off, r.Off, r.On), with(rules.Allow, r.Allow, r.Disallow)
	rules.Patterns = slices.DeleteFunc(rules.Patterns,
		func(p api.ScrubPattern) bool { return slices.Contains(r.Remove, p.Class) })
	for _, pattern := range r.Add {
		class, expression, found := strings.Cut(pattern, "=")
		if !found {
			return terminal.Wrong(`as in --add 'employee=\bEMP-\d{5}\b'`, "--add must be CLASS=EXPRESSION")
		}
		rules.Patterns = append(rules.Patterns, api.ScrubPattern{Class: class, Expression: expression})
	}
	return nil
}

type scrubRecordedCommand struct {
	terminal.Remote

	Since string `required:"" placeholder:"MOMENT"`
	Until string `placeholder:"MOMENT"`
	Plan  bool
}

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
	terminal.Put(query, "until", until)
	if s.Plan {
		return s.plan(ctx, c, slow, query)
	}
	return s.redact(ctx, c, slow, query)
}

// eachScrubbed reads an answer about the log page by page. It calls a function for each item, and returns the items
// as JSON.
func eachScrubbed[T any](
	ctx context.Context, c *terminal.Console, server *client.Client, r client.Request, do func(T),
) ([]terminal.Kept[T], error) {
	progress := terminal.Watch(c, "scrubbing")
	defer progress.End()
	all, first := []terminal.Kept[T]{}, int64(0)
	for {
		var page struct {
			Items []terminal.Kept[T] `json:"items"`
			api.LogSpan
		}
		if _, err := server.Do(ctx, r, &page); err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			do(item.Value)
		}
		all = append(all, page.Items...)
		if first == 0 {
			first = page.From
		}
		progress.Set(page.Through-first+1, page.To-first+1)
		if page.NextCursor == "" {
			return all, nil
		}
		r.Query.Set("cursor", page.NextCursor)
	}
}

func (s *scrubRecordedCommand) plan(
	ctx context.Context, c *terminal.Console, server *client.Client, query url.Values,
) error {
	found, inNames := knowledge.Redactions{}, 0
	things, held, texts := map[string]bool{}, map[string]bool{}, map[int64]bool{}
	rows := terminal.NewTable("WHAT", "POSITION", "EVENT", "FIELD", "FOUND")
	r := client.Get("v1", "scrubbing", "findings")
	r.Query = query
	all, err := eachScrubbed(ctx, c, server, r, func(f api.Finding) {
		kind := fmt.Sprintf("%d %s", f.Count, f.Class)
		switch {
		case f.InName:
			inNames++
			kind += ", in a name"
		case f.Held:
			held[f.Stream] = true
			kind += ", under legal hold"
		default:
			found[f.Class] += f.Count
			things[f.Stream], texts[f.Position] = true, true
		}
		what := f.ID
		if what == "" {
			what = f.Stream
		}
		rows.Row(what, fmt.Sprint(f.Position), f.Name, f.Field, kind)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return c.Document(map[string]any{"items": all})
	case len(all) == 0:
		c.Say("nothing to redact")
		return nil
	}
	c.Table(rows)
	if len(texts) > 0 {
		c.Say("would redact %s in %s of %d", found.List(), terminal.Several(len(texts), "text"), len(things))
	}
	if len(held) > 0 {
		c.Note("under legal hold, and would be refused: %d", len(held))
	}
	if inNames > 0 {
		c.Note("%d in names cannot be redacted: erase the item, or revise its tags and meta first", inNames)
	}
	return nil
}

func (s *scrubRecordedCommand) redact(
	ctx context.Context, c *terminal.Console, server *client.Client, query url.Values,
) error {
	found, things, texts := knowledge.Redactions{}, 0, 0
	refused := map[string]string{}
	r := client.Post(nil, "v1", "scrubbing", "redactions")
	r.Query = query
	all, err := eachScrubbed(ctx, c, server, r, func(done api.Redaction) {
		if done.Refused != "" {
			refused[done.Stream] = done.Refused
		}
		if len(done.Events) > 0 {
			things++
			texts += len(done.Events)
			found.Add(done.Redacted)
		}
	})
	switch {
	case err != nil:
	case c.JSON:
		err = c.Document(map[string]any{"items": all})
	case texts == 0 && len(refused) == 0:
		c.Say("nothing to redact")
	case texts > 0:
		c.Say("redacted %s in %s of %d", found.List(), terminal.Several(texts, "text"), things)
		c.Note("the files hold it until they are rewritten: annals erase --purge")
	}
	if err != nil || len(refused) == 0 {
		return err
	}
	for _, why := range refused {
		c.Note("not redacted: %s", why)
	}
	failed := &terminal.Failure{
		Code: terminal.ExitRefused, Detail: "not redacted: " + terminal.Several(len(refused), "refusal"),
	}
	if texts > 0 {
		failed.Code = terminal.ExitFailed // partly
	}
	return failed
}
