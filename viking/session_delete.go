package viking

import (
	"context"
	"errors"

	"github.com/annals-kb/annals/domain"
)

type deleted struct {
	ID     string `json:"session_id"`
	Erased bool   `json:"erased,omitempty"` // just now
}

// deleteSession answers for sessions that do not exist as for those that do. The items by which archives are
// found go the way of their session.
func (s sessions) deleteSession(ctx context.Context, q *query) (any, error) {
	erase := q.boolParam("erase")
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	target := q.session()
	out := deleted{ID: target.ID}
	var err error
	if erase {
		out.Erased, err = s.eraseSession(ctx, q, target)
	} else {
		err = s.softDelete(ctx, q, target)
	}
	if errors.Is(err, domain.ErrNotFound) {
		err = nil
	}
	return out, err
}

// softDelete deletes a session, and the archives that it has since it was deleted last.
func (s sessions) softDelete(ctx context.Context, q *query, target domain.SessionTarget) error {
	receipt, err := s.submit(ctx, q, domain.DeleteSession{SessionTarget: target, Reason: q.param("reason")})
	if err != nil {
		return err
	}
	session, _ := receipt.Stream.State.(domain.Session)
	return domain.SubmitArchives(
		ctx, s.cfg.Writer.SubmitAll, q.caller.Principal, q.caller.origin, session.DeleteArchives(target),
	)
}

// eraseSession erases at once what an order to erase the session would, or nothing: if one of the archives may
// not be erased, the session is not, either. It goes last, so that a legal hold that comes meanwhile keeps what is
// there by then. It tells whether the session was erased just now.
func (s sessions) eraseSession(ctx context.Context, q *query, target domain.SessionTarget) (bool, error) {
	command, err := domain.EraseSession{SessionTarget: target, ErasureReason: domain.ErasureReason{
		ReasonCode: q.param("reason_code"), LegalBasis: q.param("legal_basis"),
		RequestedBy: q.param("requested_by"), Ticket: q.param("ticket"),
	}}.Complete()
	if err != nil {
		return false, err
	}
	if _, err := (domain.OrderErasure{By: target.By, Of: target.Stream()}).Complete(); err != nil {
		return false, err
	}
	doomed, err := s.cfg.Eraser.Doomed(ctx, target.By.Tenant, target.Stream(), domain.LineageIgnored)
	if err != nil {
		return false, err
	}
	for _, d := range doomed {
		if d.ID != "" {
			command.Archives = append(command.Archives, d.ID)
		}
	}
	archives := make([]domain.Command, len(command.Archives))
	for i, id := range command.Archives {
		archives[i] = domain.Erase{
			Target: domain.Target{By: target.By, ID: id}, ErasureReason: command.ErasureReason, Together: command.Archives,
		}
	}
	if err := domain.SubmitArchives(
		ctx, s.cfg.Writer.SubmitAll, q.caller.Principal, q.caller.origin, archives,
	); err != nil {
		return false, err
	}
	receipt, err := s.submit(ctx, q, command)
	return len(receipt.Events) > 0, err
}
