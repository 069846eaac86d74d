package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// merging answers requests that merge items, and that propose it.
type merging struct{ *Server }

func (s merging) mergeRoutes() {
	serve.Handle(s.api, huma.Operation{
		OperationID: "merge", Method: http.MethodPost, Path: one + "/merge", Tags: []string{"Knowledge"},
		Summary: "Let an item take the place of others",
		Description: "The others are superseded by it, and open proposals about these items are closed: all at once, or " +
			"nothing. The caller must be a steward of every item, and may give the item that stays a new content, abstract or " +
			"task if it may change that item. A vote that is carried counts once, as one of its voter and day.",
		RequestBody: serve.JSONBody[api.Merge](s.api, true), Errors: serve.ChangeErrors,
	}, s.merge)
	serve.Handle(s.api, huma.Operation{
		OperationID: "unmerge", Method: http.MethodPost, Path: one + "/unmerge", Tags: []string{"Knowledge"},
		Summary: "Undo the newest merge of an item",
		Description: "The items that it still supersedes are restored. Votes that were carried over do not count for it " +
			"any more. A text that the merge changed becomes what it was, unless it was changed since. Proposals stay closed. " +
			"The owners of all of these items may do so, and stewards of all of them.",
		RequestBody: serve.JSONBody[api.Reason](s.api, false), Errors: serve.ChangeErrors,
	}, s.unmerge)
	serve.Handle(s.api, huma.Operation{
		OperationID: "propose-review", Method: http.MethodPost, Path: "/v1/reviews/proposals", Tags: []string{"Reports"},
		Summary: "Propose to review items together",
		Description: "As duplicates, or because they contradict each other. It changes no item. The same again is " +
			"unchanged, even if the proposal was closed, until one of the items is revised.",
		RequestBody: serve.JSONBody[api.NewProposal](s.api, true), Errors: serve.NamedErrors,
	}, s.propose)
	serve.Handle(s.api, huma.Operation{
		OperationID: "close-proposal", Method: http.MethodPost, Path: "/v1/reviews/proposals/{id}/close",
		Tags: []string{"Reports"}, Summary: "Close a proposal without a merge",
		Description: "For the stewards of its items. A merge closes the proposals about its items by itself.",
		RequestBody: serve.JSONBody[api.ProposalClosing](s.api, true), Errors: serve.NamedErrors,
	}, s.closeProposal)
}

func (s merging) merge(ctx context.Context, c *serve.Call, in *serve.ItemInput) (*serve.Reply, error) {
	given, sent, err := serve.ReadBody[api.Merge](c)
	if err != nil {
		return nil, err
	}
	return s.together(ctx, c, in.ID, sent, func(t domain.Target) (serve.Validated, []domain.Command, error) {
		command := domain.Merge{
			Target: t, Items: given.Items, Read: given.Revisions, CarryVotes: given.CarryVotes, Reason: given.Reason,
			Changes: domain.Revised{Task: given.Task, Content: given.Content, Abstract: given.Abstract},
		}
		if command.Validate() != nil { // together says what is wrong
			return command, nil, nil
		}
		open, err := s.cfg.Reporter.OpenProposals(ctx, c.Principal.Tenant, append(given.Items, in.ID))
		return command, command.Then(open), err
	})
}

func (s merging) unmerge(ctx context.Context, c *serve.Call, in *serve.ItemInput) (*serve.Reply, error) {
	given, sent, err := serve.ReadAny[api.Reason](c)
	if err != nil {
		return nil, err
	}
	return s.together(ctx, c, in.ID, sent, func(t domain.Target) (serve.Validated, []domain.Command, error) {
		history, err := s.cfg.Historian.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(t.ID))
		if err != nil {
			return nil, nil, err
		}
		command, err := domain.UndoMerge(t, history, given.Reason)
		return command, command.Then(), err
	})
}

// together submits a command about an item with others.
func (s merging) together(
	ctx context.Context, c *serve.Call, id string, body []byte,
	decided func(domain.Target) (serve.Validated, []domain.Command, error),
) (*serve.Reply, error) {
	if !domain.IsItemID(id) {
		return nil, domain.NotFound(id)
	}
	revisions, err := c.ExpectedRevisions()
	if err != nil {
		return nil, err
	}
	command, then, err := decided(c.Target(id, revisions))
	if err != nil {
		return nil, err
	}
	if err := serve.Merge(c.Found, command.Validate()); err != nil {
		return nil, err
	}
	submission := c.Submission(command, body)
	submission.Then = then
	return serve.Replied(s.api.Writer.Submit(ctx, submission))
}

type proposalOutput struct {
	Position string `header:"Annals-Position" doc:"Of the newest event."`
	Outcome  string `header:"Annals-Outcome" enum:"created,recorded,unchanged" doc:"What the write did."`
	Body     api.Proposal
}

func proposalOutputOf(done domain.Receipt) *proposalOutput {
	p, _ := done.Stream.State.(domain.Proposal)
	return &proposalOutput{Position: fmt.Sprint(done.Position), Outcome: done.Outcome, Body: api.Proposal{
		ID: strings.TrimPrefix(done.Stream.Name, domain.ProposalStream("")), Kind: string(p.Kind), Items: p.Items,
		Score: p.Score, Rule: p.Rule, By: string(p.By), At: serve.Time(p.At), Outcome: string(p.Outcome),
		ClosedAt: serve.Time(p.ClosedAt),
	}}
}

func (s merging) propose(ctx context.Context, c *serve.Call, _ *struct{}) (*proposalOutput, error) {
	given, sent, err := serve.ReadBody[api.NewProposal](c)
	if err != nil {
		return nil, err
	}
	command := domain.ProposeReview{
		By: c.Principal, Kind: domain.ProposalKind(given.Kind), Items: given.Items, Reason: given.Reason,
	}
	if err := serve.Merge(c.Found, command.Validate()); err != nil {
		return nil, err
	}
	const tries = 10 // each conflict means that an item was revised
	for try := 1; ; try++ {
		items := make([]*domain.Knowledge, len(given.Items))
		for i, id := range given.Items {
			items[i], err = s.cfg.Reader.Find(ctx, c.Principal.Tenant, id)
			if errors.Is(err, domain.ErrNotFound) { // the decision names it
				items[i], err = &domain.Knowledge{ID: id}, nil
			}
			if err != nil {
				return nil, err
			}
		}
		command.ID = domain.ProposalID(command.Kind, items)
		done, err := s.api.Writer.Submit(ctx, c.Submission(command, sent))
		if err == nil {
			return proposalOutputOf(done), nil
		}
		if !errors.Is(err, domain.ErrPrecondition) || try == tries {
			return nil, err
		}
	}
}

type proposalInput struct {
	ID string `path:"id" doc:"Of the proposal."`
}

func (s merging) closeProposal(ctx context.Context, c *serve.Call, in *proposalInput) (*proposalOutput, error) {
	given, sent, err := serve.ReadBody[api.ProposalClosing](c)
	if err != nil {
		return nil, err
	}
	command := domain.CloseProposal{
		By: c.Principal, ID: in.ID, Outcome: domain.Outcome(given.Outcome), Reason: given.Reason,
	}
	done, err := c.Submit(ctx, command, command.Validate(), sent)
	if err != nil {
		return nil, err
	}
	return proposalOutputOf(done), nil
}
