package extraction

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Extractor finds what is worth knowing in a conversation. It is safe for concurrent use.
type Extractor interface {
	// Name is recorded with what it found.
	Name() string
	// Extract gives lessons. The error matches [domain.ErrUnavailable] if another attempt may succeed, and
	// else says why there will never be anything.
	Extract(ctx context.Context, c Conversation) (Found, error)
}

// Conversation is an archive of a session.
type Conversation struct {
	Session  string // its id
	Agent    string // the id of the agent; may be empty
	Messages []Message
}

// Message is what somebody said.
type Message struct {
	EventID string
	Role    string
	At      time.Time
	Parts   []domain.Part
}

// Text is everything that was written, without the use of tools.
func (m Message) Text() string {
	var parts []string
	for _, part := range m.Parts {
		if part.Type != domain.PartTool && part.Type != domain.PartContext && part.Text != "" {
			parts = append(parts, part.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// fenced is code that somebody quotes: what stands in it nobody says.
var fenced = regexp.MustCompile("(?s)```.*?(?:```|$)")

// Prose is [Message.Text] without code.
func (m Message) Prose() string { return fenced.ReplaceAllString(m.Text(), "\n") }

// Found is what an extractor made of a conversation.
type Found struct {
	Findings []Finding
	Summary  domain.Summary
	Usage    domain.ModelUsage
}

// Finding is one thing worth knowing.
type Finding struct {
	Category   domain.Category
	Polarity   domain.Polarity // empty for what follows from the category
	Sources    []int           // messages that it was found in
	Key        string          // what it is about, such as "indentation" or the name of a tool; may be empty
	Single     bool            // of what the key names there is one: another value takes the place of the first
	Correction bool            // it says that something held before was wrong
	Task       string
	Content    string
	Abstract   string
	Tags       domain.Tags
	Meta       json.RawMessage
	Counted    *Counts // of a tool or a skill, whose counts are added up
}

// Counts are how often something ran, and what that cost.
type Counts struct {
	Calls            int     `json:"calls"`
	Successes        int     `json:"successes"`
	Failures         int     `json:"failures"`
	TotalMS          float64 `json:"total_ms"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
}

func (c Counts) plus(o Counts) Counts {
	return Counts{
		Calls: c.Calls + o.Calls, Successes: c.Successes + o.Successes, Failures: c.Failures + o.Failures,
		TotalMS: c.TotalMS + o.TotalMS, PromptTokens: c.PromptTokens + o.PromptTokens, CompletionTokens: c.CompletionTokens + o.CompletionTokens,
	}
}

// negativePrefix begins the ids of sessions that report what failed.
const negativePrefix = "openspace-neg-"

// Negative tells whether the conversation reports what failed.
func (c Conversation) Negative() bool {
	return strings.HasPrefix(c.Session, negativePrefix) || slices.ContainsFunc(c.Messages, func(m Message) bool {
		return polarityMark.MatchString(m.Text())
	})
}

// ConversationOf is an archive whose messages were read. What was erased is left out.
func ConversationOf(session, agent string, events []domain.Event) Conversation {
	c := Conversation{Session: session, Agent: agent}
	for _, event := range events {
		said, is := event.Fact.(domain.MessageAdded)
		if !is || len(said.Message.Parts) == 0 {
			continue
		}
		at := said.At
		if at.IsZero() {
			at = event.RecordedAt
		}
		c.Messages = append(c.Messages, Message{EventID: event.EventID, Role: said.Role, At: at, Parts: said.Message.Parts})
	}
	return c
}
