package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/background"
	"github.com/annals-kb/annals/events/follow"
)

// name is the name under which the checkpoints are kept.
const name = "review"

// mostOpen limits the proposer's open proposals about an item.
const mostOpen = 5

// Reader reads items.
type Reader interface {
	// Find returns the item, even if it is deleted or erased. The error matches domain.ErrNotFound if there is none.
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
}

// Searcher finds and compares similar items.
type Searcher interface {
	// Similar finds items that say the same as an item, contradict it or resemble it.
	Similar(ctx context.Context, by domain.Principal, item *domain.Knowledge) ([]domain.SimilarItem, error)
	// Compare compares items by rules.
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
}

// Follow makes the proposer follow every tenant's log.
func (p Proposer) Follow(router *message.Router) {
	follow.AddPreparer(router, p.Followers, name, p.Prepare)
}

// Prepare proposes reviews of the items that a page touches. A page that is retried proposes nothing twice, since the
// id of a proposal follows from the items. After an error of the judge, rules decide for the rest of the page.
func (p Proposer) Prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	seen := map[string]bool{}
	for _, event := range page.Events {
		id, isItem := domain.ItemOf(event.Stream)
		if err := p.eraseReasons(ctx, event, id); err != nil {
			return nil, fmt.Errorf("erase reasons about %s: %w", id, err)
		}
		if p.Off || !isItem || seen[id] || !concerns(event.Fact) {
			continue
		}
		seen[id] = true
		began := time.Now()
		err := p.review(ctx, event, id)
		if errors.Is(err, errJudge) && ctx.Err() == nil {
			p.Logger.WarnContext(ctx, "rules propose reviews, because the model does not answer", "error", err)
			p.Judge = nil
			err = p.review(ctx, event, id)
		}
		if err != nil {
			return nil, fmt.Errorf("review %s: %w", id, err)
		}
		p.Log.Background().Yield(ctx, name, time.Since(began), background.LongestPause)
	}
	return follow.NoChange{}, nil
}

// concerns tells whether a fact may change what an item says, to whom, and whether it holds.
func concerns(fact domain.Fact) bool {
	switch f := fact.(type) {
	case domain.Remembered, domain.Rescoped, domain.Superseded, domain.Deleted, domain.Restored, domain.Erased,
		domain.Redacted:
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

// review compares an item as it is now with similar ones, and brings its proposals up to date.
func (p Proposer) review(ctx context.Context, event domain.Event, id string) error {
	item, err := p.Reader.Find(ctx, event.Tenant, id)
	if err != nil || domain.IsArchive(id) || item.Media != domain.MediaText || item.ContextType == domain.Resource {
		return err
	}
	about, err := p.Proposals.ProposalsAbout(ctx, event.Tenant, []string{id})
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(about, func(o domain.RecordedProposal) bool { return o.Outcome != "" })
	var pairs []pair
	if item.Status == domain.Active {
		if pairs, err = p.pairs(ctx, event.Tenant, item, open); err != nil {
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
			Items: []string{id, pair.ID}, Score: pair.Score, Rule: pair.Rule, Reason: pair.reason,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isNew tells whether to propose two items: no open proposal is about both, neither is in too many, and no proposal
// about them was closed as distinct or dismissed since they were revised.
func (p Proposer) isNew(ctx context.Context, tenant string, item, other *domain.Knowledge) (bool, error) {
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
// items of the proposer's open proposals that the search missed, or whose meaning it did not learn in time.
func (p Proposer) pairs(
	ctx context.Context, tenant string, item *domain.Knowledge, open []domain.RecordedProposal,
) (pairs []pair, err error) {
	similar, err := p.Searcher.Similar(ctx, by(tenant), item)
	if err != nil {
		return nil, err
	}
	for _, o := range open {
		for _, id := range o.Items {
			i := slices.IndexFunc(similar, func(s domain.SimilarItem) bool { return s.ID == id })
			switch {
			case o.By != by(tenant).Subject || id == item.ID:
			case i < 0:
				similar = append(similar, domain.SimilarItem{ID: id})
			case similar[i].Kind == domain.Resembling:
				similar[i].Kind = ""
			}
		}
	}
	for _, s := range similar {
		if s.Knowledge == nil {
			if s.Knowledge, err = p.Reader.Find(ctx, tenant, s.ID); err != nil {
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
			if p.Judge != nil {
				judgement, err := p.Judge.Judge(ctx, item, s.Knowledge)
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
func (p Proposer) closeObsolete(
	ctx context.Context, event domain.Event, item *domain.Knowledge, open []domain.RecordedProposal, pairs []pair,
) error {
	for _, o := range open {
		holds := slices.ContainsFunc(pairs, func(found pair) bool {
			return found.kind == o.Kind && slices.Contains(o.Items, found.ID)
		})
		notOurs := o.By != by(event.Tenant).Subject || o.Rule == domain.JudgedByModel && p.Judge == nil
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
func (p Proposer) eraseReasons(ctx context.Context, event domain.Event, id string) error {
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
func (p Proposer) write(ctx context.Context, event domain.Event, command domain.Command) error {
	_, err := p.Writer.Submit(ctx, domain.Submission{
		Command: command, By: by(event.Tenant), Origin: domain.Origin{CausationID: event.EventID},
	})
	return err
}

// submit writes a proposal or closes one. A refusal means that an item has changed since, and its event follows.
func (p Proposer) submit(ctx context.Context, event domain.Event, command domain.Command) error {
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
