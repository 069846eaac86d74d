package domain

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// Session is the state of a session. Its messages are in the log.
type Session struct {
	Owner      Entity          `json:"owner"`
	Agent      string          `json:"agent,omitempty"`
	OpenedAt   time.Time       `json:"opened_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	Deleted    bool            `json:"deleted,omitempty"`
	Erased     bool            `json:"erased,omitempty"`
	Number     int64           `json:"number,omitempty"`    // of the newest message; a deletion does not reset it
	SaidFrom   time.Time       `json:"said_from,omitzero"`  // of the first message, by the clock of the caller if it told
	SaidUntil  time.Time       `json:"said_until,omitzero"` // of the last one
	Live       int             `json:"live,omitempty"`      // messages that are in no archive
	Tokens     int             `json:"tokens,omitempty"`    // of those messages, an estimate
	Turns      int             `json:"turns,omitempty"`     // messages of the user
	Contexts   int             `json:"contexts,omitempty"`  // contexts that were used
	Skills     int             `json:"skills,omitempty"`
	Archives   int             `json:"archives,omitempty"`   // of all time; a deletion does not reset it
	Before     int             `json:"before,omitempty"`     // archives from before the last deletion
	Processed  int             `json:"settled,omitempty"`    // archives that were extracted, or failed: all up to this one
	Failed     int             `json:"failed,omitempty"`     // how many of those failed
	Failures   map[int]Failure `json:"failures,omitempty"`   // failures that can be retried, by the archive's number
	LastCommit time.Time       `json:"last_commit,omitzero"` // zero if there was none
	LastTask   string          `json:"last_task,omitempty"`  // id of the event of the newest commit
	Prompt     int             `json:"prompt,omitempty"`     // tokens that a model read
	Completion int             `json:"completion,omitempty"` // tokens that a model wrote
	Learned    Learned         `json:"learned,omitempty"`    // items made from it, by category
	Decided    Decided         `json:"decided,omitempty"`    // lessons, by decision
}

// Learned counts items by their category.
type Learned map[Category]int

// Decided counts lessons by their decision.
type Decided map[Decision]int

// Committed counts the archives since the session was opened.
func (s Session) Committed() int { return s.Archives - s.Before }

// Open tells whether the session exists for callers that may see it.
func (s Session) Open() bool { return !s.OpenedAt.IsZero() && !s.Deleted }

// AwaitsExtraction tells whether the newest archive has not been processed yet.
func (s Session) AwaitsExtraction() bool {
	_, failed := s.Failures[s.Archives]
	return s.Archives > s.Before && (s.Processed < s.Archives || failed)
}

var SessionStreams = StreamKind{
	Name: "session", State: Session{}, Form: 2, KeepsRights: true,
	Facts: []Fact{
		SessionOpened{},
		MessageAdded{},
		ContextUsed{},
		SessionCommitted{},
		SessionExtracted{},
		ExtractionFailed{},
		ExtractionRequested{},
		SessionDeleted{},
		SessionErased{},
	},
}

// SessionStream is the stream of an owner's session. For a user, the name contains only the id.
func SessionStream(owner Entity, id string) string { return SessionsOf(owner) + id }

// SessionsOf is the prefix of the streams of an owner's sessions.
func SessionsOf(owner Entity) string {
	name := string(owner)
	if owner.Kind() == User {
		name = owner.ID()
	}
	return SessionStreams.Of(name) + "/"
}

// SessionOf is the owner and id of the session that a stream is about; false for any other stream.
func SessionOf(stream string) (owner Entity, id string, isSession bool) {
	name, id, whole := strings.Cut(SessionStreams.ID(stream), "/")
	if !whole {
		return "", "", false
	}
	if !strings.Contains(name, ":") {
		name = User + ":" + name
	}
	return Entity(name), id, true
}

// MaySeeSession tells whether p may see the session of a stream; false for any other stream.
func (p Principal) MaySeeSession(stream string) bool {
	owner, _, is := SessionOf(stream)
	return is && p.ActsFor(owner)
}

func (s Session) Evolve(fact Fact, at EventMetadata) (State, error) {
	if _, opens := fact.(SessionOpened); !opens && s.OpenedAt.IsZero() {
		return s, fmt.Errorf("the session was never opened")
	}
	s.UpdatedAt = at.RecordedAt
	switch f := fact.(type) {
	case SessionOpened:
		if s.Open() {
			return s, fmt.Errorf("the session is open already")
		}
		s = Session{
			Owner: f.Owner, Agent: f.Agent, OpenedAt: at.RecordedAt, UpdatedAt: at.RecordedAt,
			Number: s.Number, Archives: s.Archives, Before: s.Archives, Processed: s.Processed, Failures: s.Failures,
		}
	case MessageAdded:
		if s.Deleted || f.Number != s.Number+1 {
			return s, fmt.Errorf("message %d follows message %d", f.Number, s.Number)
		}
		s.Number = f.Number
		said := f.At
		if said.IsZero() {
			said = at.RecordedAt
		}
		if s.SaidFrom.IsZero() || said.Before(s.SaidFrom) {
			s.SaidFrom = said
		}
		if said.After(s.SaidUntil) {
			s.SaidUntil = said
		}
		s.Live, s.Tokens = s.Live+1, s.Tokens+f.Tokens
		if f.Role == RoleUser {
			s.Turns++
		}
	case ContextUsed:
		s.Contexts, s.Skills = s.Contexts+f.Contexts, s.Skills+f.Skills
	case SessionCommitted:
		if f.Archive != s.Archives+1 || f.Last+int64(f.Kept) != s.Number || f.Messages()+f.Kept != s.Live {
			return s, fmt.Errorf("archive %d cannot follow archive %d", f.Archive, s.Archives)
		}
		s.Archives, s.Live, s.Tokens = f.Archive, f.Kept, s.Tokens-f.Tokens
		s.LastCommit, s.LastTask = at.RecordedAt, at.EventID
	case SessionExtracted:
		if err := s.checkNextArchive(f.Archive); err != nil {
			return s, err
		}
		s.Processed = max(s.Processed, f.Archive)
		s = s.recovered(f.Archive)
		s.Prompt, s.Completion = s.Prompt+f.Usage.PromptTokens, s.Completion+f.Usage.CompletionTokens
		if f.Archive > s.Before {
			s.Learned, s.Decided = s.count(f.Lessons)
		}
	case ExtractionFailed:
		if err := s.checkNextArchive(f.Archive); err != nil {
			return s, err
		}
		s.Processed = max(s.Processed, f.Archive)
		s = s.failed(f, at.RecordedAt)
	case ExtractionRequested:
		if _, failed := s.Failures[f.Archive]; !failed {
			return s, fmt.Errorf("nothing failed about archive %d", f.Archive)
		}
		s = s.retryRequested(f.Archive, f.Retry)
	case SessionDeleted:
		if s.Deleted {
			return s, fmt.Errorf("the session is deleted already")
		}
		s.Deleted, s.Live, s.Tokens = true, 0, 0
	case SessionErased:
		s.Deleted, s.Erased, s.Live, s.Tokens, s.Failures = true, true, 0, 0, nil
	default:
		return s, fmt.Errorf("not a fact about a session")
	}
	return s, nil
}

// checkNextArchive refuses archives out of order. Retries may come in any order.
func (s Session) checkNextArchive(archive int) error {
	if s.Failures[archive].RetryRequested {
		return nil
	}
	if archive != s.Processed+1 || archive > s.Archives {
		return fmt.Errorf("archive %d is settled after archive %d of %d", archive, s.Processed, s.Archives)
	}
	return nil
}

func (s Session) count(lessons []Lesson) (Learned, Decided) {
	learned, decided := maps.Clone(s.Learned), maps.Clone(s.Decided)
	for _, c := range lessons {
		if decided == nil {
			decided = Decided{}
		}
		decided[c.Decision]++
		if c.Item != "" {
			if learned == nil {
				learned = Learned{}
			}
			learned[c.Category]++
		}
	}
	return learned, decided
}

var _ State = Session{}
