package domain

import "time"

// Knowledge is the state of one item, folded from its stream. The zero value (Version 0) was never remembered. It is
// not safe for concurrent use.
type Knowledge struct {
	ID     string
	Number int64 // the position of its first event, which is unique within the tenant
	Class
	Scopes       []Scope
	Owner        Entity
	Source       Source
	Text         Text
	Baseline     Eval     // what it began with
	DerivedFrom  []string // ids of the events it was made from
	Helpful      int      // votes, the baseline's included
	Harmful      int
	Confidence   float64 // 0…1, by the projection's confidence policy
	Stale        Staleness
	ConfirmedAt  time.Time
	ConfirmUntil time.Time // when the last confirmation expires; zero for never
	Suspended    Staleness // earlier reports, which count again when it expires
	Expired      bool      // the last confirmation has expired; only [Knowledge.At] sets it
	Verified     *Verified // only [Verification.Verify] sets it

	Disputed   bool     // somebody proposed that it contradicts another item, which a reader may not see
	DisputedBy []string // the ids of such items that the reader may see, at most [MostDisputes]; only readers set it

	ExpiredConfidence float64 // Confidence after the last confirmation expires; 0 if it never does

	Voices Voices // of the votes

	Standing
	Relations  []Relation
	Revision   int64 // changes of the item itself; its ETag
	Version    int64 // of its stream
	Position   int64 // of its newest event
	CreatedAt  time.Time
	UpdatedAt  time.Time // of its newest revision
	OccurredAt time.Time // when it became true, if the author said so

	// Votes are by the id of their event. Reports are by reporter, since the last confirmation without an end. A
	// projection loads only those that a batch of commands needs; the counters above count all.
	Votes   map[string]Vote
	Reports map[Entity]Report
}

// Standing is whether answers may contain an item, and what else was decided about it.
type Standing struct {
	Status       Status
	SupersededBy string // the id of the item that took its place
	Held         bool   // under legal hold, so it cannot be erased
}

// Source says where an item came from.
type Source struct {
	Name        string   `text:"name,omitempty" json:"name,omitempty"`
	Category    string   `data:"category,omitempty" json:"category,omitempty"` // paper, exp, skill, book …
	URLs        []string `text:"urls,omitempty" json:"urls,omitempty"`
	AgentID     string   `data:"agent_id,omitempty" json:"agent_id,omitempty"`
	SubmittedBy string   `data:"submitted_by,omitempty" json:"submitted_by,omitempty"`
	Timestamp   string   `data:"timestamp,omitempty" json:"timestamp,omitempty"` // RFC 3339 or a date, as given
	TraceID     string   `data:"trace_id,omitempty" json:"trace_id,omitempty"`
	Trust       Trust    `data:"trust,omitempty" json:"trust,omitempty"` // empty in items of earlier releases
}

// Eval says how well an item has worked.
type Eval struct {
	Helpful        int     `data:"helpful"`
	Harmful        int     `data:"harmful"`
	Confidence     float64 `data:"confidence"`                                                 // 0…1
	HelpfulHistory []Use   `data:"helpful_history,omitempty" text:"helpful_history,omitempty"` // newest first
	HarmfulHistory []Use   `data:"harmful_history,omitempty" text:"harmful_history,omitempty"`
}

// Use is one use of an item, with its judgement.
type Use struct {
	Query   string    `text:"query,omitempty" json:"query,omitempty"`
	TraceID string    `data:"trace_id,omitempty" json:"trace_id,omitempty"`
	Outcome string    `text:"outcome,omitempty" json:"outcome,omitempty"`
	By      Entity    `data:"by,omitempty" json:"by,omitempty"`
	At      time.Time `data:"at,omitzero" json:"at,omitzero"`
}

// DefaultBaseline is the baseline of an item that was remembered without an eval.
func DefaultBaseline() Eval { return Eval{Helpful: 1, Harmful: 0, Confidence: 0.5} }

// Vote is one vote on an item. A ballot has at most one. A merge carries it without its texts.
type Vote struct {
	EventID string  `data:"vote"`
	Voter   Entity  `data:"voter"`
	Ballot  string  `data:"ballot"` // see [BallotOf]
	Verdict Verdict `data:"verdict"`
	TraceID string  `data:"trace_id,omitempty"`
	Query   string
	Outcome string
	At      time.Time `data:"at"`
}

// Report says that a reader found an item out of date.
type Report struct {
	EventID  string
	Reporter Entity
	Reason   string
	At       time.Time

	Suspended bool // a confirmation covers it, until that expires
}

// Staleness summarises the reports since the last confirmation.
type Staleness struct {
	Reporters int       // distinct
	Since     time.Time // of the first report
	Reason    string    // of the newest report that gave one
}

var KnowledgeStreams = StreamKind{
	Name: "knowledge", KeepsRights: true,
	Facts: []Fact{
		Remembered{},
		Revised{},
		Rescoped{},
		Transferred{},
		Moved{},
		FoundHelpful{},
		FoundHarmful{},
		FeedbackRetracted{},
		ReportedStale{},
		Confirmed{},
		Superseded{},
		Deleted{},
		Restored{},
		Merged{},
		Unmerged{},
		Held{},
		Released{},
		Erased{},
		Linked{},
		Unlinked{},
		Accepted{},
		ItemQuarantined{},
		Readmitted{},
		VotesDiscounted{},
		VotesRecounted{},
	},
}

// KnowledgeStream is the stream of the item with this id.
func KnowledgeStream(id string) string { return KnowledgeStreams.Of(id) }

// ItemOf is the id of the item that a stream is about; empty and false for any other stream.
func ItemOf(stream string) (id string, isItem bool) {
	return KnowledgeStreams.ID(stream), KnowledgeStreams.Has(stream)
}

// sessionBallot begins the names of ballots for what its voter said in a session.
var sessionBallot = SessionStreams.Of("")

// BallotOf names the ballot of a vote: its trace or, without a trace, its day (UTC).
func BallotOf(traceID string, at time.Time) string {
	if traceID != "" {
		return "trace:" + traceID
	}
	return "day:" + at.UTC().Format(time.DateOnly)
}

// Exists tells whether the item was ever remembered.
func (k *Knowledge) Exists() bool { return k.Version > 0 }

// Visibility summarises the scopes.
func (k *Knowledge) Visibility() Visibility { return VisibilityOf(k.Scopes, k.Owner) }

// vote finds the vote of a voter on a ballot.
func (k *Knowledge) vote(voter Entity, ballot string) (Vote, bool) {
	for _, v := range k.Votes {
		if v.Voter == voter && v.Ballot == ballot {
			return v, true
		}
	}
	return Vote{}, false
}

// votesSince counts the votes of a voter from a time on.
func (k *Knowledge) votesSince(voter Entity, since time.Time) (n int) {
	for _, v := range k.Votes {
		if v.Voter == voter && !v.At.Before(since) {
			n++
		}
	}
	return n
}

// File is binary content. It has the id of its item, or an id of its own before the item exists.
type File struct {
	ID          string
	Waits       bool
	Uploader    Entity
	Name        string
	ContentType string
	Bytes       []byte
	UploadedAt  time.Time
}
