package operate

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// approvalRoutes registers the decisions on what is proposed.
func approvalRoutes(a *serve.API, tags []string) {
	serve.ChangeRoute(a, false, huma.Operation{
		OperationID: "accept", Method: http.MethodPost, Path: serve.ItemPath + "/accept", Tags: tags,
		Summary: "Accept a proposed item, with or without changes",
		Description: "Its readers see it from now on, and it counts as confirmed. For admins, and for the maintainers of " +
			"the groups whose policies ask for approval; in person, and not as an agent. Of several decisions, the first " +
			"one counts: 409.",
	}, func(_ *serve.Call, t domain.Target, in api.Acceptance) serve.Validated {
		return domain.Accept{Target: t, Reason: in.Reason, Changes: domain.Revised{
			Task: in.Task, Content: in.Content, Abstract: in.Abstract,
		}}
	})
	serve.ChangeRoute(a, true, huma.Operation{
		OperationID: "decline", Method: http.MethodPost, Path: serve.ItemPath + "/decline", Tags: tags,
		Summary: "Decline a proposed item, and say why",
		Description: "It is forgotten, and its history says why. Restored, it waits for approval again. For those who may " +
			"accept it.",
	}, func(_ *serve.Call, t domain.Target, in api.Reason) serve.Validated {
		return domain.Decline{Target: t, Reason: in.Reason}
	})
}
