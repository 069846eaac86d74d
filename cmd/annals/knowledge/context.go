package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type ContextCommand struct {
	terminal.Remote

	Stage string   `arg:"" complete:"stages"`
	About []string `field:"query,task,goal" arg:"" optional:""`

	ToolIssue []string `sep:"none" placeholder:"TEXT"`
	MaxTokens int      `placeholder:"N"`
	MinScore  *float64 `placeholder:"0…1"`
	Tag       []string `sep:"none" placeholder:"KEY=VALUE"`
	Hints     bool

	audience
}

func (n *ContextCommand) Run(ctx context.Context, c *terminal.Console) error {
	about, err := textOf(c, strings.Join(n.About, " "), domain.Stage(n.Stage).FieldName(), mostQuery)
	if err != nil {
		return err
	}
	var told api.ContextAnswer
	a, err := n.ask(ctx, c, n.body(about), &told)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	printBriefing(c, told, n.Hints)
	return nil
}

// ask asks the server. If none answers and none is named, it opens the local database of annals mcp in this process.
func (n *ContextCommand) ask(
	ctx context.Context, c *terminal.Console, body any, told *api.ContextAnswer,
) (*client.Response, error) {
	server, done, err := serve.Reach(ctx, c, &n.Remote)
	if err != nil {
		return nil, err
	}
	a, err := server.Do(ctx, client.Post(body, "v1", "context"), told)
	return a, errors.Join(err, done())
}

// body is the request, with about in the field of the stage.
func (n *ContextCommand) body(about string) api.ContextRequest {
	body := api.ContextRequest{
		Stage: n.Stage, ToolIssues: n.ToolIssue, MinScore: n.MinScore, Tags: terminal.TagsOf(n.Tag), Context: n.context(),
	}
	if n.MaxTokens != 0 {
		body.MaxTokens = &n.MaxTokens
	}
	switch domain.Stage(n.Stage).FieldName() {
	case "task":
		body.Task = about
	case "goal":
		body.Goal = about
	default:
		body.Query = about
	}
	return body
}

// printBriefing prints the text unchanged: it goes into the prompt of another program.
func printBriefing(c *terminal.Console, a api.ContextAnswer, hints bool) {
	text := a.Injection
	if hints {
		text = a.Hints
	}
	switch {
	case a.Injection == "":
		c.Note("nothing is known about that yet")
	case text == "":
		c.Note("nothing of what is known about that is a preference, a skill, a case or a pitfall: leave out --hints to " +
			"read it")
	}
	_, _ = fmt.Fprint(c.Out, text) // [terminal.Console.End] reports a failed write
	if a.Degraded != "" {
		c.Note("incomplete: %s", a.Degraded)
	}
}
