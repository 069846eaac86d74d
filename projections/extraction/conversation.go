package extraction

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// Extractor finds lessons in a conversation. It is safe for concurrent use.
type Extractor interface {
	// Name is recorded with the lessons.
	Name() string
	// Extract returns lessons. The error matches [domain.ErrUnavailable] if another attempt may succeed; otherwise it
	// says why extraction fails permanently.
	Extract(ctx context.Context, c Conversation) (Result, error)
}

// Conversation is an archive of a session.
type Conversation struct {
	Session  string // its id
	Agent    string // the id of the agent; may be empty
	Messages []Message
}

// Message is what one speaker said. A recorded message with several turns becomes several of these, with one EventID.
type Message struct {
	EventID string
	Role    string
	Peer    string // the speaker in the role of a user, if it is not the session's owner
	At      time.Time
	Parts   []domain.Part
}

// Text is the text of a message, without the use of tools.
func (m Message) Text() string {
	var parts []string
	for _, part := range m.Parts {
		if part.Type != domain.PartTool && part.Type != domain.PartContext && part.Text != "" {
			parts = append(parts, part.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// fenced is code, and quoted a line of another text. Neither is in the speaker's own words.
var (
	fenced = text.Expression("(?s)```.*?(?:```|$)")
	quoted = text.Expression(`(?m)^[ \t]*>(?:[ \t>].*)?$`)
)

// Prose is [Message.Text] without code and quotations.
func (m Message) Prose() string {
	return quoted().ReplaceAllString(fenced().ReplaceAllString(m.Text(), "\n"), "")
}

// speaks reports whether a message is from a person or an agent, not from a tool or a program.
func (m Message) speaks() bool { return m.Role == domain.RoleUser || m.Role == domain.RoleAssistant }

// turn begins the text of one speaker in a message that contains a whole exchange.
var turn = text.Expression(`(?i)(?:^|\s)\[(user|assistant|system|tool)\]:\s*`)

// turns splits a message of the form "[user]: … [assistant]: …" by speaker, also if the first mark is only a colon.
// It splits only a user's message, so that the words of an agent or a tool never count as the user's.
func (m Message) turns() []Message {
	content := strings.TrimSpace(m.Text())
	if rest, cut := strings.CutPrefix(content, ":"); cut && turn().MatchString(rest) {
		content = "[user]:" + rest
	}
	marks := turn().FindAllStringSubmatchIndex(content, -1)
	if m.Role != domain.RoleUser || len(marks) == 0 || marks[0][0] != 0 {
		return []Message{m}
	}
	var all []Message
	for i, mark := range marks {
		end := len(content)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		one := m
		one.Role = strings.ToLower(content[mark[2]:mark[3]])
		one.Parts = []domain.Part{{Type: domain.PartText, Text: strings.TrimSpace(content[mark[1]:end])}}
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

// Result is the result of an extraction.
type Result struct {
	Findings []LessonDraft
	Summary  domain.Summary
	Usage    domain.ModelUsage
}

// LessonDraft is a finding of an extractor.
type LessonDraft struct {
	Category   domain.Category
	Polarity   domain.Polarity // default: by category
	Sources    []int           // messages that it was found in
	Key        string          // the topic, such as "indentation" or the name of a tool; may be empty
	Single     bool            // the key has one value: another one replaces the first
	Value      string          // of the key, and of its kind
	Doubtful   bool            // another value of the key may hold as well, so that people review both
	Correction bool            // it corrects an earlier statement
	Task       string
	Content    string
	Abstract   string
	Tags       domain.Tags
	Private    string // why it is for the owner alone, whatever the audience of the commit; empty if it is not
	Meta       json.RawMessage
	Counted    *Counts // of a tool or a skill; counts are added up
}

// peerTag is the tag that names the peers who said a lesson.
const peerTag = "peer"

// attribute tags lessons with the peers who said them. What peers say about themselves becomes knowledge about a
// person whom the owner knows.
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
		f.Tags = f.Tags.With(domain.Tags{peerTag: peers})
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

// samePeers reports whether two lessons were said by the same people: the owner, or the same peers.
func samePeers(a, b domain.Tags) bool { return slices.Equal(a[peerTag], b[peerTag]) }

// Counts are the runs of a tool or skill, and their costs.
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

// negativePrefix begins the ids of sessions about failures.
const negativePrefix = "openspace-neg-"

// Negative reports whether the conversation is about a failure.
func (c Conversation) Negative() bool {
	return strings.HasPrefix(c.Session, negativePrefix) || slices.ContainsFunc(c.Messages, func(m Message) bool {
		return polarityMark().MatchString(m.Text())
	})
}

// workspace is the peer by which plugins name the directory or repository that a user works in, and no other speaker.
var workspace = text.Expression(`^(?:git-.+-[0-9a-f]{8}|git-local-[0-9a-f]{12}|ws-[0-9a-f]{12}|-.*|[A-Za-z]--.*|.*[/\\].*)$`)

// addDates adds the date to what was said about "yesterday", which means another day when it is read.
func addDates(c Conversation, r *Result) {
	for i := range r.Findings {
		if f := &r.Findings[i]; len(f.Sources) > 0 {
			at := c.Messages[f.Sources[0]].At
			f.Content, f.Abstract = text.Dated(f.Content, at), text.Dated(f.Abstract, at)
		}
	}
	at := c.Messages[0].At
	r.Summary.Abstract, r.Summary.Overview = text.Dated(r.Summary.Abstract, at), text.Dated(r.Summary.Overview, at)
}

// ConversationOf is the conversation in the events of an archive, without erased messages.
func ConversationOf(owner domain.Entity, session, agent string, events []domain.Event) Conversation {
	c := Conversation{Session: session, Agent: agent}
	for _, event := range events {
		message, is := event.Fact.(domain.MessageAdded)
		if !is || len(message.Message.Parts) == 0 {
			continue
		}
		at := message.At
		if at.IsZero() {
			at = event.RecordedAt
		}
		peer := message.Message.Peer
		if peer == string(owner) || peer == owner.ID() || workspace().MatchString(peer) {
			peer = ""
		}
		m := Message{EventID: event.EventID, Role: message.Role, Peer: peer, At: at, Parts: message.Message.Parts}
		for _, one := range m.turns() {
			if one.Role != domain.RoleUser {
				one.Peer = ""
			}
			c.Messages = append(c.Messages, one)
		}
	}
	return c
}
