package viking

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// plan lists the searches that replaced one.
type plan struct {
	Reasoning string    `json:"reasoning"`
	Queries   []planned `json:"queries"`
}

type planned struct {
	Query    string `json:"query"`
	Context  string `json:"context_type"`
	Intent   string `json:"intent"`
	Priority int    `json:"priority"` // 1 is the most important
}

// searchInSession searches with the question, and with the last messages of a session beside it. A session that is
// unknown or empty has no effect.
func (s finder) searchInSession(ctx context.Context, q *query) (any, error) {
	var in struct {
		findRequest
		Session string `json:"session_id"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	recent := ""
	if in.Session != "" && in.limit() > 0 {
		var err error
		if recent, err = s.recentMessages(ctx, q, in.Session); err != nil {
			return nil, err
		}
	}
	if recent == "" {
		return s.answer(ctx, q, in.findRequest)
	}
	wide := in.findRequest
	wide.Limit, wide.NodeLimit = new(domain.MaxLimit), nil
	own, targets, answer, err := s.scored(ctx, q, wide)
	if err != nil {
		return nil, err
	}
	wide.Query = cut(in.Query+"\n"+recent, longestShaped)
	more, _, _, err := s.scored(ctx, q, wide)
	if err != nil {
		return nil, err
	}
	in.Threshold = cmp.Or(in.Threshold, new(leastShaped))
	mute := !text.HasContent(text.Query(in.Query))
	result, err := s.grouped(ctx, q, in.findRequest, shaped(own, more, mute), targets, answer)
	kinds := strings.Join(in.ContextType, ",")
	result.Plan = &plan{Reasoning: "what was said last in the session is asked for, too", Queries: []planned{
		{Query: in.Query, Context: kinds, Intent: "the question", Priority: 1},
		{Query: wide.Query, Context: kinds, Intent: "the question in its conversation", Priority: 3},
	}}
	return result, err
}

// The numbers of messages and characters that count, and the factor for hits of both together.
const (
	shapingMessages = 5
	shapingText     = 500
	longestShaped   = 2000
	shapingWeight   = 0.8
	leastShaped     = 0.05 // the least score, if the request names none
)

// recentMessages are the last messages of the users in a session. If there are none, it is the summary of the newest
// archive.
func (s finder) recentMessages(ctx context.Context, q *query, id string) (string, error) {
	stream, _, err := s.sessions.Find(ctx, q.caller.Principal, q.caller.EffectiveSubject(), id)
	if errors.Is(err, domain.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	messages, err := s.sessions.Messages(ctx, q.caller.Tenant, stream)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, event := range messages[max(0, len(messages)-shapingMessages):] {
		fact, _ := event.Fact.(domain.MessageAdded)
		for _, part := range fact.Message.Parts {
			if line := strings.TrimSpace(part.Text); fact.Role == domain.RoleUser && line != "" {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		archives, err := s.sessions.Summaries(ctx, q.caller.Tenant, stream, 1)
		if err != nil || len(archives) == 0 {
			return "", err
		}
		lines = append(lines, archives[0].Summary.Abstract)
	}
	slices.Reverse(lines) // cut keeps the newest
	return cut(strings.Join(lines, "\n"), shapingText), nil
}

// cut is the first most characters of s.
func cut(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}

// shaped are the hits of a question alone and in its conversation, best first. The conversation raises a hit at most
// to the geometric mean of both scores: what only the messages are about does not answer the question. A question
// without a word of its own, a mute one, means what the messages are about.
func shaped(own, more []scored, mute bool) []scored {
	at := map[string]int{}
	for i, hit := range own {
		at[hit.ID] = i
	}
	for _, hit := range more {
		i, known := at[hit.ID]
		if !known {
			i, own = len(own), append(own, scored{hit.Found, 0})
		}
		if !mute {
			hit.shown = math.Sqrt(shapingWeight * hit.shown * own[i].shown)
		}
		own[i].shown = max(own[i].shown, hit.shown)
	}
	slices.SortStableFunc(own, byShown)
	return own
}
