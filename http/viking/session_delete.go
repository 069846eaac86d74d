package viking

import (
	"context"
	"errors"

	"github.com/annals-kb/annals/domain"
)

type deleted struct {
	ID     string `json:"session_id"`
	Erased bool   `json:"erased,omitempty"` // by this request
}

// deleteSession deletes a session and the items of its archives. A session that does not exist gets the same answer.
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

// softDelete deletes a session and the archives since its last deletion.
func (s sessions) softDelete(ctx context.Context, q *query, target domain.SessionTarget) error {
	receipt, err := s.editor.submit(ctx, q, domain.DeleteSession{SessionTarget: target, Reason: q.param("reason")})
	if err != nil {
		return err
	}
	session, _ := receipt.Stream.State.(domain.Session)
	return domain.SubmitArchives(
		ctx, s.editor.writer.SubmitAll, q.caller.Principal, q.caller.origin, session.DeleteArchives(target),
	)
}

// eraseSession erases a session and its archives, or nothing: if an archive may not be erased, the session stays. The
// session is erased last, so that a new legal hold keeps what still exists. It returns whether this request erased
// the session.
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
	doomed, err := s.eraser.Doomed(ctx, target.By.Tenant, target.Stream(), domain.LineageIgnored)
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
		ctx, s.editor.writer.SubmitAll, q.caller.Principal, q.caller.origin, archives,
	); err != nil {
		return false, err
	}
	receipt, err := s.editor.submit(ctx, q, command)
	return len(receipt.Events) > 0, err
}
