package http

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

func (s *Server) revise(ctx context.Context, c *serve.Call, in *serve.ItemInput) (*serve.Reply, error) {
	change, err := serve.ReadBody[serve.Patch](c, serve.PatchType)
	if err != nil {
		return nil, err
	}
	const tries = 100 // each conflict means that another change succeeded
	for try := 1; ; try++ {
		var merged bool
		receipt, err := c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
			merged = t.Revisions == nil && change.Merges()
			return s.revision(ctx, c, t, change)
		})
		// Another change came between the merge and the write. The caller asked for no revision, so it tries again.
		if merged && errors.Is(err, domain.ErrPrecondition) && try < tries {
			continue
		}
		return serve.Replied(receipt, err)
	}
}

// never is a revision that no item has.
const never = math.MaxInt64

// revision is the command of a patch. It merges tags and meta with those of the item; then the command is for that
// revision only.
func (s *Server) revision(
	ctx context.Context, c *serve.Call, t domain.Target, change serve.Patch,
) (domain.Command, error) {
	var found domain.Problems
	command := change.Command(t, &found)
	if change.Merges() {
		k, err := s.items.Existing(ctx, c, t.ID)
		switch {
		case err != nil && (c.Key == "" || !errors.Is(err, domain.ErrDeleted)):
			return nil, err
		case err != nil: // the log refuses it too, or repeats its earlier answer
			k = &domain.Knowledge{Revision: never}
		}
		if t.Revisions == nil || slices.Contains(t.Revisions, k.Revision) {
			command.Revisions = []int64{k.Revision}
		}
		change.Merge(&command, k, &found)
	}
	return command, serve.Merge(found, command.Validate())
}

type forgetInput struct {
	ID     string `path:"id" doc:"The item's id."`
	Reason string `query:"reason" maxLength:"2000" doc:"Why; also in the body as {\"reason\"}."`

	Erase       serve.Boolean `query:"erase" doc:"Destroy what people wrote about it, for good."`
	ReasonCode  string        `query:"reason_code" doc:"With erase: a word, requested if left out. This and the following stay in the log for ever."`
	LegalBasis  string        `query:"legal_basis" maxLength:"200" doc:"With erase, such as Art. 17(1)(b) GDPR."`
	RequestedBy string        `query:"requested_by" maxLength:"200" doc:"With erase: a pseudonym."`
	Ticket      string        `query:"ticket" doc:"With erase."`
}

func (s *Server) forget(ctx context.Context, c *serve.Call, in *forgetInput) (*serve.Receipt, error) {
	reason, err := serve.ReadAny[api.Reason](c)
	if err != nil {
		return nil, err
	}
	erase := serve.Value(in.Erase.Read(&c.Found, "erase"))
	switch {
	case erase && in.Reason+reason.Reason != "":
		c.Found.Add("reason", "is for forgetting; erasing takes a reason_code, which stays for ever")
	case !erase && in.Reason != "" && reason.Reason != "":
		c.Found.Add("reason", "is given twice")
	}
	if !erase {
		in.onlyForgetting(&c.Found)
	}
	done, err := c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
		if erase {
			return domain.Erase{Target: t, ErasureReason: domain.ErasureReason{
				ReasonCode: in.ReasonCode, LegalBasis: in.LegalBasis, RequestedBy: in.RequestedBy, Ticket: in.Ticket,
			}}.Complete()
		}
		command := domain.Delete{Target: t, Reason: in.Reason + reason.Reason}
		return command, command.Validate()
	})
	if err != nil {
		return nil, err
	}
	return serve.ReceiptOf(done), nil
}

// onlyForgetting notes the fields of an erasure in a request without erase=true, whose caller would expect an
// erasure.
func (in *forgetInput) onlyForgetting(found *domain.Problems) {
	for _, ground := range []struct{ name, value string }{
		{"reason_code", in.ReasonCode},
		{"legal_basis", in.LegalBasis},
		{"requested_by", in.RequestedBy},
		{"ticket", in.Ticket},
	} {
		if ground.value != "" {
			found.Add(ground.name, "is for erase=true; forgetting takes a reason")
		}
	}
}
