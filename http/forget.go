package http

import (
	"context"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

type forgetInput struct {
	ID     string `path:"id" doc:"The item's id."`
	Reason string `query:"reason" maxLength:"2000" doc:"Why; also in the body as {\"reason\"}."`

	Erase       boolean `query:"erase" doc:"Destroy what people wrote about it, for good."`
	ReasonCode  string  `query:"reason_code" doc:"With erase: a word, requested if left out. This and the following stay in the log for ever."`
	LegalBasis  string  `query:"legal_basis" maxLength:"200" doc:"With erase, such as Art. 17(1)(b) GDPR."`
	RequestedBy string  `query:"requested_by" maxLength:"200" doc:"With erase: a pseudonym."`
	Ticket      string  `query:"ticket" doc:"With erase."`
}

func (s *Server) forget(ctx context.Context, c *call, in *forgetInput) (*receipt, error) {
	given, body, err := readAny[api.Reason](s, c)
	if err != nil {
		return nil, err
	}
	if erase := in.Erase.read(&c.found, "erase"); erase != nil && *erase {
		if in.Reason != "" || given.Reason != "" {
			c.found.Add("reason", "is for forgetting; erasing takes a reason_code, which stays for ever")
		}
		return s.erase(ctx, c, in)
	}
	if in.Reason != "" && given.Reason != "" {
		c.found.Add("reason", "is given twice")
	}
	in.onlyForgetting(&c.found)
	done, err := s.change(ctx, c, in.ID, body, func(t domain.Target) (domain.Command, error) {
		command := domain.Delete{Target: t, Reason: in.Reason + given.Reason}
		return command, command.Validate()
	})
	if err != nil {
		return nil, err
	}
	return receiptOf(done), nil
}

// onlyForgetting notes the fields of an erasure in a request without erase=true, whose caller would expect an
// erasure.
func (in *forgetInput) onlyForgetting(found *domain.Problems) {
	for _, ground := range []struct{ name, given string }{
		{"reason_code", in.ReasonCode},
		{"legal_basis", in.LegalBasis},
		{"requested_by", in.RequestedBy},
		{"ticket", in.Ticket},
	} {
		if ground.given != "" {
			found.Add(ground.name, "is for erase=true; forgetting takes a reason")
		}
	}
}
