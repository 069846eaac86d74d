package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/client"
)

// prompt is a stage of an agent's work for which a person may fetch knowledge.
type prompt struct {
	name, title, description string
	arguments                []*sdk.PromptArgument
	need                     func(arguments map[string]string) client.Need
}

func prompts() []prompt {
	task := func(required bool) *sdk.PromptArgument {
		return &sdk.PromptArgument{Name: "task", Description: "What is to be done.", Required: required}
	}
	return []prompt{
		{
			"start_session", "Start a session", "Who you work for, and what is known for a task.",
			[]*sdk.PromptArgument{task(false)},
			func(a map[string]string) client.Need { return client.Need{Stage: "start", Task: a["task"]} },
		},
		{
			"before_task",
			"Before a task",
			"What is known that helps with a task: preferences, skills, cases, patterns, tools, failures to avoid.",
			[]*sdk.PromptArgument{task(true)},
			func(a map[string]string) client.Need { return client.Need{Stage: "query", Query: a["task"]} },
		},
		{
			"after_failure", "After a failure", "What is known about the tool that failed, and of such cases.",
			[]*sdk.PromptArgument{task(true), {Name: "tool_issue", Description: "The tool, and what it said."}},
			func(a map[string]string) client.Need {
				need := client.Need{Stage: "analysis", Task: a["task"]}
				if a["tool_issue"] != "" {
					need.ToolIssues = []string{a["tool_issue"]}
				}
				return need
			},
		},
	}
}

func (s *Server) addPrompts(server *sdk.Server) {
	for _, p := range prompts() {
		server.AddPrompt(&sdk.Prompt{Name: p.name, Title: p.title, Description: p.description, Arguments: p.arguments},
			func(ctx context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				if err := p.lacking(request.Params.Arguments); err != nil {
					return nil, promptError(err)
				}
				told, err := s.api(request).Context(ctx, p.need(request.Params.Arguments))
				if err != nil {
					return nil, promptError(renameFields(err, map[string]string{"query": "task", "tool_issues[0]": "tool_issue"}))
				}
				text := told.Injection
				if text == "" {
					text = "Nothing is known about that yet.\n"
				}
				return &sdk.GetPromptResult{Description: p.description, Messages: []*sdk.PromptMessage{
					{Role: "user", Content: &sdk.TextContent{Text: "# What Annals knows (non-authoritative)\n\n" + text}},
				}}, nil
			})
	}
}

// lacking is an error that names the missing required arguments; nil if there are none.
func (p prompt) lacking(values map[string]string) error {
	var bad []string
	for _, a := range p.arguments {
		if a.Required && strings.TrimSpace(values[a.Name]) == "" {
			bad = append(bad, a.Name+" must not be empty")
		}
	}
	if len(bad) > 0 {
		return argumentError{strings.Join(bad, "; ")}
	}
	return nil
}

// promptError is the error of a prompt. Bad arguments get the code with which hosts correct them.
func promptError(err error) error {
	why := reasonOf(err)
	wrapped := fmt.Errorf("%s: %s", why.Code, why.Message)
	if why.Code == invalidArgument {
		return withCode(wrapped, jsonrpc.CodeInvalidParams)
	}
	return wrapped
}
