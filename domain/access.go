package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// AccessState is who may read what at a moment of the log: the directory and the keys, folded from their events.
type AccessState struct {
	streams map[string]*Stream
	keys    []string // their streams, in the order of their creation
}

// AccessFacts are the names of the facts that [AccessState.Take] takes.
func AccessFacts() (names []string) {
	for _, f := range []Fact{
		MemberAdded{},
		MemberDeactivated{},
		MemberReactivated{},
		MemberJoined{},
		MemberLeft{},
		MemberRenamed{},
		KeyCreated{},
		KeyRotated{},
		KeyRevoked{},
		KeyRoleChanged{},
	} {
		names = append(names, f.Name())
	}
	return names
}

// Take folds one more event. Events come in order of their positions. Erased texts do not matter.
func (a *AccessState) Take(e Event) error {
	if a.streams == nil {
		a.streams = map[string]*Stream{}
	}
	s := a.streams[e.Stream]
	if s == nil {
		s = &Stream{Name: e.Stream, State: MemberEntry{}}
		if KeyStreams.Has(e.Stream) {
			s.State = Key{}
			a.keys = append(a.keys, e.Stream)
		}
		a.streams[e.Stream] = s
	}
	s.Version = e.Version - 1 // erasures of texts are left out
	return s.Evolve(e.Fact, e.Metadata())
}

// ScopeReader is one reason why a subject may read a scope.
type ScopeReader struct {
	Subject Entity
	// Reason is "directory", "key" for a membership that a key states, "role" of a key, "acts_for" if a key may act for
	// those who read it, or "self".
	Reason  string
	Through []Entity // the groups from the subject's own to the scope, if the reason is the directory
	Key     string   // its prefix, if the reason is a key or its role
	Role    string   // of the key, or in the first group
	Since   time.Time
}

// ReadersOf lists who may read a scope, with every reason, by subject. Keys must be valid at the time. What a token's
// groups allow is not in the log.
func (a *AccessState) ReadersOf(scope Scope, at time.Time) (all []ScopeReader) {
	of := scope.Entity()
	read := func(entities []Entity) (map[Entity]MemberEntry, error) {
		found := map[Entity]MemberEntry{}
		for _, e := range entities {
			if s := a.streams[DirectoryStream(e)]; s != nil {
				found[e], _ = s.State.(MemberEntry)
			}
		}
		return found, nil
	}
	readers := map[Entity]bool{of: true} // and the groups of those who read it
	for _, s := range a.streams {
		entry, is := s.State.(MemberEntry)
		if !is || !entry.Active() || slices.Contains(GroupKinds, entry.Member.Kind()) {
			continue
		}
		if scope == Public || entry.Member == of {
			all = append(all, ScopeReader{Subject: entry.Member, Reason: "self", Since: entry.AddedAt})
			readers[entry.Member] = true
		}
		member, _ := BelongingsOf(entry.Member, nil, read) // it never fails
		if r, belongs := readerThrough(entry.Member, member.All, of); belongs {
			all = append(all, r)
			readers[entry.Member] = true
		}
		for _, b := range member.All {
			readers[b.Group] = readers[b.Group] || readers[entry.Member]
		}
	}
	reads := func(e Entity) bool { return readers[e] }
	for _, name := range a.keys {
		k, _ := a.streams[name].State.(Key)
		if entry := stateOf(a.streams[DirectoryStream(k.Subject)]); k.Under(entry).CheckValid(at) != nil ||
			k.InvitedBy != "" || !entry.DeactivatedAt.IsZero() {
			continue
		}
		r := ScopeReader{
			Subject: k.Subject, Key: KeyStreams.ID(name), Role: string(k.Role), Since: k.CreatedAt, Reason: "key",
		}
		p := k.Principal("", r.Key)
		switch {
		case p.SeesAll(), p.speaksForAny():
			r.Reason = "role"
		case k.Subject == of || scope == Public:
			r.Reason = "self"
		case slices.Contains(k.Memberships, of) && stateOf(a.streams[DirectoryStream(of)]).DeactivatedAt.IsZero():
		case k.ActsFor && (len(k.ActsForOnly) == 0 || slices.ContainsFunc(k.ActsForOnly, reads)):
			r.Reason = "acts_for"
		default:
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y ScopeReader) int {
		return cmp.Or(
			strings.Compare(string(x.Subject), string(y.Subject)), strings.Compare(x.Reason, y.Reason), x.Since.Compare(y.Since),
			strings.Compare(x.Key, y.Key),
		)
	})
	return all
}

func stateOf(s *Stream) (entry MemberEntry) {
	if s != nil {
		entry, _ = s.State.(MemberEntry)
	}
	return entry
}

// readerThrough follows the groups of a member up to a group; false if it does not belong to it.
func readerThrough(member Entity, groups []Belonging, of Entity) (ScopeReader, bool) {
	r := ScopeReader{Subject: member, Reason: "directory"}
	for {
		i := slices.IndexFunc(groups, func(b Belonging) bool { return b.Group == of })
		if i < 0 {
			return r, false
		}
		r.Through = slices.Insert(r.Through, 0, of)
		if r.Since.Before(groups[i].Since) {
			r.Since = groups[i].Since // the youngest link
		}
		if of = groups[i].Through; of == "" {
			r.Role = string(groups[i].Role)
			return r, true
		}
	}
}

// Access is one read: the caller received items, or was denied them.
type Access struct {
	Tenant         string
	At             time.Time
	Kind           string // "search", "get", "list", "review" or "denied"
	Route          string // method and pattern, without the parameters
	Status         int    // of the answer
	Actor          Entity // empty if unknown
	OnBehalfOf     Entity
	Authentication string
	RequestID      string
	CorrelationID  string
	TraceID        string
	Items          []Retrieved // in the order of the answer
}

// AccessOf is an access by a caller.
func AccessOf(by Principal, origin Origin, kind string, status int, at time.Time) Access {
	access := Access{
		Tenant: by.Tenant, At: at, Kind: kind, Status: status, Actor: by.Subject, OnBehalfOf: by.OnBehalfOf,
		Authentication: by.Authentication, RequestID: origin.RequestID, CorrelationID: origin.CorrelationID,
	}
	if parts := strings.Split(origin.Traceparent, "-"); len(parts) == 4 {
		access.TraceID = parts[1]
	}
	return access
}

// Denied is the kind of an access that was refused.
const Denied = "denied"

// Reviewed is the kind of an access by a review. It is no use of an item.
const Reviewed = "review"

// Retrieved is an item that the caller received, or was denied.
type Retrieved struct {
	ID    string
	Score float64 // of a search; 0 otherwise
}

// AccessQuery selects accesses of one tenant, the newest first.
type AccessQuery struct {
	Tenant   string
	Item     string // uses of this item; empty for denied accesses
	Actor    Entity // as actor or on whose behalf
	Only     Entity // only accesses by it or on its behalf; empty for all
	From, To time.Time
	Skip     int64
	Limit    int
}

// Usage is one use of an item: a caller received it, found it helpful, or was denied it.
type Usage struct {
	At            time.Time
	Kind          string // "search", "get", "list", "review", "found helpful" or "denied"
	Actor         Entity
	OnBehalfOf    Entity
	Item          string
	Rank          int
	Score         float64
	Route         string
	Status        int
	RequestID     string
	CorrelationID string
	TraceID       string
	HarmfulAt     time.Time // when the item was first found harmful; zero if it was not

	Authentication string // how the server knew the actor
}

// ReportQuery asks which items stand out.
type ReportQuery struct {
	Tenant   string
	Only     *Principal // only items that it may see; nil for all
	Scope    Scope
	Owner    Entity
	From, To time.Time
	Skip     int64
	Limit    int
}

// NewFor is for how long an item counts as new that nobody has judged.
const NewFor = 30 * 24 * time.Hour

// ScopeHealth says how well the active items of a scope are looked after.
type ScopeHealth struct {
	Scope     Scope // empty for all
	Items     int
	Verified  int           // confirmed, not reported stale since, and not overdue
	Stale     int           // reported stale since the last confirmation, or with an expired one
	Contested int           // see [Rating.Contested]
	Overdue   int           // see [Verification.Overdue]
	Unowned   int           // whose owner was deactivated
	New       int           // remembered less than [NewFor] ago, never voted on, and none of the above but Unowned
	Doubtful  int           // stale, contested, overdue, or with a confidence below [LowConfidence]
	MedianAge time.Duration // since they were remembered
}

// Share is n of the items, 0 to 1.
func (h ScopeHealth) Share(n int) float64 { return float64(n) / float64(max(h.Items, 1)) }

// ReportItem is an item that stands out, and why.
type ReportItem struct {
	ID         string
	Task       string
	Owner      Entity
	Scopes     []Scope
	Status     Status
	Helpful    int
	Harmful    int
	Reporters  int  // of staleness
	Expired    bool // its confirmation
	Confidence float64
	Count      int       // the rank: votes against it, or reports, in the period of the query
	Last       time.Time // the newest of them
	Before     float64   // in a report of falling confidence: at the beginning of the period
	After      float64   // at the end of the period
	Policy     string    // the confidence policy that computed Before and After
	Reason     string    // in a report of stale items: the newest reason
}

// The queues of a review. An item may wait in several.
const (
	QueueStale          = "stale"           // reported stale since its last confirmation
	QueueExpired        = "expired"         // its confirmation has expired
	QueueContested      = "contested"       // see [Rating.Contested], without those of the queue contradiction
	QueueDivided        = "divided"         // at least two votes of each kind
	QueueLowConfidence  = "low_confidence"  // below [LowConfidence], with a vote against it
	QueueSupersededUsed = "superseded_used" // given to callers after it was superseded
	QueueDuplicate      = "duplicate"       // a proposal says that it says the same as another item
	QueueContradiction  = "contradiction"   // a proposal says that it contradicts another item

	QueueVerificationDue  = "verification_due"  // a verification policy asks for another confirmation
	QueueOwnerDeactivated = "owner_deactivated" // its owner is a member that was deactivated
	QueueUnused           = "unused"            // neither used nor confirmed for a year, where retrievals are recorded
)

// Queues are the names of all queues.
func Queues() []string {
	return []string{
		QueueStale, QueueExpired, QueueContested, QueueDivided, QueueLowConfidence, QueueSupersededUsed,
		QueueDuplicate, QueueContradiction, QueueVerificationDue, QueueOwnerDeactivated, QueueUnused,
	}
}

// LowConfidence is the confidence below which an item with a vote against it waits for a review.
const LowConfidence = 0.3

// ReviewQuery asks which items wait for a review.
type ReviewQuery struct {
	Tenant string
	Only   *Principal // only items that it may see; nil for all
	Scope  Scope
	Owner  Entity
	Queue  string // empty for all
	Skip   int64
	Limit  int

	Assigned Entity     // only items that are assigned to it
	Mine     *Principal // only items that it owns, or that are assigned to it or to a group that it maintains
}

// ReviewPage is a page of items that wait for a review.
type ReviewPage struct {
	Items  []Review
	Total  int // of all pages
	Queues map[string]QueueLength
}

// QueueLength is the number of items in a queue.
type QueueLength struct {
	Items int
	More  bool // there are more than were counted
}

// Review is an item that waits for a review, and why.
type Review struct {
	Item    *Knowledge
	Reasons []ReviewReason

	Assigned Assignment
	Uses     int       // in the last 90 days, where retrievals are recorded; at most 100 are counted
	Used     time.Time // the last time
	Pair     *ReviewPair
}

// ReviewPair is an open proposal to review an item together with others.
type ReviewPair struct {
	Proposal string // its id
	Kind     ProposalKind
	Score    float64
	Rule     string
	By       Entity       // who proposed it
	Reason   string       // empty if none was given, or if it was erased
	Items    []*Knowledge // the others, at most [MostMerged]
	All      []string     // the ids of all open proposals about these items; contradictions that share items are one
}

// ReviewReason is why an item is in a queue.
type ReviewReason struct {
	Queue string
	Since time.Time // of the first report or proposal, the expiry, the newest vote against it, the supersession, and so on
	Count int       // of reports, votes against it or proposals; 0 in other queues
	Text  string    // the newest reason of a report, or the id of the item that supersedes it
}
