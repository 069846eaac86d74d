package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

func relationsOf(relations []domain.Relation) []api.Related {
	var list []api.Related
	for _, r := range relations {
		list = append(list, api.Related{To: r.To, Reason: r.Reason, At: known(r.At)})
	}
	return list
}

type unlinkInput struct {
	ID string `path:"id" doc:"The item's id."`
	To string `path:"to" doc:"The other item's id."`
}

func (s *Server) relationRoutes() {
	const tag = "Knowledge"
	handle(s, huma.Operation{
		OperationID: "link", Method: http.MethodPost, Path: one + "/relations", Tags: []string{tag},
		Summary:     "Say that an item has to do with others",
		Description: "Relations go with what they lead to, wherever that moves. The same again is unchanged; another reason replaces the one before.",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.Link{}}), Errors: changeErrors,
	}, s.link)
	handle(s, huma.Operation{
		OperationID: "unlink", Method: http.MethodDelete, Path: one + "/relations/{to}", Tags: []string{tag},
		Summary: "Take a relation back", Errors: changeErrors,
	}, s.unlink)
}

func (s *Server) link(ctx context.Context, c *call, in *itemInput) (*reply, error) {
	given, body, err := read[api.Link](s, c)
	if err != nil {
		return nil, err
	}
	return replied(s.change(ctx, c, in.ID, body, func(t domain.Target) (domain.Command, error) {
		command := domain.Link{Target: t, To: given.To, Reason: given.Reason}
		return command, command.Validate()
	}))
}

func (s *Server) unlink(ctx context.Context, c *call, in *unlinkInput) (*reply, error) {
	return replied(s.change(ctx, c, in.ID, nil, func(t domain.Target) (domain.Command, error) {
		command := domain.Unlink{Target: t, To: in.To}
		return command, command.Validate()
	}))
}
