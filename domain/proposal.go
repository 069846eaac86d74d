package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ProposalKind is what a proposal says about items.
type ProposalKind string

// ProposalKinds lists all kinds of proposals: that items say the same, or that they cannot all hold.
var ProposalKinds = []ProposalKind{Duplicate, Contradiction}

// JudgedByModel is the rule of a proposal that a language model made.
const JudgedByModel = "model"

// SameTask is the rule for items of two owners that say different things about the same task.
const SameTask = "same_task"

// Judgement is what a language model says of two items.
type Judgement struct {
	Kind   ProposalKind // empty if they neither say the same nor contradict each other
	Reason string
}

// Outcome is how a proposal was closed.
type Outcome string

// The outcomes of proposals.
const (
	OutcomeMerged     Outcome = "merged"     // one item took the place of the others
	OutcomeSuperseded Outcome = "superseded" // an item supersedes another, without a merge
	OutcomeDistinct   Outcome = "distinct"   // they are neither duplicates nor contradictions
	OutcomeDismissed  Outcome = "dismissed"  // nothing is to be done
	OutcomeObsolete   Outcome = "obsolete"   // an item was forgotten or changed
)

// Outcomes lists the outcomes that a caller may name.
var Outcomes = []Outcome{OutcomeSuperseded, OutcomeDistinct, OutcomeDismissed, OutcomeObsolete}

// Proposal is a proposal to review items together: the state of its stream. It changes no item.
type Proposal struct {
	Kind     ProposalKind `json:"kind"`
	Items    []string     `json:"items"` // sorted
	Score    float64      `json:"score,omitempty"`
	Rule     string       `json:"rule,omitempty"` // by which a program judged; empty if the proposer gave none
	By       Entity       `json:"by"`
	At       time.Time    `json:"at"`
	Outcome  Outcome      `json:"outcome,omitempty"` // empty while it is open
	ClosedAt time.Time    `json:"closed_at,omitzero"`
}

// RecordedProposal is a proposal that was made, open or closed.
type RecordedProposal struct {
	ID string
	Proposal
}

var ProposalStreams = StreamKind{
	Name: "review", State: Proposal{}, Form: 1, KeepsRights: true, Facts: []Fact{ReviewProposed{}, ReviewClosed{}},
}

// ProposalID names a proposal about items in their present revisions. So items are proposed again only after one of
// them was revised. It contains no texts, which could be guessed from a hash after their erasure.
func ProposalID(kind ProposalKind, items []*Knowledge) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%s\n", kind)
	for _, k := range slices.SortedFunc(slices.Values(items), func(a, b *Knowledge) int {
		return strings.Compare(a.ID, b.ID)
	}) {
		_, _ = fmt.Fprintf(hash, "%s %d\n", k.ID, k.Revision)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

func (p Proposal) Evolve(fact Fact, at EventMetadata) (State, error) {
	switch f := fact.(type) {
	case ReviewProposed:
		if at.Version == 1 {
			return Proposal{
				Kind: f.Kind, Items: f.Items, Score: f.Score, Rule: f.Rule, By: f.By, At: at.RecordedAt,
			}, nil
		}
	case ReviewClosed:
		if p.Outcome == "" && at.Version > 1 {
			p.Outcome, p.ClosedAt = f.Outcome, at.RecordedAt
			return p, nil
		}
	}
	return p, errors.New("a review is proposed once, and closed once")
}

// StateOwner implements [OwnedState]: the reason is the proposer's.
func (p Proposal) StateOwner() Entity { return p.By }

// ProposeReview asks to review items together. Everybody who sees all of them may propose it, except auditors.
type ProposeReview struct {
	By     Principal
	ID     string // see [ProposalID]
	Kind   ProposalKind
	Items  []string
	Score  float64
	Rule   string
	Reason string
}

// maxProposed limits the items of a proposal.
const maxProposed = 10

// Validate names every bad field at once.
func (c ProposeReview) Validate() error {
	var p Problems
	oneOf(&p, "kind", c.Kind, ProposalKinds, true)
	checkItems(&p, c.Items, 2, maxProposed)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

func (c ProposeReview) Stream() string { return ProposalStreams.Of(c.ID) }

func (c ProposeReview) Reads() Reads { return Reads{Items: c.Items} }

// Decide implements [Command]. It records nothing if the same was proposed before, even if that proposal is closed.
func (c ProposeReview) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if c.By.Role == Auditor {
		return nil, errAuditor()
	}
	var p Problems
	items := make([]*Knowledge, len(c.Items))
	for i, id := range c.Items {
		items[i] = dc.Knowledge(id)
		if missing := c.By.missing(items[i]); missing != "" {
			p.Miss(fmt.Sprintf("items[%d]", i), missing)
		} else if items[i].Status == IsSuperseded {
			p.Add(fmt.Sprintf("items[%d]", i), "is %s", c.By.superseded(items[i]))
		}
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	if ProposalID(c.Kind, items) != c.ID {
		return nil, Refuse(ErrPrecondition, "an item was revised meanwhile").WithFix("read the items again")
	}
	if dc.Stream(c.Stream()).Exists() {
		return nil, nil
	}
	return []Fact{ReviewProposed{
		Kind: c.Kind, Items: slices.Sorted(slices.Values(c.Items)), Score: c.Score, Rule: c.Rule,
		By: c.By.EffectiveSubject(), Reason: c.Reason,
	}}, nil
}

// CloseProposal asks to close a proposal. The owners and stewards of its items may do so, and admins.
type CloseProposal struct {
	By      Principal
	ID      string
	Outcome Outcome
	Reason  string
	IfOpen  bool // a proposal that is closed already stays as it is
}

// Validate names every bad field at once.
func (c CloseProposal) Validate() error {
	var p Problems
	oneOf(&p, "outcome", c.Outcome, Outcomes, true)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

func (c CloseProposal) Stream() string { return ProposalStreams.Of(c.ID) }

func (c CloseProposal) Reads() Reads { return Reads{Streams: []string{VerificationStream}} }

func (c CloseProposal) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	proposal := StateOf[Proposal](dc, c.Stream())
	policies := StateOf[Verification](dc, VerificationStream)
	hidden := func(id string) bool { return !c.By.MaySee(dc.Knowledge(id)) }
	switch {
	case c.IfOpen && proposal.Outcome != "":
		return nil, nil
	case proposal.Kind == "", slices.ContainsFunc(proposal.Items, hidden):
		return nil, Refuse(ErrNotFound, "no proposal with id %s", c.ID)
	case c.By.Role == Auditor:
		return nil, errAuditor()
	case !slices.ContainsFunc(proposal.Items, func(id string) bool {
		return c.By.MaySteward(dc.Knowledge(id), policies)
	}):
		return nil, Refuse(ErrForbidden, "a proposal is closed by the owner or a steward of an item, or by an admin")
	case proposal.Outcome == c.Outcome:
		return nil, nil
	case proposal.Outcome != "":
		return nil, Refuse(ErrConflict, "the proposal is closed: %s", proposal.Outcome)
	}
	return []Fact{ReviewClosed{Outcome: c.Outcome, Reason: c.Reason}}, nil
}

func (c ProposeReview) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c CloseProposal) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

var (
	_ OwnedState  = Proposal{}
	_ TextCommand = ProposeReview{}
	_ TextCommand = CloseProposal{}
)
