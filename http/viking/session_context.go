package viking

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// message is a message of a session, as it is shown.
type message struct {
	ID        string        `json:"id"`
	Role      string        `json:"role"`
	Parts     []messagePart `json:"parts"`
	CreatedAt string        `json:"created_at"`
	Peer      string        `json:"peer_id,omitempty"`
	Turn      string        `json:"turn_id,omitempty"`
	Kind      string        `json:"message_kind,omitempty"`
}

func messageOf(event domain.Event) message {
	fact, _ := event.Fact.(domain.MessageAdded)
	at := event.RecordedAt
	if !fact.At.IsZero() {
		at = fact.At
	}
	m := message{
		ID: "msg_" + strings.ReplaceAll(event.EventID, "-", ""), Role: fact.Role, Parts: []messagePart{},
		CreatedAt: at.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Peer: fact.Message.Peer,
		Turn: fact.Message.Turn, Kind: fact.Message.Kind,
	}
	for _, part := range fact.Message.Parts {
		m.Parts = append(m.Parts, partOf(part))
	}
	return m
}

// assembled is the context from which an agent continues a session.
type assembled struct {
	Overview  string          `json:"latest_archive_overview"`
	Abstracts []olderArchive  `json:"pre_archive_abstracts"`
	Messages  []message       `json:"messages"`
	Tokens    int             `json:"estimatedTokens"`
	Stats     assembledCounts `json:"stats"`
}

type olderArchive struct {
	ID       string `json:"archive_id"`
	Abstract string `json:"abstract"`
}

type assembledCounts struct {
	Total    int `json:"totalArchives"`
	Included int `json:"includedArchives"`
	Dropped  int `json:"droppedArchives"`
	Failed   int `json:"failedArchives"`
	Active   int `json:"activeTokens"`
	Archive  int `json:"archiveTokens"`
}

const (
	defaultBudget = 128_000
	mostArchives  = 100 // to read
)

// sessionContext fills a budget: first with the newest messages, then with the overview of the newest archive, and
// then with the abstracts of older archives.
func (s sessions) sessionContext(ctx context.Context, q *query) (any, error) {
	budget := q.intParam("token_budget", defaultBudget)
	if budget < 0 {
		q.found.Add("token_budget", "must not be negative")
	}
	target := q.session()
	stream, session, err := s.sessions.Find(ctx, q.caller.Principal, target.Owner, target.ID)
	if err != nil {
		return nil, err
	}
	live, err := s.sessions.Messages(ctx, q.caller.Tenant, stream)
	if err != nil {
		return nil, err
	}
	archives, err := s.sessions.Summaries(ctx, q.caller.Tenant, stream, mostArchives)
	if err != nil {
		return nil, err
	}
	out := assembled{Abstracts: []olderArchive{}, Messages: []message{}}
	first := len(live)
	for first > 0 {
		fact, _ := live[first-1].Fact.(domain.MessageAdded)
		if out.Stats.Active+fact.Tokens > budget {
			break
		}
		out.Stats.Active += fact.Tokens
		first--
	}
	for _, event := range live[first:] {
		out.Messages = append(out.Messages, messageOf(event))
	}
	fits := func(s string) bool {
		tokens := tokensOf(s)
		if out.Stats.Active+out.Stats.Archive+tokens > budget {
			return false
		}
		out.Stats.Archive += tokens
		out.Stats.Included++
		return true
	}
	for i, archive := range archives {
		switch {
		case i == 0 && fits(archive.Summary.Overview):
			out.Overview = archive.Summary.Overview
		case i > 0 && fits(archive.Summary.Abstract):
			out.Abstracts = append(out.Abstracts, olderArchive{domain.ArchiveName(archive.Archive), archive.Summary.Abstract})
		}
	}
	out.Stats.Total, out.Stats.Failed = session.Committed(), session.Failed
	out.Stats.Dropped = out.Stats.Total - out.Stats.Included
	out.Tokens = out.Stats.Active + out.Stats.Archive
	return out, nil
}

type archiveShown struct {
	ID       string    `json:"archive_id"`
	Abstract string    `json:"abstract"`
	Overview string    `json:"overview"`
	Messages []message `json:"messages"`
	Task     string    `json:"task_id"`
	At       time.Time `json:"committed_at"`
}

func (s sessions) sessionArchive(ctx context.Context, q *query) (any, error) {
	target := q.session()
	stream, _, err := s.sessions.Find(ctx, q.caller.Principal, target.Owner, target.ID)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(strings.TrimPrefix(q.request.PathValue("archive"), "archive_"))
	if err != nil {
		return nil, domain.Refuse(domain.ErrNotFound, "the session has no such archive")
	}
	archive, err := s.sessions.Archive(ctx, q.caller.Tenant, stream, number)
	if err != nil {
		return nil, err
	}
	out := archiveShown{
		ID: domain.ArchiveName(number), Messages: []message{}, Task: archive.Committed.EventID,
		At: archive.Committed.RecordedAt,
	}
	turns := 0
	for _, event := range archive.Messages {
		m := messageOf(event)
		if m.Role == domain.RoleUser {
			turns++
		}
		out.Messages = append(out.Messages, m)
	}
	if archive.Outcome != nil {
		if fact, is := archive.Outcome.Fact.(domain.SessionExtracted); is {
			out.Abstract, out.Overview = fact.Summary.Abstract, fact.Summary.Overview
		} else {
			out.Overview = fmt.Sprintf("# Session Summary\n\nOverview: %d turns, %d messages\n", turns, len(out.Messages))
		}
	}
	return out, nil
}
