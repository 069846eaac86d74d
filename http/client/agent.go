package client

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// AgentConfig says for whom an [Agent] works.
type AgentConfig struct {
	// Client sends the requests. Nil for an agent without a memory.
	Client *Client
	// For is the audience of its searches; nil for the caller's own.
	For *Audience
	// MinScore omits knowledge that fits a task less; nil for the server's default.
	MinScore *float64
	// MaxTokens limits the knowledge for a task. Default: 1800.
	MaxTokens int
	// Sessions is the prefix of the names of feedback sessions. Default: "agent".
	Sessions string
	// Scopes are the audience of pushed skills and of what is learned from tasks. Default: the caller alone.
	Scopes []string
	// Environment describes the environment in feedback, besides the operating system and Go.
	Environment map[string]string
}

// Agent is the memory of a program that works on tasks. It finds knowledge before, during and after a task, and
// stores the outcome. Its methods never fail: without a server they return nothing at once, and note that in Stats
// and in the client's log. It is safe for concurrent use.
type Agent struct {
	cfg AgentConfig

	mu    sync.Mutex
	stats Stats
}

// Stats count what the memory did for the current task.
type Stats struct {
	Query               string         // the search before the task
	HitCounts           map[string]int // by kind
	EnrichmentChars     int            // of Injection
	FeedbackStatus      string         // "", "committed", "failed"
	PushedSkills        int
	AnalysisContextUsed bool
	Missed              int // requests that a server refused or did not answer
}

// NewAgent makes an agent.
func NewAgent(cfg AgentConfig) *Agent {
	if cfg.Sessions == "" {
		cfg.Sessions = "agent"
	}
	return &Agent{cfg: cfg}
}

// Enrichment is knowledge for a task. Without a server it is the zero value.
type Enrichment struct {
	Query     string
	Injection string // Markdown for the prompt of the first step
	Hints     string // for choosing a skill
	HitCounts map[string]int
	Avoid     []string // failures, each on a line
	Items     []Briefed
}

// Start returns the user's profile and the knowledge for a task, which may be empty.
func (a *Agent) Start(ctx context.Context, task string) Enrichment {
	return a.brief(ctx, Need{Stage: "start", Task: task, MaxTokens: a.maxTokens()})
}

// Before returns the knowledge for a task. [ComposeQuery] makes the query from the task and the user's last messages.
func (a *Agent) Before(ctx context.Context, task string, history []Message) Enrichment {
	query := ComposeQuery(task, history)
	if query == "" {
		return Enrichment{}
	}
	told := a.brief(ctx, Need{Stage: "query", Query: query, MaxTokens: a.maxTokens()})
	a.note(func(s *Stats) {
		s.Query, s.HitCounts, s.EnrichmentChars = query, told.HitCounts, utf8.RuneCountInString(told.Injection)
	})
	return told
}

// During returns the knowledge about a goal that came up in the work.
func (a *Agent) During(ctx context.Context, goal string) Enrichment {
	if strings.TrimSpace(goal) == "" {
		return Enrichment{}
	}
	return a.brief(ctx, Need{Stage: "focus", Goal: goal, MaxTokens: a.maxTokens()})
}

// Analysis returns knowledge that helps to find out why a task failed: about the tools, and about similar failures.
// It searches for the task and the first failure.
func (a *Agent) Analysis(ctx context.Context, task string, toolIssues ...string) string {
	if strings.TrimSpace(task) == "" {
		return ""
	}
	told := a.brief(ctx, Need{Stage: "analysis", Task: task, ToolIssues: toolIssues})
	a.note(func(s *Stats) { s.AnalysisContextUsed = told.Injection != "" })
	return told.Injection
}

// Stats returns what the memory has done so far.
func (a *Agent) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	stats := a.stats
	stats.HitCounts = maps.Clone(stats.HitCounts)
	return stats
}

// maxTokens is the limit; nil for the server's default.
func (a *Agent) maxTokens() *int {
	if a.cfg.MaxTokens == 0 {
		return nil
	}
	return &a.cfg.MaxTokens
}

func (a *Agent) note(what func(*Stats)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	what(&a.stats)
}

func (a *Agent) brief(ctx context.Context, need Need) Enrichment {
	need.Context, need.MinScore = a.cfg.For, a.cfg.MinScore
	var told Briefing
	if !a.reaches(ctx, "context", func() (err error) { told, err = a.cfg.Client.Context(ctx, need); return err }) {
		return Enrichment{}
	}
	e := Enrichment{
		Query: told.About, Injection: told.Injection, Hints: told.Hints, HitCounts: told.HitCounts,
		Items: told.Items,
	}
	for _, item := range told.Items {
		if item.Kind == "antipatterns" {
			e.Avoid = append(e.Avoid, strings.Join(strings.Fields(item.Knowledge.Content), " "))
		}
	}
	return e
}

// reaches makes a request if the server is available, and tells whether it succeeded.
func (a *Agent) reaches(ctx context.Context, what string, ask func() error) bool {
	c := a.cfg.Client
	if c == nil {
		return false
	}
	if !c.Available(ctx) {
		a.note(func(s *Stats) { s.Missed++ })
		return false
	}
	if err := ask(); err != nil {
		a.note(func(s *Stats) { s.Missed++ })
		c.cfg.Logger.WarnContext(ctx,
			"a request failed; the agent continues without the memory", "request", what, "error", err)
		return false
	}
	return true
}

// Limits of a composed question.
const (
	lastTurns    = 3
	longestQuery = 500 // characters
)

// ComposeQuery is the query for a task: the task and the user's last three messages, cut to 500 characters.
func ComposeQuery(task string, history []Message) string {
	var turns []string
	for _, m := range slices.Backward(history) {
		if content := strings.TrimSpace(m.Content); m.Role == "user" && content != "" {
			turns = append(turns, content)
		}
		if len(turns) == lastTurns {
			break
		}
	}
	slices.Reverse(turns)
	query := strings.TrimSpace(task)
	if len(turns) > 0 {
		query = strings.TrimSpace(query + "\nPrior user turns: " + strings.Join(turns, " || "))
	}
	if characters := []rune(query); len(characters) > longestQuery {
		query = string(characters[:longestQuery])
	}
	return query
}

// Strip removes an enrichment from messages. Call it from the second step on: then the results of tools matter more,
// and every step pays for the prompt.
func (e Enrichment) Strip(messages []Message) []Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m Message) bool {
		return m.Role == "system" && m.Content != "" && (m.Content == e.Injection || m.Content == e.Hints)
	})
}
