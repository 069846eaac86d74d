package operate

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type ScrubCommands struct {
	Rules    scrubRulesCommand    `cmd:""`
	Recorded scrubRecordedCommand `cmd:"" default:"withargs"`
}

type scrubRulesCommand struct {
	terminal.Writing

	Off    []string `placeholder:"CLASS" enum:"api_key,jwt,private_key,email,phone,cc"`
	On     []string `placeholder:"CLASS" enum:"api_key,jwt,private_key,email,phone,cc"`
	Add    []string `field:"patterns" sep:"none" placeholder:"CLASS=EXPRESSION"`
	Remove []string `placeholder:"CLASS"`
}

// scrubRules are the rules by which the server scrubs.
type scrubRules api.Scrubbing

// Run implements the command.
func (r *scrubRulesCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	path := []string{"v1", "scrubbing"}
	var rules scrubRules
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: path}, &rules)
	if err != nil {
		return err
	}
	if len(r.Off)+len(r.On)+len(r.Add)+len(r.Remove) > 0 {
		if err := r.change(&rules); err != nil {
			return err
		}
		a, err = server.Do(ctx, client.Request{Method: http.MethodPut, Path: path, Header: r.Header(0), Body: rules}, &rules)
		if err != nil {
			return err
		}
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	rules.print(c, r.all())
	return nil
}

func (scrubRulesCommand) all() []string {
	return []string{"api_key", "jwt", "private_key", "email", "phone", "cc"}
}

// change changes what the flags say.
func (r *scrubRulesCommand) change(rules *scrubRules) error {
	rules.Active = false
	rules.Off = slices.DeleteFunc(append(rules.Off, r.Off...), func(class string) bool { return slices.Contains(r.On, class) })
	slices.Sort(rules.Off)
	rules.Off = slices.Compact(rules.Off)
	rules.Patterns = slices.DeleteFunc(rules.Patterns, func(p api.ScrubPattern) bool { return slices.Contains(r.Remove, p.Class) })
	for _, given := range r.Add {
		class, expression, found := strings.Cut(given, "=")
		if !found {
			return terminal.Wrong(`as in --add 'employee=\bEMP-\d{5}\b'`, "--add must be CLASS=EXPRESSION")
		}
		rules.Patterns = append(rules.Patterns, api.ScrubPattern{Class: class, Expression: expression})
	}
	return nil
}

func (s scrubRules) print(c *terminal.Console, classes []string) {
	if !s.Active {
		c.Say("this server redacts nothing: ANNALS_SCRUB is off")
	}
	rows := &terminal.Grid{Heads: []string{"CLASS", "REDACTED", "EXPRESSION"}}
	for _, class := range classes {
		redacted := "yes"
		if slices.Contains(s.Off, class) {
			redacted = "no"
		}
		rows.Row(class, redacted, "")
	}
	for _, p := range s.Patterns {
		rows.Row(terminal.Printable(p.Class), "yes", terminal.Printable(p.Expression))
	}
	c.Table(rows.Render(c.Width))
}
