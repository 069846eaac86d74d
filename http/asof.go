package http

import (
	"context"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

// then is where the log was then, and when; the zero value for now.
func (s *Server) then(ctx context.Context, c *call, at domain.AsOf) (domain.AsOf, error) {
	if at.IsNow() {
		return at, nil
	}
	return s.cfg.Historian.Resolve(ctx, c.principal.Tenant, at)
}

// findThen answers with an item as it was. Who may see it is a question of today.
func (s *Server) findThen(ctx context.Context, c *call, id string, at domain.AsOf) (*found, error) {
	now, err := s.seen(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if now.Status == domain.IsErased {
		return nil, domain.Gone(now)
	}
	at, err = s.then(ctx, c, at)
	if err != nil {
		return nil, err
	}
	k, err := s.cfg.Reader.AsOf(ctx, c.principal.Tenant, id, at.Position)
	if err != nil {
		return nil, err
	}
	if !k.Exists() {
		return nil, domain.Refuse(domain.ErrNotFound, "%s was remembered later, at position %d and not by %d", id, now.Number, at.Position)
	}
	if err := domain.Gone(k); err != nil {
		return nil, err
	}
	return &found{Body: fullOf(k.At(at.Time), k.Feedback())}, nil
}

// fullOf is an item with how it was found of use.
func fullOf(k *domain.Knowledge, feedback domain.Feedback) *api.Knowledge {
	body := knowledgeOf(k)
	body.Eval.HelpfulHistory = usesOf(feedback.Helpful)
	body.Eval.HarmfulHistory = usesOf(feedback.Harmful)
	return body
}
