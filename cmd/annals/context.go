package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/annals-kb/annals/domain"
)

type contextCommand struct {
	remote

	Moment string   `arg:"" complete:"moments" help:"start: who the user is, then what fits the task. focus: what fits a goal. query: six kinds of knowledge side by side. analysis: what is known about the tools and of such cases, when something failed."`
	About  []string `field:"query,task,goal" arg:"" optional:"" help:"The task, goal or question; - reads it from standard input. At start it may be left out."`

	ToolIssue []string `sep:"none" placeholder:"TEXT" help:"At analysis: what failed, the first failure first. Repeat for more."`
	MaxTokens int      `placeholder:"N" help:"How long it is at most: 50 to 32000 tokens; 1800 unless told, 500 at analysis."`
	MinScore  *float64 `placeholder:"0…1" help:"Only knowledge that is at least so much about it."`
	Tag       []string `sep:"none" placeholder:"KEY=VALUE" help:"Only knowledge with this tag."`
	Hints     bool     `help:"Only some lines that help to choose a skill."`

	audience
}

// Help implements kong.HelpProvider.
func (contextCommand) Help() string {
	return `It prints Markdown for a prompt, and nothing at all where nothing is known. Hosts run it when a session begins, before they
have started annals mcp: where no server answers and none is named, it reads what that keeps in
~/.local/share/annals.

Examples:

    annals context start --user 123 --project 456
    annals context query "make the weekly sales dashboard" --max-tokens 800
    annals context analysis "crawl example.com" --tool-issue "chromedriver: version mismatch"
    annals context focus "faster builds" --hints`
}

// Run implements the command.
func (n *contextCommand) Run(ctx context.Context, c *console) error {
	about, err := textOf(c, strings.Join(n.About, " "), domain.Stage(n.Moment).FieldName(), mostAsked)
	if err != nil {
		return err
	}
	var told contextAnswer
	a, err := n.ask(ctx, c, n.body(about), &told)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	told.print(c, n.Hints)
	return nil
}

// ask asks the server; where none answers and none is named, what annals mcp has kept is asked in this process.
func (n *contextCommand) ask(ctx context.Context, c *console, body any, told *contextAnswer) (*answer, error) {
	own, unfit := ownServerOf(ctx, c, &n.remote, storage{}) // unfit for a server: it is asked of nobody here
	api, err := n.connect()
	if err != nil {
		return nil, err
	}
	question := request{Method: http.MethodPost, Path: []string{"v1", "context"}, Body: body}
	a, err := api.read(ctx, question, told)
	if away, ok := errors.AsType[*failure](err); !ok || away.Code != exitUnavailable || a != nil || unfit != nil || own.named || !own.kept() {
		return a, err
	}
	own.passing = true
	if api.http.Transport, err = own.find(ctx); err != nil {
		return nil, err
	}
	a, err = api.read(ctx, question, told)
	return a, errors.Join(err, own.close())
}

// body says in the moment's own field what it is about.
func (n *contextCommand) body(about string) map[string]any {
	body := map[string]any{"moment": n.Moment}
	if about != "" {
		body[domain.Stage(n.Moment).FieldName()] = about
	}
	if len(n.ToolIssue) > 0 {
		body["tool_issues"] = n.ToolIssue
	}
	if n.MaxTokens != 0 {
		body["max_tokens"] = n.MaxTokens
	}
	if n.MinScore != nil {
		body["min_score"] = *n.MinScore
	}
	if len(n.Tag) > 0 {
		body["tags"] = tagsOf(n.Tag)
	}
	if who := n.context(); who != nil {
		body["context"] = who
	}
	return body
}

// contextAnswer is what an agent should know.
type contextAnswer struct {
	Injection string `json:"injection"`
	Hints     string `json:"hints"`
	Degraded  string `json:"degraded"`
}

// print gives the text as it is: what reads it is another program's prompt.
func (a contextAnswer) print(c *console, hints bool) {
	text := a.Injection
	if hints {
		text = a.Hints
	}
	switch {
	case a.Injection == "":
		c.note("nothing is known about that yet")
	case text == "":
		c.note("nothing of what is known about that is a preference, a skill, a case or a pitfall: leave out --hints to read it")
	}
	_, _ = fmt.Fprint(c.out, text) // whoever has stopped reading misses nothing
	if a.Degraded != "" {
		c.note("found by words alone: %s", printable(a.Degraded))
	}
}
