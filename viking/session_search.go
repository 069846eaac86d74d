package viking

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
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

// searchInSession searches with the question and with the last messages of a session. Hits of the messages count
// less. A session that is unknown or empty has no effect.
func (s *Server) searchInSession(ctx context.Context, q *query) (any, error) {
	var in struct {
		findRequest
		Session string `json:"session_id"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	result, err := s.answer(ctx, q, in.findRequest)
	if err != nil || in.Session == "" || s.cfg.Sessions == nil || in.limit() == 0 {
		return result, err
	}
	said, err := s.recentMessages(ctx, q, in.Session)
	if err != nil || said == "" {
		return result, err
	}
	shaped := in.findRequest
	shaped.Query = cut(in.Query+"\n"+said, longestShaped)
	more, err := s.answer(ctx, q, shaped)
	if err != nil {
		return nil, err
	}
	return in.merged(result, more, shaped.Query), nil
}

// The numbers of messages and characters that count, and the factor for hits of the messages alone.
const (
	shapingMessages = 5
	shapingText     = 500
	longestShaped   = 2000
	shapingWeight   = 0.8
)

// recentMessages are the last messages of the users in a session. If there are none, it is the summary of the newest
// archive.
func (s *Server) recentMessages(ctx context.Context, q *query, id string) (string, error) {
	stream, _, err := s.cfg.Sessions.Find(ctx, q.caller.Principal, q.caller.EffectiveSubject(), id)
	if errors.Is(err, domain.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	messages, err := s.cfg.Sessions.Messages(ctx, q.caller.Tenant, stream)
	if err != nil {
		return "", err
	}
	var said []string
	for _, event := range messages[max(0, len(messages)-shapingMessages):] {
		fact, _ := event.Fact.(domain.MessageAdded)
		for _, part := range fact.Message.Parts {
			if text := strings.TrimSpace(part.Text); fact.Role == domain.RoleUser && text != "" {
				said = append(said, text)
			}
		}
	}
	if len(said) == 0 {
		archives, err := s.cfg.Sessions.Summaries(ctx, q.caller.Tenant, stream, 1)
		if err != nil || len(archives) == 0 {
			return "", err
		}
		said = append(said, archives[0].Summary.Abstract)
	}
	slices.Reverse(said) // cut keeps the newest
	return cut(strings.Join(said, "\n"), shapingText), nil
}

// cut is the first most characters of s.
func cut(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}

// merged are the matches of both searches, best first.
func (in findRequest) merged(own, more findResult, asked string) findResult {
	limit, least := in.limit(), 0.0
	if in.Threshold != nil {
		least = *in.Threshold
	}
	type ranked struct {
		match
		list *[]match
	}
	var all []ranked
	out := findResult{Memories: []match{}, Resources: []match{}, Skills: []match{}}
	seen := map[string]bool{}
	add := func(from []match, list *[]match, weight float64) {
		for _, m := range from {
			if m.Score *= weight; !seen[m.URI] && m.Score >= least {
				seen[m.URI] = true
				all = append(all, ranked{m, list})
			}
		}
	}
	for _, part := range []struct {
		found  findResult
		weight float64
	}{{own, 1}, {more, shapingWeight}} {
		add(part.found.Memories, &out.Memories, part.weight)
		add(part.found.Resources, &out.Resources, part.weight)
		add(part.found.Skills, &out.Skills, part.weight)
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.Score, a.Score) })
	all = all[:min(len(all), limit)]
	for _, m := range all {
		*m.list = append(*m.list, m.match)
	}
	out.Total = len(all)
	out.Plan = &plan{Reasoning: "what was said last in the session is asked for, too", Queries: []planned{
		{Query: in.Query, Context: strings.Join(in.ContextType, ","), Intent: "the question", Priority: 1},
		{Query: asked, Context: strings.Join(in.ContextType, ","), Intent: "the question in its conversation", Priority: 3},
	}}
	return out
}
