package reports

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func (s reviews) mergeRoutes() {
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "merge", Method: http.MethodPost, Path: serve.ItemPath + "/merge", Tags: []string{"Knowledge"},
		Summary: "Let an item take the place of others",
		Description: "The others are superseded by it, and open proposals about these items are closed: all at once, or " +
			"nothing. The caller must be a steward of every item, and may give the item that stays a new content, abstract or " +
			"task if it may change that item. A vote that is carried counts once, as one of its voter and day.",
		Errors: serve.ChangeErrors,
	}, s.merge)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "unmerge", Method: http.MethodPost, Path: serve.ItemPath + "/unmerge", Tags: []string{"Knowledge"},
		Summary: "Undo the newest merge of an item",
		Description: "The items that it still supersedes are restored. Votes that were carried over do not count for it " +
			"any more. A text that the merge changed becomes what it was, unless it was changed since. Proposals stay closed. " +
			"The owners of all of these items may do so, and stewards of all of them.",
		Errors: serve.ChangeErrors,
	}, s.unmerge)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "propose-review", Method: http.MethodPost, Path: "/v1/reviews/proposals", Tags: []string{"Reports"},
		Summary: "Propose to review items together",
		Description: "As duplicates, or because they contradict each other. It changes no item. The same again is " +
			"unchanged, even if the proposal was closed, until one of the items is revised.",
	}, s.propose)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "close-proposal", Method: http.MethodPost, Path: "/v1/reviews/proposals/{id}/close",
		Tags: []string{"Reports"}, Summary: "Close a proposal without a merge",
		Description: "For the stewards of its items. A merge closes the proposals about its items by itself.",
	}, s.closeProposal)
}

func (s reviews) merge(ctx context.Context, c *serve.Call, in *serve.ItemInput, body api.Merge) (*serve.Reply, error) {
	return serve.Replied(c.ChangeAll(ctx, in.ID, func(t domain.Target) (domain.Command, []domain.Command, error) {
		command := domain.Merge{
			Target: t, Items: body.Items, Read: body.Revisions, CarryVotes: body.CarryVotes, Reason: body.Reason,
			Changes: domain.Revised{Task: body.Task, Content: body.Content, Abstract: body.Abstract},
		}
		if err := command.Validate(); err != nil {
			return command, nil, err
		}
		open, err := s.reporter.OpenProposals(ctx, c.Principal.Tenant, append(body.Items, in.ID))
		return command, command.Then(open), err
	}))
}

func (s reviews) unmerge(
	ctx context.Context, c *serve.Call, in *serve.ItemInput, body api.Reason,
) (*serve.Reply, error) {
	return serve.Replied(c.ChangeAll(ctx, in.ID, func(t domain.Target) (domain.Command, []domain.Command, error) {
		history, err := s.events.Log.Stream(ctx, c.Principal.Tenant, domain.KnowledgeStream(t.ID))
		if err != nil {
			return nil, nil, err
		}
		command, err := domain.UndoMerge(t, history, body.Reason)
		return command, command.Then(), cmp.Or(err, command.Validate())
	}))
}

func proposalOf(done domain.Receipt) api.Proposal {
	p, _ := done.Stream.State.(domain.Proposal)
	return api.Proposal{
		ID: domain.ProposalStreams.ID(done.Stream.Name), Kind: string(p.Kind), Items: p.Items,
		Score: p.Score, Rule: p.Rule, By: string(p.By), At: serve.Time(p.At), Outcome: string(p.Outcome),
		ClosedAt: serve.Time(p.ClosedAt),
	}
}

func (s reviews) propose(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.NewProposal,
) (*serve.Written[api.Proposal], error) {
	command := domain.ProposeReview{
		By: c.Principal, Kind: domain.ProposalKind(body.Kind), Items: body.Items, Reason: body.Reason,
	}
	if err := serve.Merge(c.Found, command.Validate()); err != nil {
		return nil, err
	}
	const tries = 10 // each conflict means that an item was revised
	for try := 1; ; try++ {
		items := make([]*domain.Knowledge, len(body.Items))
		for i, id := range body.Items {
			var err error
			items[i], err = s.events.Items.Reader.Find(ctx, c.Principal.Tenant, id)
			if errors.Is(err, domain.ErrNotFound) { // the decision names it
				items[i], err = &domain.Knowledge{ID: id}, nil
			}
			if err != nil {
				return nil, err
			}
		}
		command.ID = domain.ProposalID(command.Kind, items)
		done, err := s.api.Writer.Submit(ctx, c.Submission(command))
		if err == nil {
			return serve.WrittenOf(done, proposalOf(done), nil)
		}
		if !errors.Is(err, domain.ErrPrecondition) || try == tries {
			return nil, err
		}
	}
}

type proposalInput struct {
	ID string `path:"id" doc:"Of the proposal."`
}

func (s reviews) closeProposal(
	ctx context.Context, c *serve.Call, in *proposalInput, body api.ProposalClosing,
) (*serve.Written[api.Proposal], error) {
	command := domain.CloseProposal{
		By: c.Principal, ID: in.ID, Outcome: domain.Outcome(body.Outcome), Reason: body.Reason,
	}
	also := serve.Map(body.Also, func(other string) domain.Command {
		same := command
		same.ID = other
		return same
	})
	done, err := c.Do(ctx, command, also...)
	return serve.WrittenOf(done, proposalOf(done), err)
}
