package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/background"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/search"
)

// name is the name under which the checkpoints are kept.
const name = "review"

// mostOpen limits the proposer's open proposals about an item.
const mostOpen = 5

// Reader reads items, even if they are deleted or erased.
type Reader interface {
	// Find returns the item. The error matches domain.ErrNotFound if there is none.
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
	// Items and Numbered leave out items that cannot be read.
	Items(ctx context.Context, tenant string, ids []string) (map[string]*domain.Knowledge, error)
	Numbered(ctx context.Context, tenant string, numbers []int64) (map[int64]*domain.Knowledge, error)
}

// Searcher compares items by rules.
type Searcher interface {
	Sign(item *domain.Knowledge) search.Signed
	// Judge tells which candidates say the same as an item, contradict it or resemble it.
	Judge(by domain.Principal, s search.Signed, candidates []*domain.Knowledge) []domain.SimilarItem
	Compare(item, other *domain.Knowledge) domain.SimilarItem
}

// Proposals finds proposals.
type Proposals interface {
	// ProposalsAbout are the proposals about any of some items, open or closed.
	ProposalsAbout(ctx context.Context, tenant string, items []string) ([]domain.RecordedProposal, error)
}

// Writer submits commands to the log.
type Writer interface {
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
}

// Judge compares two items, better than rules do.
type Judge interface {
	Judge(ctx context.Context, item, other *domain.Knowledge) (domain.Judgement, error)
}

// Proposer follows the log, and proposes to review items that are remembered or revised together with similar ones. It
// closes its proposals about items that do not hold any more. If an item is erased or redacted, it erases what was
// derived from it.
type Proposer struct {
	Off       bool // it proposes and closes nothing
	Log       *events.Log
	Followers *follow.Followers
	Reader    Reader
	Searcher  Searcher
	Proposals Proposals
	Writer    Writer
	Judge     Judge // nil: rules decide
	Logger    *slog.Logger

	index index
}

// Follow makes the proposer follow every tenant's log.
func (p *Proposer) Follow(router *message.Router) {
	follow.AddPreparer(router, p.Followers, name, p.Prepare)
}

// Status is how far the proposer is, as one tenant sees it.
func (p *Proposer) Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error) {
	f, err := p.Followers.SubscriptionStatus(ctx, name, tenant)
	return f.Describe(domain.ProjectionStatus{Name: name, Version: 1, State: "active"}), err
}

// atOnce is how many items are read and compared at once.
const atOnce = 50

// Prepare proposes reviews of the items that a page touches. A page that is retried proposes nothing twice, since the
// id of a proposal follows from the items. After an error of the judge, rules decide for the rest of the page.
func (p *Proposer) Prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	var touched []domain.Event
	seen := map[string]bool{}
	for _, event := range page.Events {
		id, isItem := domain.ItemOf(event.Stream)
		if err := p.eraseReasons(ctx, event, id); err != nil {
			return nil, fmt.Errorf("erase reasons about %s: %w", id, err)
		}
		if isItem && !seen[id] && concerns(event.Fact) {
			seen[id] = true
			touched = append(touched, event)
		}
	}
	if p.Off || len(touched) == 0 {
		return follow.NoChange{}, nil
	}
	if err := p.catchUp(ctx, page.Tenant, page.Events[0].Position-1); err != nil {
		return nil, err
	}
	b := batch{Proposer: p, judge: p.Judge, tenant: page.Tenant}
	for some := range slices.Chunk(touched, atOnce) {
		began := time.Now()
		if err := b.review(ctx, some); err != nil {
			return nil, err
		}
		p.Log.Background().Yield(ctx, name, time.Since(began), background.LongestPause)
	}
	return follow.NoChange{}, nil
}

// catchUp adds the items up to a position to the index, which lacks those of pages that were read before the process
// began, or by another one.
func (p *Proposer) catchUp(ctx context.Context, tenant string, position int64) error {
	for through := p.index.knows(tenant); through < position; {
		began := time.Now()
		page, err := p.Log.Reader.Envelopes(ctx, tenant, through, int(min(events.PageSize, position-through)))
		if err != nil || len(page) == 0 {
			return err
		}
		ids := rows.Set{}
		for _, event := range page {
			if id, isItem := domain.ItemOf(event.Stream); isItem && slices.Contains(saying, event.Name) {
				ids[id] = true
			}
		}
		items, err := p.Reader.Items(ctx, tenant, slices.Collect(maps.Keys(ids)))
		if err != nil {
			return err
		}
		through = page[len(page)-1].Position
		p.index.add(tenant, through, p.signed(items))
		p.Log.Background().Yield(ctx, name, time.Since(began), background.LongestPause)
	}
	return nil
}

// signed are those of some items that are compared.
func (p *Proposer) signed(items map[string]*domain.Knowledge) map[string]search.Signed {
	signed := map[string]search.Signed{}
	for id, item := range items {
		if isCompared(item) && item.Status == domain.Active {
			signed[id] = p.Searcher.Sign(item)
		}
	}
	return signed
}

func isCompared(item *domain.Knowledge) bool {
	return !domain.IsArchive(item.ID) && item.Media == domain.MediaText && item.ContextType != domain.Resource
}

// saying are the names of the events by which an item begins to say something to some readers.
var saying = []string{
	domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Rescoped{}.Name(), domain.Restored{}.Name(),
	domain.Redacted{}.Name(), domain.Accepted{}.Name(), domain.Readmitted{}.Name(),
}

// concerns tells whether a fact may change what an item says, to whom, and whether it holds.
func concerns(fact domain.Fact) bool {
	switch f := fact.(type) {
	case domain.Remembered, domain.Rescoped, domain.Superseded, domain.Deleted, domain.Restored, domain.Erased,
		domain.Redacted, domain.Accepted, domain.ItemQuarantined, domain.Readmitted:
		return true
	case domain.Revised:
		return f.Content != nil || f.Task != nil || f.Tags != nil || f.Polarity != nil
	}
	return false
}

// by is the server itself. It may read every item of the tenant.
func by(tenant string) domain.Principal {
	system := domain.SystemPrincipal()
	return domain.Principal{
		Tenant: tenant, Subject: system.Subject, Role: domain.Service, Authentication: system.Authentication,
	}
}

// batch is the reviews of a page.
type batch struct {
	*Proposer
	judge  Judge // nil: rules decide
	tenant string
}

// review compares the items of some events, as they are now, with those that the index finds.
func (p *batch) review(ctx context.Context, some []domain.Event) error {
	ids := make([]string, len(some))
	for i, event := range some {
		ids[i], _ = domain.ItemOf(event.Stream)
	}
	items, err := p.Reader.Items(ctx, p.tenant, ids)
	if err != nil {
		return err
	}
	about, err := p.Proposals.ProposalsAbout(ctx, p.tenant, ids)
	if err != nil {
		return err
	}
	proposed := rows.Set{} // items with proposals, or about which there is one now
	for _, one := range about {
		for _, id := range one.Items {
			proposed[id] = true
		}
	}
	signed := p.signed(items)
	p.index.add(p.tenant, some[len(some)-1].Position, signed)
	candidates, numbers := map[string][]int64{}, map[int64]bool{}
	for id, s := range signed {
		candidates[id] = p.index.candidates(p.tenant, s)
		for _, number := range candidates[id] {
			numbers[number] = true
		}
	}
	others, err := p.Reader.Numbered(ctx, p.tenant, slices.Collect(maps.Keys(numbers)))
	if err != nil {
		return err
	}
	for i, event := range some {
		item := items[ids[i]]
		if item == nil {
			if item, err = p.Reader.Find(ctx, p.tenant, ids[i]); err != nil { // it says why
				return fmt.Errorf("review %s: %w", ids[i], err)
			}
		}
		var similar []domain.SimilarItem
		if s, isSigned := signed[ids[i]]; isSigned {
			var found []*domain.Knowledge
			for _, number := range candidates[item.ID] {
				if k := others[number]; k != nil && k.Status == domain.Active {
					found = append(found, k)
				}
			}
			similar = p.Searcher.Judge(by(p.tenant), s, found)
			similar = slices.DeleteFunc(similar, func(s domain.SimilarItem) bool { // which only a model may propose
				return p.judge == nil && s.Kind == domain.Resembling && s.Rule == ""
			})
		}
		if !isCompared(item) || len(similar) == 0 && !proposed[item.ID] {
			continue
		}
		err := p.propose(ctx, event, item, similar)
		if errors.Is(err, errJudge) && ctx.Err() == nil {
			p.Logger.WarnContext(ctx, "rules propose reviews, because the model does not answer", "error", err)
			p.judge = nil
			err = p.propose(ctx, event, item, similar)
		}
		if err != nil {
			return fmt.Errorf("review %s: %w", item.ID, err)
		}
		for _, s := range similar {
			proposed[s.ID] = true
		}
	}
	return nil
}

// propose brings the proposals about an item up to date.
func (p *batch) propose(
	ctx context.Context, event domain.Event, item *domain.Knowledge, similar []domain.SimilarItem,
) error {
	about, err := p.Proposals.ProposalsAbout(ctx, p.tenant, []string{item.ID})
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(about, func(o domain.RecordedProposal) bool { return o.Outcome != "" })
	var pairs []pair
	if item.Status == domain.Active {
		if pairs, err = p.pairs(ctx, item, similar, open); err != nil {
			return err
		}
	}
	if err := p.closeObsolete(ctx, event, item, open, pairs); err != nil {
		return err
	}
	for _, pair := range pairs {
		if is, err := p.isNew(ctx, event.Tenant, item, pair.Knowledge); err != nil {
			return err
		} else if !is {
			continue
		}
		err := p.submit(ctx, event, domain.ProposeReview{
			By: by(event.Tenant), ID: domain.ProposalID(pair.kind, []*domain.Knowledge{item, pair.Knowledge}), Kind: pair.kind,
			Items: []string{item.ID, pair.ID}, Score: pair.Score, Rule: pair.Rule, Reason: pair.reason,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isNew tells whether to propose two items: no open proposal is about both, neither is in too many, and no proposal
// about them was closed as distinct or dismissed since they were revised.
func (p *Proposer) isNew(ctx context.Context, tenant string, item, other *domain.Knowledge) (bool, error) {
	two := []string{item.ID, other.ID}
	about, err := p.Proposals.ProposalsAbout(ctx, tenant, two)
	if err != nil {
		return false, err
	}
	slices.Sort(two)
	var decided time.Time
	open := map[string]int{}
	for _, o := range about {
		switch {
		case o.Outcome == "" && slices.Contains(o.Items, item.ID) && slices.Contains(o.Items, other.ID):
			return false, nil
		case o.Outcome == "" && o.By == by(tenant).Subject:
			for _, id := range o.Items {
				open[id]++
			}
		case slices.Equal(o.Items, two) && (o.Outcome == domain.OutcomeDistinct || o.Outcome == domain.OutcomeDismissed) &&
			o.ClosedAt.After(decided):
			decided = o.ClosedAt
		}
	}
	if full := max(open[item.ID], open[other.ID]) >= mostOpen; full || decided.IsZero() {
		return !full, nil
	}
	streams := []string{domain.KnowledgeStream(item.ID), domain.KnowledgeStream(other.ID)}
	names := []string{domain.Revised{}.Name(), domain.Redacted{}.Name()}
	revised, err := p.Log.Reader.NewestOf(ctx, tenant, streams, names)
	return slices.ContainsFunc(streams, func(s string) bool { return revised[s].RecordedAt.After(decided) }), err
}

// pair is an item that is a duplicate of another one, or contradicts it.
type pair struct {
	domain.SimilarItem

	kind   domain.ProposalKind
	reason string // of the judge
}

// errJudge says that the judge gave no judgement.
var errJudge = errors.New("judge")

// pairs are the items that say the same as an item or contradict it, and that have one of its scopes. They include
// items of the proposer's open proposals that are not among the similar ones.
func (p *batch) pairs(
	ctx context.Context, item *domain.Knowledge, similar []domain.SimilarItem, open []domain.RecordedProposal,
) (pairs []pair, err error) {
	similar = slices.Clone(similar)
	for _, o := range open {
		for _, id := range o.Items {
			i := slices.IndexFunc(similar, func(s domain.SimilarItem) bool { return s.ID == id })
			switch {
			case o.By != by(p.tenant).Subject || id == item.ID:
			case i < 0:
				similar = append(similar, domain.SimilarItem{ID: id})
			case similar[i].Kind == domain.Resembling:
				similar[i].Kind = ""
			}
		}
	}
	for _, s := range similar {
		if s.Knowledge == nil {
			if s.Knowledge, err = p.Reader.Find(ctx, p.tenant, s.ID); err != nil {
				return nil, err
			}
		}
		if s.Kind == "" {
			s = p.Searcher.Compare(item, s.Knowledge)
		}
		shared := func(scope domain.Scope) bool { return slices.Contains(item.Scopes, scope) }
		switch { // people decide whether it says the same, or may hold, too
		case s.Kind == domain.Resembling && s.Rule == domain.SameTask:
			s.Kind = domain.Contradiction
		case s.Kind == domain.Resembling && s.Rule != "":
			s.Kind = domain.Duplicate
		}
		if s.Knowledge.Status == domain.Active && slices.ContainsFunc(s.Knowledge.Scopes, shared) {
			found := pair{SimilarItem: s, kind: domain.ProposalKind(s.Kind)}
			if p.judge != nil {
				judgement, err := p.judge.Judge(ctx, item, s.Knowledge)
				if err != nil {
					return nil, fmt.Errorf("%w: %w", errJudge, err)
				}
				found.kind, found.reason, found.Rule = judgement.Kind, judgement.Reason, domain.JudgedByModel
			}
			pairs = append(pairs, found)
		}
	}
	return slices.DeleteFunc(pairs, func(p pair) bool { return !slices.Contains(domain.ProposalKinds, p.kind) }), nil
}

// closeObsolete closes the proposer's own proposals about an item that its present text does not support; if the item
// does not hold any more, all of them. Rules close no proposal that a model made.
func (p *batch) closeObsolete(
	ctx context.Context, event domain.Event, item *domain.Knowledge, open []domain.RecordedProposal, pairs []pair,
) error {
	for _, o := range open {
		holds := slices.ContainsFunc(pairs, func(found pair) bool {
			return found.kind == o.Kind && slices.Contains(o.Items, found.ID)
		})
		notOurs := o.By != by(event.Tenant).Subject || o.Rule == domain.JudgedByModel && p.judge == nil
		if holds || item.Status == domain.Active && notOurs {
			continue
		}
		closing := domain.CloseProposal{By: by(event.Tenant), ID: o.ID, Outcome: domain.OutcomeObsolete, IfOpen: true}
		if slices.Contains(o.Items, item.SupersededBy) {
			closing.Outcome = domain.OutcomeSuperseded
		}
		if err := p.submit(ctx, event, closing); err != nil {
			return err
		}
	}
	return nil
}

// eraseReasons erases the reasons of proposals about an erased item, which may quote it, and of those about a redacted
// item that a model wrote.
func (p *Proposer) eraseReasons(ctx context.Context, event domain.Event, id string) error {
	eraser := by(event.Tenant)
	eraser.Role = domain.Admin
	command := domain.EraseTexts{By: eraser, ErasureReason: domain.ErasureReason{ReasonCode: "redacted"}}
	erased, all := event.Fact.(domain.Erased)
	if _, redacted := event.Fact.(domain.Redacted); id == "" || !all && !redacted {
		return nil
	}
	if all {
		command.ErasureReason = domain.ErasureReason{
			ReasonCode: erased.ReasonCode, LegalBasis: erased.LegalBasis, RequestedBy: erased.RequestedBy, Ticket: erased.Ticket,
		}
	}
	about, err := p.Proposals.ProposalsAbout(ctx, event.Tenant, []string{id})
	for _, proposal := range about {
		if command.Of = domain.ProposalStreams.Of(proposal.ID); !all && proposal.Rule != domain.JudgedByModel {
			continue
		}
		if err = p.write(ctx, event, command); err != nil {
			break
		}
	}
	return err
}

// write submits a command that an event caused.
func (p *Proposer) write(ctx context.Context, event domain.Event, command domain.Command) error {
	_, err := p.Writer.Submit(ctx, domain.Submission{
		Command: command, By: by(event.Tenant), Origin: domain.Origin{CausationID: event.EventID},
	})
	return err
}

// submit writes a proposal or closes one. A refusal means that an item has changed since, and its event follows.
func (p *Proposer) submit(ctx context.Context, event domain.Event, command domain.Command) error {
	err := p.write(ctx, event, command)
	for _, refusal := range []error{
		domain.ErrInvalid, domain.ErrNotFound, domain.ErrForbidden, domain.ErrConflict, domain.ErrPrecondition,
		domain.ErrDeleted, domain.ErrErased,
	} {
		if errors.Is(err, refusal) {
			p.Logger.DebugContext(ctx, "a proposal is refused", "tenant", event.Tenant, "event", event.EventID, "error", err)
			return nil
		}
	}
	return err
}
