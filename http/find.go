package http

import (
	"cmp"
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

// visibleItem finds an item if the caller may see it, deleted or not. For an item that the caller may not see, it
// answers as if the item did not exist.
func (s *Server) visibleItem(ctx context.Context, c *serve.Call, id string) (*domain.Knowledge, error) {
	if !domain.IsItemID(id) {
		return nil, domain.NotFound(id)
	}
	k, err := s.cfg.Reader.Find(ctx, c.Principal.Tenant, id)
	if err != nil {
		return nil, err
	}
	if !c.Principal.MaySee(k) {
		return nil, domain.NotFound(id)
	}
	return k, nil
}

// existingItem finds an item if the caller may see it and it is not deleted.
func (s *Server) existingItem(ctx context.Context, c *serve.Call, id string) (*domain.Knowledge, error) {
	k, err := s.visibleItem(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return k, domain.Gone(k)
}

// found answers with an item as it is.
type found struct {
	ETag string `header:"ETag" doc:"The item's revision, for If-Match. Votes and reports leave it as it is: it does not tell whether a copy is up to date."`
	Body *api.Knowledge
}

type findInput struct {
	ID   string    `path:"id" doc:"The item's id."`
	AsOf body.AsOf `query:"as_of"`

	Waiting
}

func (s *Server) find(ctx context.Context, c *serve.Call, in *findInput) (*found, error) {
	at := in.AsOf.Parse(&c.Found, "as_of")
	if err := s.await(ctx, c, in.Waiting, false); err != nil {
		return nil, err
	}
	if !at.IsNow() {
		return s.findThen(ctx, c, in.ID, at)
	}
	k, err := s.existingItem(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := (verification{s}).verify(ctx, c, k); err != nil {
		return nil, err
	}
	s.recordRetrieval(c, "get", 1, func(int) domain.Retrieved { return domain.Retrieved{ID: k.ID} })
	feedback, err := s.cfg.Reader.Feedback(ctx, c.Principal.Tenant, k.ID)
	if err != nil {
		return nil, err
	}
	return &found{ETag: serve.Etag(k.Revision), Body: fullOf(k, feedback)}, nil
}

// resolveAsOf resolves a time or a position of the past; the zero value for now.
func (s *Server) resolveAsOf(ctx context.Context, c *serve.Call, at domain.AsOf) (domain.AsOf, error) {
	if at.IsNow() {
		return at, nil
	}
	return s.cfg.Finder.Resolve(ctx, c.Principal.Tenant, at)
}

// findThen answers with an item as it was. Its present state decides whether the caller may see it.
func (s *Server) findThen(ctx context.Context, c *serve.Call, id string, at domain.AsOf) (*found, error) {
	now, err := s.visibleItem(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if now.Status == domain.IsErased {
		return nil, domain.Gone(now)
	}
	at, err = s.resolveAsOf(ctx, c, at)
	if err != nil {
		return nil, err
	}
	k, err := s.cfg.Reader.AsOf(ctx, c.Principal.Tenant, id, at.Position)
	if err != nil {
		return nil, err
	}
	if !k.Exists() {
		return nil, domain.Refuse(
			domain.ErrNotFound, "%s was remembered later, at position %d and not by %d", id, now.Number, at.Position,
		)
	}
	if err := domain.Gone(k); err != nil {
		return nil, err
	}
	return &found{Body: fullOf(k.At(at.Time), k.Feedback())}, nil
}

// fullOf is an item with its feedback.
func fullOf(k *domain.Knowledge, feedback domain.Feedback) *api.Knowledge {
	body := serve.KnowledgeOf(k)
	body.Eval.HelpfulHistory = serve.UsesOf(feedback.Helpful)
	body.Eval.HarmfulHistory = serve.UsesOf(feedback.Harmful)
	return body
}

// Waiting are the parameters of reads that can wait for a write.
type Waiting struct {
	MinPosition serve.Integer `query:"min_position" doc:"Wait until the answer is as new as this position of the log, the Annals-Position of a write; also as the header Annals-Min-Position. 503 if that takes too long."`
	MaxWait     serve.Integer `query:"max_wait" doc:"How many seconds to wait for min_position: 1 to 25; 5 if left out."`
}

// The default and the longest time that a read waits for min_position.
const (
	usualWait   = 5 * time.Second
	longestWait = 25
)

// await waits until the answer is as new as min_position, if the caller sent it. Its value is the Annals-Position of
// a write. A search waits for the vectors, too. The header has the same meaning as the parameter.
func (s *Server) await(ctx context.Context, c *serve.Call, in Waiting, search bool) error {
	const header = "Annals-Min-Position"
	var found domain.Problems
	wanted := in.MinPosition.Read(&found, "min_position", 0, serve.NoLimit)
	if in.MinPosition == "" {
		wanted = serve.Integer(c.Request.Header.Get(header)).Read(&found, header, 0, serve.NoLimit)
	}
	patience := cmp.Or(time.Duration(in.MaxWait.Read(&found, "max_wait", 1, longestWait))*time.Second, usualWait)
	if err := serve.Merge(c.Found, found.Err()); err != nil || wanted == 0 {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.cfg.Reader.Await(waiting, c.Principal.Tenant, wanted, search)
}
