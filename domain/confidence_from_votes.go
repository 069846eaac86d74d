package domain

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// ConfidencePolicy turns votes into confidence. It is a pure function with a name and a
// version: a projection records which one it was built with, and changing it is a rebuild.
type ConfidencePolicy struct {
	Name string // such as "half-discounted/1"
	// Confidence is 0…1. reporters counts the distinct entities that reported the item stale since its last
	// confirmation. Of a policy that weighs voices, it is that of votes by different voters.
	Confidence func(helpful, harmful, reporters int) float64
	// Weighs is the confidence of an item by its voices; nil for a policy by which every vote weighs the same.
	Weighs func(k *Knowledge, reporters int) float64
}

// Rate is the confidence of an item for a number of reporters.
func (p ConfidencePolicy) Rate(k *Knowledge, reporters int) float64 {
	if p.Weighs != nil {
		return p.Weighs(k, reporters)
	}
	return p.Confidence(k.Helpful, k.Harmful, reporters)
}

// DefaultConfidence is that of [HalfDiscounted], with one voice per person: repeated votes of one voter weigh 1, ½, ⅓
// and so on, and those of the item's owner, authors and agents count once. If the owner says the same in several
// sessions, each counts.
func DefaultConfidence() ConfidencePolicy {
	return ConfidencePolicy{
		Name:       "one-voice/1",
		Confidence: HalfDiscounted().Confidence,
		Weighs: func(k *Knowledge, reporters int) float64 {
			helpful := float64(k.Helpful) - float64(k.Voices.Helpful)/wholeVote
			return halfDiscounted(helpful, float64(k.Harmful)-float64(k.Voices.Harmful)/wholeVote, reporters)
		},
	}
}

// HalfDiscounted is (helpful − ½) / (helpful + harmful), clamped to 0…1 and halved for every
// distinct reporter of staleness. One helpful use gives 0.5, five give 0.9.
func HalfDiscounted() ConfidencePolicy {
	return ConfidencePolicy{
		Name: "half-discounted/1",
		Confidence: func(helpful, harmful, reporters int) float64 {
			return halfDiscounted(float64(helpful), float64(harmful), reporters)
		},
	}
}

func halfDiscounted(helpful, harmful float64, reporters int) float64 {
	if helpful+harmful <= 0 {
		return 0
	}
	return math.Ldexp(min(max((helpful-0.5)/(helpful+harmful), 0), 1), -reporters)
}

// wholeVote is the weight of a vote. Half of it, a third and so on up to a sixteenth are whole numbers, and sums of
// whole numbers do not depend on their order.
const wholeVote = 720_720

// Voices tell by how many voters the votes of an item are. Only a policy that weighs them keeps them. Votes of a
// baseline, and those that merges of earlier releases carried, have no voter.
type Voices struct {
	Authors []Entity `json:"authors,omitempty"` // who remembered the item, and for whom
	Agents  []Entity `json:"agents,omitempty"`  // voters that acted for the owner
	Votes   int      `json:"votes,omitempty"`
	Voters  int      `json:"voters,omitempty"`  // different
	Helpful int64    `json:"helpful,omitempty"` // the weight that helpful votes lack, because they are repeated
	Harmful int64    `json:"harmful,omitempty"`
}

// Weighed is how many votes by different voters weigh as much as those of the item, rounded up.
func Weighed(k *Knowledge) (helpful, harmful int) {
	return k.Helpful - int(k.Voices.Helpful/wholeVote), k.Harmful - int(k.Voices.Harmful/wholeVote)
}

// VotesBy says by how many voters votes are; empty if each is by another one.
func VotesBy(votes, voters int) string {
	switch {
	case votes <= voters:
		return ""
	case voters == 1:
		return fmt.Sprintf("%d votes by 1 voter", votes)
	}
	return fmt.Sprintf("%d votes by %d voters", votes, voters)
}

// isOwn tells whether a voter is one voice with the item's owner.
func isOwn(k *Knowledge, voter Entity) bool {
	return voter == k.Owner || slices.Contains(k.Voices.Authors, voter) || slices.Contains(k.Voices.Agents, voter) ||
		voter.Kind() == Agent && voter.ID() == k.Source.AgentID
}

// repeats is the weight that a vote lacks, given the other votes of its voter, and whether it is the voter's first.
func repeats(k *Knowledge, v Vote) (lacks int64, first bool) {
	own, n := isOwn(k, v.Voter), int64(1)
	first = true
	for _, other := range k.Votes {
		first = first && (other.Voter != v.Voter || !other.Verdict.counts())
		if other.Verdict == v.Verdict && (other.Voter == v.Voter || own && isOwn(k, other.Voter)) &&
			!(own && other.restates()) {
			n++
		}
	}
	switch {
	case n == 1 || own && v.restates():
		return 0, first
	case own:
		return wholeVote, first
	}
	return wholeVote - wholeVote/n, first
}

// count adds n votes, 1 or -1, such as v to the counters. v is not among k.Votes.
func (p ConfidencePolicy) count(k *Knowledge, v Vote, n int) {
	if !v.Verdict.counts() {
		return
	}
	counter, lacking := &k.Helpful, &k.Voices.Helpful
	if v.Verdict == Harmful {
		counter, lacking = &k.Harmful, &k.Voices.Harmful
	}
	*counter = counted(*counter, n)
	if p.Weighs == nil {
		return
	}
	lacks, first := repeats(k, v)
	k.Voices.Votes, *lacking = k.Voices.Votes+n, *lacking+int64(n)*lacks
	if first {
		k.Voices.Voters += n
	}
}

// counted is a counter after more votes. It stays in the range of its column.
func counted(counter, more int) int {
	return min(max(counter+min(more, math.MaxInt32), 0), math.MaxInt32)
}

// VotesFor says which votes Evolve must know to fold a fact: those of a voter, or all of them if voter is empty.
func (p ConfidencePolicy) VotesFor(k *Knowledge, fact Fact) (voter Entity, needed bool) {
	needed = p.Weighs != nil
	switch f := fact.(type) {
	case Merged:
		return "", len(f.Votes) > 0
	case Unmerged:
		return "", len(f.Votes) > 0
	case VotesDiscounted, VotesRecounted:
		return "", true
	case Transferred:
		return "", needed
	case FoundHelpful:
		voter = f.voice()
	case FoundHarmful:
		voter = f.voice()
	case FeedbackRetracted:
		vote, loaded := k.Votes[f.Vote]
		voter, needed = vote.Voter, needed || !loaded
	default:
		return "", false
	}
	if isOwn(k, voter) {
		voter = ""
	}
	return voter, needed
}

// voice is the voter, or empty for one that acts for the owner: then all votes are weighed again.
func (b Ballot) voice() Entity {
	if b.ActsFor != "" {
		return ""
	}
	return b.Voter
}

// restates tells whether the voter said the same as the item in a session.
func (v Vote) restates() bool { return strings.HasPrefix(v.Ballot, sessionBallot) }

// ConfidencePolicies are the policies that this release can compute, the default first. A policy is never removed,
// since an existing projection may use it.
func ConfidencePolicies() []ConfidencePolicy {
	return []ConfidencePolicy{DefaultConfidence(), HalfDiscounted(), CautiousConfidence()}
}

// CautiousConfidence is the lower bound of Wilson's score interval for the share of helpful votes, one standard error
// below its centre, halved for every distinct reporter of staleness. It trusts few votes less: five helpful votes
// give 0.83 instead of 0.9, one of each gives 0.21 instead of 0.25. From Wilson, "Probable Inference, the Law of
// Succession, and Statistical Inference" (1927).
func CautiousConfidence() ConfidencePolicy {
	return ConfidencePolicy{
		Name: "wilson/1",
		Confidence: func(helpful, harmful, reporters int) float64 {
			n := float64(helpful) + float64(harmful)
			if n <= 0 {
				return 0
			}
			// z = 1. The conversion of each product prevents fused multiply-add, so every processor computes the same
			// bits: a rebuild compares them.
			p := float64(helpful) / n
			spread := math.Sqrt(float64(p*(1-p))/n + 1/float64(4*n*n))
			c := (p + 1/(2*n) - spread) / (1 + 1/n)
			return math.Ldexp(min(max(c, 0), 1), -reporters)
		},
	}
}

// Rating tells readers how far they can rely on an item.
type Rating struct {
	Helpful      int // votes, the author's own included
	Harmful      int
	Confidence   float64
	Reporters    int  // of staleness
	Expired      bool // it was confirmed until a date that has passed
	Status       Status
	SupersededBy string
	DisputedBy   []string // see [Knowledge.DisputedBy]
}

// ContestedBelow is the confidence below which an item that was judged harmful or stale is contested.
const ContestedBelow = 0.2

// MostDisputes limits the items by which an item is disputed, as readers see them.
const MostDisputes = 10

// Rating summarises how an item was judged.
func (k *Knowledge) Rating() Rating {
	return Rating{
		Helpful: k.Helpful, Harmful: k.Harmful, Confidence: k.Confidence, Reporters: k.Stale.Reporters, Expired: k.Expired,
		Status: k.Status, SupersededBy: k.SupersededBy, DisputedBy: k.DisputedBy,
	}
}

// Contested tells whether agents must not rely on the item: it was found harmful or reported stale, and its confidence
// is below [ContestedBelow], or an open proposal says that it contradicts another item that the reader may see.
func (s Rating) Contested() bool { return s.refuted() || len(s.DisputedBy) > 0 }

func (s Rating) refuted() bool {
	return s.Confidence < ContestedBelow && (s.Harmful > 0 || s.Reporters > 0)
}

// Others counts the helpful votes without the author's own.
func (s Rating) Others() int { return max(s.Helpful-1, 0) }

// Marks are the warnings about an item in words: votes against it, what disputes it, reports of staleness, an expired
// confirmation, and its successor.
func (s Rating) Marks() []string {
	var marks []string
	if s.refuted() || s.Harmful > 0 {
		marks = append(marks, fmt.Sprintf("%d helpful, %d harmful", s.Others(), s.Harmful))
	}
	if len(s.DisputedBy) > 0 {
		marks = append(marks, "disputed by "+strings.Join(s.DisputedBy, ", "))
	}
	if s.Contested() {
		marks[0] = "contested: " + marks[0]
	}
	if s.Reporters > 0 {
		marks = append(marks, fmt.Sprintf("reported stale by %d", s.Reporters))
	}
	if s.Expired {
		marks = append(marks, "confirmation expired")
	}
	switch {
	case s.SupersededBy != "":
		marks = append(marks, "superseded by "+s.SupersededBy)
	case s.Status != Active && s.Status != "":
		marks = append(marks, string(s.Status))
	}
	return marks
}
