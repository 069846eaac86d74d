package domain

import "time"

// maxKept is how many messages a commit leaves with its session at most.
const maxKept = 10_000

// CommitSession asks to archive what was said, and to learn from it. Where nothing was said since the last
// time, nothing happens.
type CommitSession struct {
	SessionTarget
	Keep    int     // so many of the newest messages stay with the session
	Trigger Trigger // empty if nobody said
	Scopes  []Scope // for whom what is learned about work is; empty for the owner, and the agent that commits
}

// Validate names every bad field at once.
func (c CommitSession) Validate() error {
	var p Problems
	c.check(&p)
	if c.Keep < 0 || c.Keep > maxKept {
		p.Add("keep_recent_count", "must be 0 to %d", maxKept)
	}
	oneOf(&p, "trigger", c.Trigger, Triggers, false)
	if len(c.Scopes) > 0 {
		checkScopes(&p, c.Scopes)
	}
	return p.Err()
}

// audience is for whom what is learned about work is.
func (c CommitSession) audience(s Session) []Scope {
	if len(c.Scopes) > 0 {
		return c.Scopes
	}
	audience := []Scope{s.Owner.Scope()}
	if agent := c.By.Subject; agent == Entity(Agent+":"+s.Agent) && agent != s.Owner {
		audience = append(audience, agent.Scope())
	}
	return audience
}

// Decide implements [Command]. A wider audience than the default is refused unless the caller may publish to it.
func (c CommitSession) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	switch {
	case err != nil:
		return nil, err
	case !s.Open():
		return nil, NoSession(c.ID)
	case s.Live <= c.Keep:
		return nil, nil
	}
	archived := s.Live - c.Keep
	first := s.Number - int64(s.Live) + 1
	audience := c.audience(s)
	if err := mayPublish(c.By, audience, ""); err != nil {
		return nil, err
	}
	return []Fact{SessionCommitted{
		Archive: s.Archives + 1, First: first, Last: first + int64(archived) - 1, Kept: c.Keep,
		Tokens:  int(int64(s.Tokens) * int64(archived) / int64(s.Live)),
		Trigger: c.Trigger, Audience: audience,
	}}, nil
}

// RecordExtraction asks to record what was made of an archive: a [SessionExtracted] or an [ExtractionFailed]. Once is
// enough: what is settled stays so, whoever comes second, until somebody asks for another attempt at what failed.
type RecordExtraction struct {
	By      Principal
	Session string // the stream
	Archive int
	Fact    Fact
}

// Stream implements [Command].
func (c RecordExtraction) Stream() string { return c.Session }

// Reads implements [Command].
func (c RecordExtraction) Reads() Reads { return Reads{} }

// Decide implements [Command].
func (c RecordExtraction) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s := StateOf[Session](dc, c.Session)
	switch {
	case s.Failures[c.Archive].RetryRequested:
	case s.Processed >= c.Archive:
		return nil, nil
	case s.Processed+1 != c.Archive || c.Archive > s.Archives:
		return nil, Refuse(ErrConflict, "archive %d comes before archive %d", s.Processed+1, c.Archive)
	}
	if extracted, is := c.Fact.(SessionExtracted); is && s.Erased { // while it was being extracted
		return []Fact{ExtractionFailed{Task: extracted.Task, Archive: c.Archive, Attempts: 1, Lost: true, Reason: "what was said was erased"}}, nil
	}
	return []Fact{c.Fact}, nil
}

var (
	_ Command = CommitSession{}
	_ Command = RecordExtraction{}
)
