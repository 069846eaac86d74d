package domain

import (
	"context"
	"errors"
	"time"
)

// sessionID is the form of session ids.
var sessionID = expression(`^[A-Za-z0-9][A-Za-z0-9._~@:+-]{0,127}$`)

// SessionTarget is the session of a command, and its caller.
type SessionTarget struct {
	By    Principal
	Owner Entity // default: the caller
	ID    string
}

func (t SessionTarget) Stream() string { return SessionStream(t.owner(), t.ID) }

func (t SessionTarget) Reads() Reads { return Reads{} }

func (t SessionTarget) owner() Entity {
	if t.Owner != "" {
		return t.Owner
	}
	return t.By.EffectiveSubject()
}

// Validate names every bad field at once.
func (t SessionTarget) Validate() error {
	var p Problems
	t.check(&p)
	return p.Err()
}

func (t SessionTarget) check(p *Problems) {
	if !sessionID().MatchString(t.ID) {
		p.Add("session_id", "must be 1 to 128 of A-Z a-z 0-9 . _ ~ @ : + - and begin with a letter or digit")
	}
	checkEntity(p, "user", t.owner())
}

// session is the state of the session. It refuses callers that may not see it or write to it.
func (t SessionTarget) session(dc DecisionContext) (Session, error) {
	s := StateOf[Session](dc, t.Stream())
	switch {
	case !t.By.MaySeeSession(t.Stream()):
		return s, NoSession(t.ID)
	case t.By.Role == Auditor:
		return s, errAuditor()
	}
	return s, nil
}

// opened is the fact that begins the session, if it does not exist.
func (t SessionTarget) opened(s Session, agent string) []Fact {
	if s.Open() {
		return nil
	}
	if agent == "" && t.By.Subject.Kind() == Agent {
		agent = t.By.Subject.ID()
	}
	return []Fact{SessionOpened{Owner: t.owner(), Agent: agent}}
}

// NoSession is the refusal for a session that does not exist or that the caller may not see.
func NoSession(id string) error {
	return Refuse(ErrNotFound, "no session with id %s", id).WithFix("annals session list --wide shows whole ids")
}

// OpenSession asks for a new session. A session that exists is refused; a deleted one begins again.
type OpenSession struct {
	SessionTarget
	Agent string // the id of the agent that the owner talks to; default: the subject, if it is an agent
}

// Validate names every bad field at once.
func (c OpenSession) Validate() error {
	var p Problems
	c.check(&p)
	checkAgent(&p, c.Agent)
	return p.Err()
}

func checkAgent(p *Problems, id string) {
	if id != "" {
		checkEntity(p, "agent", Entity(Agent+":"+id))
	}
}

func (c OpenSession) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil {
		return nil, err
	}
	if s.Open() {
		return nil, Refuse(ErrTaken, "session %s exists already", c.ID).
			WithFix("add messages to it, or choose another id")
	}
	return c.opened(s, c.Agent), nil
}

var _ Command = OpenSession{}

// DeleteSession asks to remove a session from every list. It does nothing if there is none.
type DeleteSession struct {
	SessionTarget
	Reason string
}

// Validate names every bad field at once.
func (c DeleteSession) Validate() error {
	var p Problems
	c.check(&p)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

func (c DeleteSession) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil || !s.Open() {
		return nil, err
	}
	return []Fact{SessionDeleted{Reason: c.Reason}}, nil
}

// DeleteArchives are the commands that delete the archives of a deleted session, except those from before an earlier
// deletion.
func (s Session) DeleteArchives(t SessionTarget) []Command {
	var commands []Command
	for _, id := range s.ArchiveItems(t.Stream())[s.Before:] {
		commands = append(commands, Delete{Target: Target{By: t.By, ID: id}, Reason: "its session was deleted"})
	}
	return commands
}

// SubmitArchives submits commands for a session's archives. It ignores archives that are already gone.
func SubmitArchives(
	ctx context.Context, submit func(context.Context, []Submission) []Result, by Principal, origin Origin,
	commands []Command,
) error {
	submissions := make([]Submission, len(commands))
	for i, command := range commands {
		submissions[i] = Submission{Command: command, By: by, Origin: origin}
	}
	for _, result := range submit(ctx, submissions) {
		if result.Err != nil && !IsGone(result.Err) {
			return result.Err
		}
	}
	return nil
}

func (c DeleteSession) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

// EraseSession asks to destroy the messages of a session and the text of its lessons, for good. The owner in person
// and admins in person may do so. The caller erases its archives first: a legal hold on one of them keeps the
// session, too. Items made from the session are erased separately.
type EraseSession struct {
	SessionTarget
	ErasureReason

	Archives []string // ids of its archives' items: if one cannot be erased, the session stays
}

func (c EraseSession) Reads() Reads { return Reads{Items: c.Archives} }

// Complete fills in defaults, and names every bad field at once.
func (c EraseSession) Complete() (EraseSession, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	reason, err := c.ErasureReason.Complete()
	c.ErasureReason = reason
	return c, err
}

func (c EraseSession) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	switch {
	case err != nil:
		return nil, err
	case s.OpenedAt.IsZero():
		return nil, NoSession(c.ID)
	case !c.By.IsTenantAdmin() && !c.By.isSelf(s.Owner):
		return nil, Refuse(ErrForbidden, "the session may be erased by %s in person, or by an admin", s.Owner)
	}
	for _, id := range c.Archives {
		if _, err := (Erase{Target: Target{By: c.By, ID: id}, ErasureReason: c.ErasureReason}).Decide(dc, now); err != nil &&
			!errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	texts := dc.TextsOf(c.Stream())
	if s.Erased && len(texts) == 0 {
		return nil, nil
	}
	return []Fact{SessionErased{
		ReasonCode: c.ReasonCode, LegalBasis: c.LegalBasis, RequestedBy: c.RequestedBy, Ticket: c.Ticket,
		Events: idsOf(texts),
	}}, nil
}

var (
	_ TextCommand = DeleteSession{}
	_ Command     = EraseSession{}
)
