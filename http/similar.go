package http

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// rememberBeside remembers an item that may have similar ones, and returns those. At VoteSimilar, an item that says
// exactly the same gets the caller's vote of this day instead, if there is room for one.
func rememberBeside(
	ctx context.Context, s *Server, submission domain.Submission, command domain.Remember, now time.Time,
) (domain.Receipt, []api.Similar, error) {
	similar, err := s.cfg.Searcher.Similar(ctx, submission.By, &domain.Knowledge{
		ID: command.ID, Class: command.Knowledge.Class, Scopes: command.Knowledge.Scopes, Text: command.Knowledge.Text,
	})
	if err != nil {
		return domain.Receipt{}, nil, err
	}
	command.Similar = similar
	submission.Command = command
	receipt, err := s.api.Writer.Submit(ctx, submission)
	if known, is := errors.AsType[*domain.Known](err); is {
		submission.Command = domain.GiveFeedback{
			Target: domain.Target{By: command.By, ID: known.Item.ID}, Verdict: domain.Helpful, Outcome: "said again", Day: now,
		}
		receipt, err = s.api.Writer.Submit(ctx, submission)
		if errors.Is(err, domain.ErrConflict) {
			receipt, err = domain.Receipt{Knowledge: &known.Item, Outcome: domain.Unchanged}, nil
		}
	}
	if err != nil {
		return receipt, nil, err
	}
	similar = slices.DeleteFunc(similar, func(item domain.SimilarItem) bool {
		return item.ID == receipt.Knowledge.ID // a repeated request finds what it remembered before
	})
	return receipt, serve.SimilarOf(similar), nil
}
