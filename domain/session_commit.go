package domain

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxKept limits the messages that a commit leaves in the session.
const maxKept = 10_000

// CommitSession asks to archive the messages and to extract lessons. It does nothing without messages since the last
// commit.
type CommitSession struct {
	SessionTarget
	Keep    int     // how many of the newest messages stay in the session
	Trigger Trigger // empty if unknown
	Scopes  []Scope // audience of lessons about work; default: the owner, and the agent that commits

	Unset LearnedFor // the rule for lessons of a tenant that has set none
}

func (c CommitSession) Reads() Reads { return Reads{Streams: []string{LearningStream}} }

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

// audience is the audience of lessons about work.
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

// learned is the audience of lessons by the tenant's rule; empty for that of all lessons about work.
func (c CommitSession) learned(rule LearningChanged) []Scope {
	to := cmp.Or(rule.LearnedFor, c.Unset).Audience(c.By)
	if to == "" || len(c.Scopes) > 0 {
		return nil
	}
	return []Scope{to}
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
		Trigger: c.Trigger, Audience: audience, Learned: c.learned(StateOf[LearningChanged](dc, LearningStream)),
	}}, nil
}

// RecordExtraction asks to record the result of an archive: a [SessionExtracted] or an [ExtractionFailed]. The first
// result stays, until a retry of a failure is requested.
type RecordExtraction struct {
	By      Principal
	Session string // the stream
	Archive int
	Fact    Fact
}

func (c RecordExtraction) Stream() string { return c.Session }

func (c RecordExtraction) Reads() Reads { return Reads{} }

func (c RecordExtraction) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s := StateOf[Session](dc, c.Session)
	switch {
	case s.Failures[c.Archive].RetryRequested:
	case s.Processed >= c.Archive:
		return nil, nil
	case s.Processed+1 != c.Archive || c.Archive > s.Archives:
		return nil, Refuse(ErrConflict, "archive %d comes before archive %d", s.Processed+1, c.Archive)
	}
	if extracted, is := c.Fact.(SessionExtracted); is && s.Erased { // the session was erased during the extraction
		return []Fact{
			ExtractionFailed{
				Task: extracted.Task, Archive: c.Archive, Attempts: 1, Lost: true, Reason: "what was said was erased",
			},
		}, nil
	}
	return []Fact{c.Fact}, nil
}

var (
	_ Command = CommitSession{}
	_ Command = RecordExtraction{}
)

// Failure is an archive whose extraction failed.
type Failure struct {
	Task           string    `json:"task"`
	At             time.Time `json:"at"`                // of the last attempt
	Retries        int       `json:"retries,omitempty"` // requested retries, this one included
	RetryRequested bool      `json:"asked,omitempty"`   // a retry is requested and pending
}

// retryDelays are the pauses before each automatic retry of a failed archive. They are long, since the cause may be a
// key that an operator has to change.
var retryDelays = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// MaxRetryPeriod is how long after a failure the server retries by itself.
const MaxRetryPeriod = 48 * time.Hour

// mostFailures limits the failed archives that a session remembers, the newest ones. A state must not grow with its
// stream.
const mostFailures = 100

// Due tells whether the server should retry a failed archive now.
func (f Failure) Due(now time.Time) bool {
	return !f.RetryRequested && f.Retries < len(retryDelays) && now.Sub(f.At) >= retryDelays[f.Retries]
}

// Unextracted are the failed archives that can be retried, in their order, without those from before a deletion.
func (s Session) Unextracted() []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Failures)), func(archive int) bool { return archive <= s.Before })
}

// Due tells whether the server should retry an archive of the session now.
func (s Session) Due(now time.Time) bool {
	return s.Open() && slices.ContainsFunc(s.Unextracted(), func(archive int) bool { return s.Failures[archive].Due(now) })
}

// RetryExtraction asks to retry one failed archive of a session, or all. It ignores archives that did not fail, or
// whose retry is pending.
type RetryExtraction struct {
	SessionTarget
	Archive int  // 0 for all
	OnlyDue bool // only archives that are due, see [Failure.Due]
}

// Validate names every bad field at once.
func (c RetryExtraction) Validate() error {
	var p Problems
	c.check(&p)
	if c.Archive < 0 {
		p.Add("archive", "must be the number of an archive")
	}
	return p.Err()
}

func (c RetryExtraction) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil {
		return nil, err
	}
	if !s.Open() {
		return nil, NoSession(c.ID)
	}
	var facts []Fact
	for _, archive := range s.Unextracted() {
		failure := s.Failures[archive]
		if c.Archive != 0 && c.Archive != archive || failure.RetryRequested || c.OnlyDue && !failure.Due(now) {
			continue
		}
		facts = append(facts, ExtractionRequested{Task: failure.Task, Archive: archive, Retry: failure.Retries + 1})
	}
	return facts, nil
}

// failed is the session with a failed archive. An archive without texts cannot be retried.
func (s Session) failed(f ExtractionFailed, at time.Time) Session {
	failure, again := s.Failures[f.Archive]
	if !again && f.Archive > s.Before {
		s.Failed++
	}
	s.Failures = maps.Clone(s.Failures)
	if f.Lost {
		delete(s.Failures, f.Archive)
		return s
	}
	if s.Failures == nil {
		s.Failures = map[int]Failure{}
	}
	s.Failures[f.Archive] = Failure{Task: f.Task, At: at, Retries: failure.Retries}
	if len(s.Failures) > mostFailures {
		delete(s.Failures, slices.Min(slices.Collect(maps.Keys(s.Failures))))
	}
	return s
}

// recovered is the session after the successful retry of an archive.
func (s Session) recovered(archive int) Session {
	if _, failed := s.Failures[archive]; failed {
		if archive > s.Before {
			s.Failed--
		}
		s.Failures = maps.Clone(s.Failures)
		delete(s.Failures, archive)
	}
	return s
}

// retryRequested is the session with a pending retry.
func (s Session) retryRequested(archive, retry int) Session {
	failure := s.Failures[archive]
	failure.RetryRequested, failure.Retries = true, retry
	s.Failures = maps.Clone(s.Failures)
	s.Failures[archive] = failure
	return s
}

var _ Command = RetryExtraction{}
