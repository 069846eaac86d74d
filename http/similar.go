package http

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

const (
	// If the caller did not ask for similar items, the answer leaves them out after this time, and if more requests than
	// these remember an item.
	similarTimeout  = 100 * time.Millisecond
	mostRemembering = 2
)

// onSimilar reads the parameter.
func (in *rememberInput) onSimilar(p *domain.Problems) domain.OnSimilar {
	ways := []string{"", string(domain.AllowSimilar), string(domain.LinkSimilar), string(domain.RefuseSimilar)}
	if !slices.Contains(ways, in.OnSimilar) {
		p.Add("on_similar", "must be one of allow, link, refuse")
	}
	return domain.OnSimilar(in.OnSimilar)
}

// similarity remembers items with regard to similar ones.
type similarity struct{ *Server }

// similar are the items that an answer names.
type similar struct {
	items   []domain.SimilarItem
	unknown bool
}

// remember submits a command that remembers one item, and finds similar items: before it, if they decide what becomes
// of the item, and otherwise after it.
func (s similarity) remember(
	ctx context.Context, submission domain.Submission, command domain.Remember, on domain.OnSimilar,
) (domain.Receipt, similar, error) {
	busy := s.remembering.Add(1) > mostRemembering
	defer s.remembering.Add(-1)
	if on == domain.LinkSimilar || on == domain.RefuseSimilar {
		return s.decided(ctx, submission, command, on)
	}
	receipt, err := s.cfg.Writer.Submit(ctx, submission)
	if err != nil || receipt.Outcome != domain.Created {
		return receipt, similar{}, err
	}
	if on == "" {
		if busy || s.remembering.Load() > mostRemembering { // before its commit or after it
			return receipt, similar{unknown: true}, nil
		}
		limited, cancel := context.WithTimeout(ctx, similarTimeout)
		defer cancel()
		ctx = limited
	}
	found, err := s.cfg.Reader.Similar(ctx, submission.By, receipt.Knowledge)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		s.cfg.Logger.WarnContext(ctx, "similar items cannot be found", "error", err)
	}
	return receipt, similar{found, err != nil}, nil
}

// decided lets similar items decide what becomes of a new one.
func (s similarity) decided(
	ctx context.Context, submission domain.Submission, command domain.Remember, on domain.OnSimilar,
) (receipt domain.Receipt, found similar, err error) {
	found.items, err = s.cfg.Reader.Similar(ctx, submission.By, &domain.Knowledge{
		ID: command.ID, ContextType: command.Knowledge.ContextType, Polarity: command.Knowledge.Polarity,
		Scopes: command.Knowledge.Scopes, Text: command.Knowledge.Text,
	})
	if err != nil {
		return receipt, similar{}, err
	}
	command.Similar, command.OnSimilar = found.items, on
	submission.Command = command
	receipt, err = s.cfg.Writer.Submit(ctx, submission)
	if err != nil || receipt.Outcome != domain.Created {
		return receipt, similar{}, err
	}
	return receipt, found, nil
}

// into adds the similar items to an answer.
func (s similar) into(body *api.Knowledge) {
	for _, item := range s.items {
		if item.ID != body.ID { // a repeated request finds what it remembered before
			score := math.Round(item.Score*1000) / 1000
			body.Similar = append(body.Similar, api.Similar{ID: item.ID, Kind: item.Kind, Score: score, Rule: item.Rule})
		}
	}
	body.SimilarUnknown = s.unknown
}
