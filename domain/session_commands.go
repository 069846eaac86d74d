package domain

import (
	"time"
)

// sessionID is what programs call their sessions.
var sessionID = expression(`^[A-Za-z0-9][A-Za-z0-9._~@:+-]{0,127}$`)

// SessionTarget is the session that a command is about, and who asks.
type SessionTarget struct {
	By    Principal
	Owner Entity // empty for whoever asks
	ID    string
}

// Stream implements [Command].
func (t SessionTarget) Stream() string { return SessionStream(t.owner(), t.ID) }

// Reads implements [Command].
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

// session is what the session has come to, for whom it exists and who may write to it.
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

// NoSession is the answer for sessions that do not exist, and for those that may not be seen.
func NoSession(id string) error { return Refuse(ErrNotFound, "no session with id %s", id) }

// OpenSession asks for a new session. One that exists is a refusal, one that was deleted begins anew.
type OpenSession struct {
	SessionTarget
	Agent string // the id of the agent that the owner talks to; empty for the subject, if that is one
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

// Decide implements [Command].
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
