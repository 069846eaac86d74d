package client

import (
	"context"
	"net/http"
)

// Need is what an agent asks for at a moment of its work: "start" (Task, which may be empty), "focus" (Goal), "query"
// (Query) or "analysis" (Task, and what failed).
type Need struct {
	Moment     string    `json:"moment"`
	Task       string    `json:"task,omitempty"`
	Goal       string    `json:"goal,omitempty"`
	Query      string    `json:"query,omitempty"`
	ToolIssues []string  `json:"tool_issues,omitempty"`
	Context    *Audience `json:"context,omitempty"`
	Tags       Tags      `json:"tags,omitempty"`
	MinScore   *float64  `json:"min_score,omitempty"`
	MaxTokens  int       `json:"max_tokens,omitempty"`
}

// Briefing is what an agent should know. Injection and Hints are empty where nothing is known.
type Briefing struct {
	Moment     string         `json:"moment"`
	About      string         `json:"about"`
	Injection  string         `json:"injection"` // Markdown for the prompt of the first step
	Hints      string         `json:"hints"`     // for choosing a skill
	Tokens     int            `json:"tokens"`
	HintTokens int            `json:"hint_tokens"`
	HitCounts  map[string]int `json:"hit_counts"` // by kind
	Items      []Briefed      `json:"items"`
	Degraded   string         `json:"degraded,omitempty"`
}

// Briefed is an item of a briefing.
type Briefed struct {
	Kind      string    `json:"kind"`
	Knowledge Knowledge `json:"knowledge"` // with its abstract as its content
	Score     float64   `json:"score"`
	Scope     string    `json:"scope"`
	Told      bool      `json:"told"` // there was room for it
}

// Context asks what an agent should know.
func (c *Client) Context(ctx context.Context, need Need) (Briefing, error) {
	var told Briefing
	_, err := c.ask(ctx, request{method: http.MethodPost, path: []string{"v1", "context"}, body: need}, &told)
	return told, err
}
