package viking

import (
	"context"

	"github.com/annals-kb/annals/domain"
)

// Eraser carries out what is ordered to be erased.
type Eraser interface {
	// Begin lets it be carried out at once. It never waits.
	Begin()
	// Doomed lists what an order would erase.
	Doomed(ctx context.Context, tenant, of string, lineage domain.Following) ([]domain.Doomed, error)
}

// removeAccount lets nobody into an account any more, and orders that everything that was written in it is
// erased. That happens in the background; the account is listed until it is done.
func (s *Server) removeAccount(ctx context.Context, q *query) (any, error) {
	by, err := s.within(ctx, q, root)
	if err != nil {
		return nil, err
	}
	if by.Tenant == domain.DefaultTenant {
		return nil, domain.Refuse(domain.ErrPrecondition, "the account %s is always there", by.Tenant).WithFix("erase what is in it")
	}
	order, err := domain.OrderErasure{By: by, ID: newID(), Of: domain.TenantStream(by.Tenant)}.Complete()
	if err != nil {
		return nil, err
	}
	if _, err := s.cfg.Writer.Submit(ctx, q.administered(by, order)); err != nil {
		return nil, err
	}
	s.cfg.Eraser.Begin()
	users, err := s.usersOf(ctx, by.Tenant)
	for _, u := range users {
		if err == nil {
			err = s.every(ctx, q, by, u, func(prefix string) domain.Command {
				return domain.RevokeKey{By: by, Prefix: prefix, Reason: "the account was removed"}
			})
		}
	}
	return removed(), err
}
