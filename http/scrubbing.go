package http

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

// Scrubbing tells by which rules what people write is scrubbed.
type Scrubbing interface {
	// Scrubs tells whether anything is scrubbed here at all.
	Scrubs() bool
	// Rules are what a tenant changed about that.
	Rules(ctx context.Context, tenant string) (domain.Scrubbing, error)
}

type scrubbingOutput struct {
	Position string `header:"Annals-Position" doc:"Where the log is now."`
	Body     api.Scrubbing
}

func (s *Server) scrubbingRoutes() {
	tags := []string{"Access"}
	const path = "/v1/scrubbing"
	handle(s, huma.Operation{
		OperationID: "scrubbing", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "Read what is redacted in what people write", Description: "For admins and auditors.",
	}, s.scrubbing)
	handle(s, huma.Operation{
		OperationID: "change-scrubbing", Method: http.MethodPut, Path: path, Tags: tags,
		Summary: "Change what is redacted in what people write",
		Description: "For admins. All rules are replaced, from now on: what is recorded already stays as it is until it is redacted. " +
			"Every server follows within a second.",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.Scrubbing{}}),
		Errors:      []int{http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	}, s.changeScrubbing)
}

func (s *Server) scrubbing(ctx context.Context, c *call, _ *struct{}) (*scrubbingOutput, error) {
	if !c.principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "rules for scrubbing are for admins and auditors")
	}
	if err := c.found.Err(); err != nil || s.cfg.Scrubbing == nil {
		return &scrubbingOutput{}, err
	}
	rules, err := s.cfg.Scrubbing.Rules(ctx, c.principal.Tenant)
	if err != nil {
		return nil, err
	}
	return &scrubbingOutput{Body: s.scrubbingOf(rules)}, nil
}

func (s *Server) changeScrubbing(ctx context.Context, c *call, _ *struct{}) (*scrubbingOutput, error) {
	given, body, err := read[api.Scrubbing](s, c)
	if err != nil {
		return nil, err
	}
	rules := domain.Scrubbing{Off: given.Off}
	for _, p := range given.Patterns {
		rules.Patterns = append(rules.Patterns, domain.ScrubPattern(p))
	}
	command := domain.ChangeScrubbing{By: c.principal, Rules: rules}
	if err := merge(c.found, command.Validate()); err != nil {
		return nil, err
	}
	receipt, err := s.cfg.Writer.Submit(ctx, c.submission(command, body))
	if err != nil {
		return nil, err
	}
	changed, _ := receipt.Stream.State.(domain.Scrubbing)
	return &scrubbingOutput{Position: fmt.Sprint(receipt.Position), Body: s.scrubbingOf(changed)}, nil
}

func (s *Server) scrubbingOf(rules domain.Scrubbing) api.Scrubbing {
	shown := api.Scrubbing{Off: rules.Off, Active: s.cfg.Scrubbing != nil && s.cfg.Scrubbing.Scrubs()}
	for _, p := range rules.Patterns {
		shown.Patterns = append(shown.Patterns, api.ScrubPattern(p))
	}
	return shown
}
