package http

import (
	"context"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// seen finds the item if the caller may know of it, gone or not. What may not be seen is
// answered exactly as what does not exist.
func (s *Server) seen(ctx context.Context, c *call, id string) (*domain.Knowledge, error) {
	if !possible(id) {
		return nil, domain.NotFound(id)
	}
	k, err := s.cfg.Reader.Find(ctx, c.principal.Tenant, id)
	if err != nil {
		return nil, err
	}
	if !c.principal.MaySee(k) {
		return nil, domain.NotFound(id)
	}
	return k, nil
}

// living finds the item if the caller may know of it and it is not gone.
func (s *Server) living(ctx context.Context, c *call, id string) (*domain.Knowledge, error) {
	k, err := s.seen(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return k, domain.Gone(k)
}

// possible tells whether there could be an item with this id, so that nothing else reaches the
// database.
func possible(id string) bool {
	const most = 128
	return id != "" && len(id) <= most && !strings.ContainsFunc(id, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-", r)
	})
}

// found answers with an item as it is.
type found struct {
	ETag string `header:"ETag" doc:"The item's revision, for If-Match. Votes and reports leave it as it is: it does not tell whether a copy is up to date."`
	Body *api.Knowledge
}

type findInput struct {
	ID   string    `path:"id" doc:"The item's id."`
	AsOf body.AsOf `query:"as_of"`

	MinPosition integer `query:"min_position" doc:"Wait until the answer is as new as this position of the log, the Annals-Position of a write; also as the header Annals-Min-Position. 503 if that takes too long."`
	MaxWait     integer `query:"max_wait" doc:"How many seconds to wait for min_position: 1 to 25; 5 if left out."`
}

func (s *Server) find(ctx context.Context, c *call, in *findInput) (*found, error) {
	at := in.AsOf.Parse(&c.found)
	if err := s.await(ctx, c, in.MinPosition, in.MaxWait, false); err != nil {
		return nil, err
	}
	if !at.IsNow() {
		return s.findThen(ctx, c, in.ID, at)
	}
	k, err := s.living(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	s.retrieved(c, "get", 1, func(int) domain.Retrieved { return domain.Retrieved{ID: k.ID} })
	feedback, err := s.cfg.Reader.Feedback(ctx, c.principal.Tenant, k.ID)
	if err != nil {
		return nil, err
	}
	return &found{ETag: etag(k.Revision), Body: fullOf(k, feedback)}, nil
}
