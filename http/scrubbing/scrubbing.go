package scrubbing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

type scrubbingOutput struct {
	Position string `header:"Annals-Position" doc:"Where the log is now."`
	Body     api.Scrubbing
}

// Scrubbing tells by which rules texts are scrubbed.
type Scrubbing interface {
	// Scrubs tells whether this server scrubs texts.
	Scrubs() bool
	// Rules are the rules that a tenant changed.
	Rules(ctx context.Context, tenant string) (domain.Scrubbing, error)
}

// Recorded finds and redacts secrets that are recorded already.
type Recorded interface {
	// Span turns times or positions into positions. If nothing was recorded in between, from is after to.
	Span(ctx context.Context, tenant string, since, until domain.AsOf) (from, to int64, err error)
	// Recorded finds what the present rules would redact, and returns the last position that it looked at.
	Recorded(ctx context.Context, tenant string, from, to int64) (found []domain.Detection, through int64, err error)
	// Redact redacts streams, each of which may fail alone. The submission has no command.
	Redact(ctx context.Context, s domain.Submission, streams []string, from, to int64) ([]domain.Redaction, error)
}

// Items finds items.
type Items interface {
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
}

// scrubbings answers requests about the redaction of texts.
type scrubbings struct {
	api      *serve.API
	rules    Scrubbing // nil if the rules cannot be changed here
	recorded Recorded  // nil if this server redacts nothing that is recorded
	items    Items
}

// Room is the operations on redaction. The rules and what is recorded may be nil.
type Room struct {
	Rules    Scrubbing
	Recorded Recorded
	Items    Items
}

// Routes registers the operations.
func (r Room) Routes(a *serve.API, _ visible.Events) {
	s := scrubbings{a, r.Rules, r.Recorded, r.Items}
	tags := []string{"Access"}
	const path = "/v1/scrubbing"
	serve.Handle(s.api, huma.Operation{
		OperationID: "scrubbing", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "Read what is redacted in what people write", Description: "For admins and auditors.",
	}, s.scrubbing)
	serve.HandleBody(s.api, true, huma.Operation{
		OperationID: "change-scrubbing", Method: http.MethodPut, Path: path, Tags: tags,
		Summary: "Change what is redacted in what people write",
		Description: "For admins. All rules are replaced, from now on: what is recorded already stays as it is until it is " +
			"redacted. Every server follows within a second.",
		Errors: serve.BodyErrors,
	}, s.changeScrubbing)
	s.redactionRoutes()
}

func (s scrubbings) scrubbing(ctx context.Context, c *serve.Call, _ *struct{}) (*scrubbingOutput, error) {
	if !c.Principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "rules for scrubbing are for admins and auditors")
	}
	if err := c.Found.Err(); err != nil || s.rules == nil {
		return &scrubbingOutput{}, err
	}
	rules, err := s.rules.Rules(ctx, c.Principal.Tenant)
	if err != nil {
		return nil, err
	}
	return &scrubbingOutput{Body: s.scrubbingOf(rules)}, nil
}

func (s scrubbings) changeScrubbing(
	ctx context.Context, c *serve.Call, _ *struct{}, body api.Scrubbing,
) (*scrubbingOutput, error) {
	rules := domain.Scrubbing{Off: body.Off, Allow: body.Allow}
	for _, p := range body.Patterns {
		rules.Patterns = append(rules.Patterns, domain.ScrubPattern(p))
	}
	command := domain.ChangeScrubbing{By: c.Principal, Rules: rules}
	receipt, err := c.Do(ctx, command)
	if err != nil {
		return nil, err
	}
	changed, _ := receipt.Stream.State.(domain.Scrubbing)
	return &scrubbingOutput{Position: fmt.Sprint(receipt.Position), Body: s.scrubbingOf(changed)}, nil
}

func (s scrubbings) scrubbingOf(rules domain.Scrubbing) api.Scrubbing {
	shown := api.Scrubbing{Off: rules.Off, Allow: rules.Allow, Active: s.rules != nil && s.rules.Scrubs()}
	for _, p := range rules.Patterns {
		shown.Patterns = append(shown.Patterns, api.ScrubPattern(p))
	}
	return shown
}

// spanInput is a part of the log.
type spanInput struct {
	Since  string `query:"since" example:"2026-03-01" doc:"A time, a date (its beginning, in UTC) or a position of the log. Default: the beginning."`
	Until  string `query:"until" doc:"Likewise. Default: the end."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before."`
}

func (s scrubbings) redactionRoutes() {
	tags := []string{"Access"}
	serve.Handle(s.api, huma.Operation{
		OperationID: "findings", Method: http.MethodGet, Path: "/v1/scrubbing/findings", Tags: tags,
		Summary: "Find what today's rules would have redacted in what is recorded",
		Description: "For admins and auditors. Tells where, and never what. A page looks for some seconds: go on until " +
			"there is no next_cursor.",
		Errors: []int{http.StatusBadRequest, http.StatusConflict},
	}, s.findings)
	serve.Handle(s.api, huma.Operation{
		OperationID: "redact", Method: http.MethodPost, Path: "/v1/scrubbing/redactions", Tags: tags,
		Summary: "Redact what is recorded, by today's rules",
		Description: "For admins. Each text in which something is found is destroyed for good, and what is left of it " +
			"stands beside a new event, text.redacted: items, lists, searches, histories and answers about the past read " +
			"that. Works for some seconds: go on until there is no next_cursor. Redacting again finds nothing.",
		Errors: []int{http.StatusBadRequest, http.StatusConflict},
	}, s.redact)
}

// span is the part of the log that a page looks at, what is found there, and how far the search came.
func (s scrubbings) span(
	ctx context.Context, c *serve.Call, in *spanInput,
) (span api.LogSpan, found []domain.Detection, through int64, err error) {
	since, until := body.AsOf(in.Since).Parse(&c.Found, "since"), body.AsOf(in.Until).Parse(&c.Found, "until")
	question := *in
	question.Cursor = ""
	place, err := serve.PlaceOf(in.Cursor, question)
	if err = serve.Merge(c.Found, err); err != nil {
		return span, nil, 0, err
	}
	if span.From, span.To, err = s.recorded.Span(ctx, c.Principal.Tenant, since, until); err != nil {
		return span, nil, 0, err
	}
	span.From = max(span.From, place)
	found, through, err = s.recorded.Recorded(ctx, c.Principal.Tenant, span.From, span.To)
	return span, found, through, err
}

// reached is the span of a page, up to the position that it reached.
func (in spanInput) reached(span api.LogSpan, through int64) api.LogSpan {
	in.Cursor = ""
	span.Through = min(through, span.To)
	if span.Through < span.To {
		span.NextCursor = serve.Cursor(span.Through+1, in)
	}
	return span
}

func (s scrubbings) findings(ctx context.Context, c *serve.Call, in *spanInput) (*serve.Output[api.Findings], error) {
	if !c.Principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "what could be redacted is for admins and auditors")
	}
	span, found, through, err := s.span(ctx, c, in)
	if err != nil {
		return nil, err
	}
	out := &serve.Output[api.Findings]{}
	out.Body.Items = make([]api.Finding, len(found))
	held := map[string]bool{} // by item
	for i, f := range found {
		id, isItem := domain.ItemOf(f.Stream)
		if _, known := held[id]; isItem && !known {
			k, err := s.items.Find(ctx, c.Principal.Tenant, id)
			if err != nil {
				return nil, err
			}
			held[id] = k.Held
		}
		out.Body.Items[i] = api.Finding{
			ID: id, Stream: f.Stream, Position: f.Position, EventID: f.EventID, Name: f.Name,
			Field: f.Field, Class: f.Class, Count: f.Count, InName: f.InName, Held: held[id],
		}
	}
	out.Body.LogSpan = in.reached(span, through)
	return out, nil
}

const (
	redactingTime   = 5 * time.Second // of a page
	streamsTogether = 50
)

func (s scrubbings) redact(ctx context.Context, c *serve.Call, in *spanInput) (*serve.Output[api.Redactions], error) {
	if !c.Principal.IsTenantAdmin() {
		return nil, domain.Refuse(domain.ErrForbidden, "redacting what is recorded is for admins")
	}
	span, found, through, err := s.span(ctx, c, in)
	if err != nil {
		return nil, err
	}
	var streams []string
	first := map[string]int64{}
	for _, f := range found {
		if _, known := first[f.Stream]; !known && !f.InName {
			first[f.Stream] = f.Position
			streams = append(streams, f.Stream)
		}
	}
	out := &serve.Output[api.Redactions]{}
	out.Body.Items = []api.Redaction{}
	began := s.api.Now()
	for chunk := range slices.Chunk(streams, streamsTogether) {
		if s.api.Now().Sub(began) > redactingTime || through < first[chunk[0]]-1 {
			through = min(through, first[chunk[0]]-1)
			break
		}
		submission := domain.Submission{By: c.Principal, Origin: c.Origin}
		done, err := s.recorded.Redact(ctx, submission, chunk, span.From, span.To)
		if err != nil {
			return nil, err
		}
		for _, r := range done {
			item := api.Redaction{Stream: r.Stream, Events: append([]string{}, r.Events...), Redacted: r.Redacted}
			item.ID, _ = domain.ItemOf(r.Stream)
			if r.Err != nil {
				if !errors.Is(r.Err, domain.ErrConflict) {
					return nil, r.Err
				}
				item.Refused = r.Err.Error()
			}
			out.Body.Items = append(out.Body.Items, item)
			if r.More {
				through = min(through, first[r.Stream]-1)
			}
		}
	}
	out.Body.LogSpan = in.reached(span, through)
	return out, nil
}
