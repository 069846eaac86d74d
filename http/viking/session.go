package viking

import (
	"context"
	"errors"
	"time"

	"github.com/annals-kb/annals/domain"
)

// sessions answers requests about sessions.
type sessions struct {
	sessions Sessions
	tasks    tasks
	tree     tree
	editor   editor
	eraser   Eraser
}

func (s sessions) routes(on route) {
	const one = "/api/v1/sessions/{id}"
	on("POST /api/v1/sessions", s.openSession)
	on("GET /api/v1/sessions", s.listSessions)
	on("GET "+one, s.showSession)
	on("DELETE "+one, s.deleteSession)
	on("POST "+one+"/messages", s.addMessage)
	on("POST "+one+"/messages/batch", s.addMessages)
	on("POST "+one+"/used", s.useContexts)
	on("POST "+one+"/commit", s.commitSession)
	on("POST "+one+"/extract", s.extractSession)
	on("POST "+one+"/retry", s.retrySession)
	on("GET "+one+"/context", s.sessionContext)
	on("GET "+one+"/archives/{archive}", s.sessionArchive)
	on("GET /api/v1/stats/sessions/{id}", s.sessionStats)
}

// session is the session that a request names.
func (q *query) session() domain.SessionTarget {
	return domain.SessionTarget{By: q.caller.Principal, Owner: q.owner(), ID: q.request.PathValue("id")}
}

// owner is the owner of the request's sessions: the caller, or another owner whose sessions the caller may see.
func (q *query) owner() domain.Entity {
	if owner := q.param("owner"); owner != "" {
		return domain.Entity(owner)
	}
	return q.caller.EffectiveSubject()
}

// agent is the id of the agent that the caller named.
func (c caller) agentID() string {
	if c.agent == defaultID {
		return ""
	}
	return c.agent
}

// user is OpenViking's name of an owner.
type user struct {
	Account string `json:"account_id"`
	User    string `json:"user_id"`
	Agent   string `json:"agent_id"`
}

func (c caller) identity() user { return user{Account: c.Tenant, User: c.user, Agent: c.agent} }

type opened struct {
	ID   string `json:"session_id"`
	URI  string `json:"uri"`
	User user   `json:"user"`
}

func (s sessions) openSession(ctx context.Context, q *query) (any, error) {
	var in struct {
		ID string `json:"session_id"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	target := q.session()
	if target.ID = in.ID; target.ID == "" {
		target.ID = q.newSessionID()
	}
	command := domain.OpenSession{SessionTarget: target, Agent: q.caller.agentID()}
	if _, err := s.editor.submitIdempotent(ctx, q, command); err != nil {
		return nil, err
	}
	return opened{ID: target.ID, URI: domain.SessionURI(target.Owner, target.ID), User: q.caller.identity()}, nil
}

type listed struct {
	ID    string `json:"session_id"`
	URI   string `json:"uri"`
	IsDir bool   `json:"is_dir"`
}

// mostSessions is the largest number of sessions in a list, which has no pages.
const mostSessions = 10_000

func (s sessions) listSessions(ctx context.Context, q *query) (any, error) {
	limit, deleted := q.intParam("limit", mostSessions), q.boolParam("deleted")
	list, _, err := s.sessions.List(
		ctx, q.caller.Principal, q.owner(), q.param("after"), min(max(limit, 0), mostSessions), deleted,
	)
	all := []listed{}
	for _, stream := range list {
		owner, id, _ := domain.SessionOf(stream.Name)
		all = append(all, listed{ID: id, URI: domain.SessionURI(owner, id), IsDir: true})
	}
	return all, err
}

// shown is the state of a session.
type shown struct {
	ID           string         `json:"session_id"`
	URI          string         `json:"uri"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
	SaidFrom     time.Time      `json:"said_from,omitzero"`
	SaidUntil    time.Time      `json:"said_until,omitzero"`
	Messages     int            `json:"message_count"`
	Newest       int64          `json:"newest_message"`
	Commits      int            `json:"commit_count"`
	Extracted    map[string]int `json:"memories_extracted"`
	LastCommit   string         `json:"last_commit_at"`
	LastTask     string         `json:"last_task_id,omitempty"`
	Model        tokenUsage     `json:"llm_token_usage"`
	Embedding    totalTokens    `json:"embedding_token_usage"`
	User         user           `json:"user"`
	Pending      int            `json:"pending_tokens"`
	Turns        int            `json:"total_turns"`
	ContextsUsed int            `json:"contexts_used"`
	SkillsUsed   int            `json:"skills_used"`
}

type tokenUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type totalTokens struct {
	Total int `json:"total_tokens"`
}

func usage(prompt, completion int) tokenUsage {
	return tokenUsage{Prompt: prompt, Completion: completion, Total: prompt + completion}
}

func (s sessions) showSession(ctx context.Context, q *query) (any, error) {
	create := q.boolParam("auto_create")
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	target := q.session()
	_, session, err := s.sessions.Find(ctx, q.caller.Principal, target.Owner, target.ID)
	if create && errors.Is(err, domain.ErrNotFound) {
		if _, err := s.editor.submit(
			ctx, q, domain.OpenSession{SessionTarget: target, Agent: q.caller.agentID()},
		); err != nil && !errors.Is(err, domain.ErrTaken) {
			return nil, err
		}
		_, session, err = s.sessions.Find(ctx, q.caller.Principal, target.Owner, target.ID)
	}
	if err != nil {
		return nil, err
	}
	out := shown{
		ID: target.ID, URI: domain.SessionURI(session.Owner, target.ID),
		CreatedAt: session.OpenedAt, UpdatedAt: session.UpdatedAt, SaidFrom: session.SaidFrom, SaidUntil: session.SaidUntil,
		Newest:   session.Number,
		Messages: session.Live, Commits: session.Committed(), Extracted: learned(session.Learned), LastTask: session.LastTask,
		Model: usage(session.Prompt, session.Completion), User: q.caller.identity(), Pending: session.Tokens,
		Turns: session.Turns, ContextsUsed: session.Contexts, SkillsUsed: session.Skills,
	}
	if session.Agent != "" {
		out.User.Agent = session.Agent
	}
	if !session.LastCommit.IsZero() {
		out.LastCommit = session.LastCommit.Format(time.RFC3339Nano)
	}
	return out, nil
}

// learned counts the created items by category and in all.
func learned(of domain.Learned) map[string]int {
	counts, total := map[string]int{}, 0
	for _, category := range domain.Categories {
		counts[string(category)] = of[category]
		total += of[category]
	}
	counts["total"] = total
	return counts
}

type stats struct {
	ID        string `json:"session_id,omitempty"`
	Turns     int    `json:"total_turns"`
	Contexts  int    `json:"contexts_used"`
	Skills    int    `json:"skills_used"`
	Extracted int    `json:"memories_extracted"`
}

func statsOf(session domain.Session) stats {
	return stats{
		Turns: session.Turns, Contexts: session.Contexts, Skills: session.Skills,
		Extracted: learned(session.Learned)["total"],
	}
}

func (s sessions) sessionStats(ctx context.Context, q *query) (any, error) {
	target := q.session()
	_, session, err := s.sessions.Find(ctx, q.caller.Principal, target.Owner, target.ID)
	if err != nil {
		return nil, err
	}
	out := statsOf(session)
	out.ID = target.ID
	return out, nil
}
