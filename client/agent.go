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
	// Client speaks to the server. Nil for an agent without a memory.
	Client *Client
	// For is the audience of its searches; nil for the caller's own.
	For *Audience
	// MinScore leaves out what is less about a task; nil for the server's choice.
	MinScore *float64
	// MaxTokens bounds what is put before a task; 0 for 1800.
	MaxTokens int
	// Sessions begins the names of the sessions that feedback makes. Empty for "agent".
	Sessions string
	// Scopes are who may see the skills that it pushes, and what is learned from its tasks; the caller alone if empty.
	Scopes []string
	// Environment is what feedback says of where it works, beside the operating system and Go.
	Environment map[string]string
}

// Agent gives a program that works on tasks its memory: what is known before, during and after a task, and what came
// of it. It never fails: without a server it answers with nothing, at once, and says so in its statistics and in the
// client's log. It is safe for concurrent use.
type Agent struct {
	cfg AgentConfig

	mu    sync.Mutex
	stats Stats
}

// Stats are what an agent's memory has done for the task at hand.
type Stats struct {
	Query               string         // what was asked before the task
	HitCounts           map[string]int // by kind
	EnrichmentChars     int            // of the injection
	FeedbackStatus      string         // "", "committed", "failed"
	PushedSkills        int
	AnalysisContextUsed bool
	Missed              int // requests that a server which is away, or refused, did not answer
}

// NewAgent makes an agent.
func NewAgent(cfg AgentConfig) *Agent {
	if cfg.Sessions == "" {
		cfg.Sessions = "agent"
	}
	return &Agent{cfg: cfg}
}

// Enrichment is what is known for a task. The zero Enrichment is what a server that is away knows.
type Enrichment struct {
	Query     string
	Injection string // Markdown for the prompt of the first step
	Hints     string // for choosing a skill
	HitCounts map[string]int
	Avoid     []string // failures, each on a line
	Items     []Briefed
}

// Start tells who the user is and what is known for a task, which may be empty.
func (a *Agent) Start(ctx context.Context, task string) Enrichment {
	return a.brief(ctx, Need{Stage: "start", Task: task, MaxTokens: a.maxTokens()})
}

// Before tells what is known before a task begins. The question is composed of the task and of what the user said
// last, see [ComposeQuery].
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

// During tells what is known about a goal that came up while working.
func (a *Agent) During(ctx context.Context, goal string) Enrichment {
	if strings.TrimSpace(goal) == "" {
		return Enrichment{}
	}
	return a.brief(ctx, Need{Stage: "focus", Goal: goal, MaxTokens: a.maxTokens()})
}

// Analysis tells what helps to find out why a task failed: what is known about the tools and of such cases, for the
// task and for the first failure.
func (a *Agent) Analysis(ctx context.Context, task string, toolIssues ...string) string {
	if strings.TrimSpace(task) == "" {
		return ""
	}
	told := a.brief(ctx, Need{Stage: "analysis", Task: task, ToolIssues: toolIssues})
	a.note(func(s *Stats) { s.AnalysisContextUsed = told.Injection != "" })
	return told.Injection
}

// Stats is what the memory has done so far.
func (a *Agent) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	stats := a.stats
	stats.HitCounts = maps.Clone(stats.HitCounts)
	return stats
}

// maxTokens is nil for the server's default.
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

// reaches asks a server that is there, and tells whether it answered.
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
		c.cfg.Logger.WarnContext(ctx, "working on without the memory", "request", what, "error", err)
		return false
	}
	return true
}

// Limits of a composed question.
const (
	lastTurns    = 3
	longestQuery = 500 // characters
)

// ComposeQuery is what is asked for a task: the task, and the last three things that the user said, cut to 500
// characters.
func ComposeQuery(task string, history []Message) string {
	var turns []string
	for _, m := range slices.Backward(history) {
		if said := strings.TrimSpace(m.Content); m.Role == "user" && said != "" {
			turns = append(turns, said)
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

// Strip is messages without what an enrichment put into them. Call it from the second step on: by then the tools'
// results say more, and whatever stands in a prompt is paid for with every step.
func (e Enrichment) Strip(messages []Message) []Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m Message) bool {
		return m.Role == "system" && m.Content != "" && (m.Content == e.Injection || m.Content == e.Hints)
	})
}
