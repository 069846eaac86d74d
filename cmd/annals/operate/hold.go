package operate

import (
	"context"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
)

type legalHold struct {
	knowledge.Changing

	ReasonCode string `required:"" placeholder:"WORD"`
	Ticket     string `placeholder:"WORD"`
}

func (l legalHold) do(ctx context.Context, c *terminal.Console, what, done string) error {
	return l.Change(ctx, c, client.Post(map[string]string{"reason_code": l.ReasonCode, "ticket": l.Ticket}, what), done)
}

type HoldCommand struct{ legalHold }

func (h *HoldCommand) Run(ctx context.Context, c *terminal.Console) error {
	return h.do(ctx, c, "hold", "held")
}

type ReleaseCommand struct{ legalHold }

func (r *ReleaseCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.do(ctx, c, "release", "released")
}
