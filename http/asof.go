package http

import (
	"context"
	"strings"

	"github.com/annals-kb/annals/api"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

// asOf is a moment of the past as it comes, a position in JSON as a number, too; empty for now.
type asOf string

// Schema documents it.
func (asOf) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger}}, Examples: []any{"2026-03-01T12:00:00Z", 17},
		Description: "As things were then: a time, a date (its beginning, in UTC) or a position of the log. " +
			"Of that you read what you may see today; what was erased since is gone from the past, too.",
	}
}

// decode takes a string, or a position as a number.
func (v *asOf) decode(r *reader) {
	switch first := r.peek(); {
	case first == '"':
		if *v = asOf(r.unquote(r.quoted())); *v == "" {
			r.note(unset)
		}
	case '0' <= first && first <= '9':
		*v = asOf(r.value())
	default:
		r.note("must be a time or a date as a string, or a position of the log")
		r.value()
	}
}

// read notes what is no moment.
func (v asOf) read(p *domain.Problems) domain.AsOf {
	if v == "" {
		return domain.AsOf{}
	}
	// A plus sign that was not escaped arrives as a space.
	at, err := domain.ParseAsOf(strings.ReplaceAll(string(v), " ", "+"))
	if err != nil {
		p.Add("as_of", "%s", err)
	}
	return at
}

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
