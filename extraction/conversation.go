package extraction

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// Extractor finds what is worth knowing in a conversation. It is safe for concurrent use.
type Extractor interface {
	// Name is recorded with what it found.
	Name() string
	// Extract gives lessons. The error matches [domain.ErrUnavailable] if another attempt may succeed, and
	// else states why there will never be anything.
	Extract(ctx context.Context, c Conversation) (Result, error)
}

// Conversation is an archive of a session.
type Conversation struct {
	Session  string // its id
	Agent    string // the id of the agent; may be empty
	Messages []Message
}

// Message is what one speaker said. A recorded message that holds several turns is several of these, with one EventID.
type Message struct {
	EventID string
	Role    string
	Peer    string // who speaks in the role of a user, if it is not the session's owner
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

// fenced is code, and quoted a line of another text: the speaker's own words are neither.
var (
	fenced = text.Expression("(?s)```.*?(?:```|$)")
	quoted = text.Expression(`(?m)^[ \t]*>(?:[ \t>].*)?$`)
)

// Prose is [Message.Text] in the speaker's own words: without code and quotations.
func (m Message) Prose() string {
	return quoted().ReplaceAllString(fenced().ReplaceAllString(m.Text(), "\n"), "")
}

// speaks reports whether a message is a person's or an agent's, and not the output of a tool or a program's
// instructions.
func (m Message) speaks() bool { return m.Role == domain.RoleUser || m.Role == domain.RoleAssistant }

// turn begins what one speaker states in a message that holds a whole exchange.
var turn = text.Expression(`(?i)(?:^|\s)\[(user|assistant|system|tool)\]:\s*`)

// turns are what each speaker states in a message of the form "[user]: … [assistant]: …". Only a user's message is
// split, so that no text makes the words of an agent or a tool the user's.
func (m Message) turns() []Message {
	said := strings.TrimSpace(m.Text())
	marks := turn().FindAllStringSubmatchIndex(said, -1)
	if m.Role != domain.RoleUser || len(marks) == 0 || marks[0][0] != 0 {
		return []Message{m}
	}
	var all []Message
	for i, mark := range marks {
		end := len(said)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		one := m
		one.Role = strings.ToLower(said[mark[2]:mark[3]])
		one.Parts = []domain.Part{{Type: domain.PartText, Text: strings.TrimSpace(said[mark[1]:end])}}
		all = append(all, one)
	}
	last := &all[len(all)-1]
	for _, part := range m.Parts {
		if part.Type == domain.PartTool || part.Type == domain.PartContext {
			last.Parts = append(last.Parts, part)
		}
	}
	return all
}

// Result is what an extractor made of a conversation.
type Result struct {
	Findings []LessonDraft
	Summary  domain.Summary
	Usage    domain.ModelUsage
}

// LessonDraft is one thing worth knowing.
type LessonDraft struct {
	Category   domain.Category
	Polarity   domain.Polarity // empty for what follows from the category
	Sources    []int           // messages that it was found in
	Key        string          // what it is about, such as "indentation" or the name of a tool; may be empty
	Single     bool            // of what the key names there is one: another value takes the place of the first
	Correction bool            // it states that something held before was wrong
	Task       string
	Content    string
	Abstract   string
	Tags       domain.Tags
	Own        bool // it is for the owner alone, whatever the audience of the commit
	Meta       json.RawMessage
	Counted    *Counts // of a tool or a skill, whose counts are added up
}

// peerTag is the tag that names the peers who state a lesson.
const peerTag = "peer"

// attribute makes what peers state theirs: a lesson is tagged with its peers, and what a peer states of themselves is
// about a person whom the owner knows.
func attribute(c Conversation, findings []LessonDraft) {
	const longest = 100
	for i := range findings {
		f := &findings[i]
		var peers []string
		for _, source := range f.Sources {
			if peer := cut(c.Messages[source].Peer, longest); peer != "" && !slices.Contains(peers, peer) {
				peers = append(peers, peer)
			}
		}
		if len(peers) == 0 {
			continue
		}
		slices.Sort(peers)
		f.Tags = tagsJoined(f.Tags, domain.Tags{peerTag: peers})
		if !f.Category.AboutUser() {
			continue
		}
		if f.Category != domain.CategoryEvents {
			f.Category, f.Task = domain.CategoryEntities, ""
			delete(f.Tags, "category")
		}
		f.Content = strings.Join(peers, ", ") + ": " + f.Content
		if f.Abstract != "" {
			f.Abstract = strings.Join(peers, ", ") + ": " + f.Abstract
		}
	}
}

// samePeers reports whether two lessons are stated by the same people: the owner, or the same peers.
func samePeers(a, b domain.Tags) bool { return slices.Equal(a[peerTag], b[peerTag]) }

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
		TotalMS: c.TotalMS + o.TotalMS, PromptTokens: c.PromptTokens + o.PromptTokens, CompletionTokens: c.CompletionTokens +
			o.CompletionTokens,
	}
}

// negativePrefix begins the ids of sessions that report what failed.
const negativePrefix = "openspace-neg-"

// Negative reports whether the conversation reports what failed.
func (c Conversation) Negative() bool {
	return strings.HasPrefix(c.Session, negativePrefix) || slices.ContainsFunc(c.Messages, func(m Message) bool {
		return polarityMark().MatchString(m.Text())
	})
}

// ConversationOf is an archive of the owner's whose messages were read. What was erased is left out.
func ConversationOf(owner domain.Entity, session, agent string, events []domain.Event) Conversation {
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
		peer := said.Message.Peer
		if peer == string(owner) || peer == owner.ID() {
			peer = ""
		}
		m := Message{EventID: event.EventID, Role: said.Role, Peer: peer, At: at, Parts: said.Message.Parts}
		for _, one := range m.turns() {
			if one.Role != domain.RoleUser {
				one.Peer = ""
			}
			c.Messages = append(c.Messages, one)
		}
	}
	return c
}
