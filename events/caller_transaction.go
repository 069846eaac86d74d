package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// AppendIn decides a command that is not about knowledge, and records the result in the caller's transaction. Both
// are committed together, or neither is.
//
// It takes the tenant's lock, as an append does, and holds it until the transaction ends. Call it last in a long
// transaction. A transaction that takes other locks that appends wait for must first call [Log.LockTenant]. Followers
// find the event at their next poll.
func (l *Log) AppendIn(ctx context.Context, tx bun.IDB, s domain.Submission) (domain.Receipt, error) {
	if err := check(s); err != nil {
		return domain.Receipt{}, err
	}
	if _, isItem := domain.ItemOf(s.Command.Stream()); isItem || s.Request != nil {
		return domain.Receipt{}, errors.New(
			"append in a transaction: only what is not about knowledge, and cannot come again",
		)
	}
	c := &command{Submission: s}
	b := &batch{log: l, inline: noItems{}, tenant: s.By.Tenant, commands: []*command{c}}
	if err := b.write(ctx, tx); err != nil {
		return domain.Receipt{}, fmt.Errorf("record %s: %w", s.Command.Stream(), err)
	}
	return c.result.Receipt, c.result.Err
}

// noItems is an inline projection without items.
type noItems struct{}

func (noItems) Load(
	ctx context.Context, tx bun.IDB, _ string, _ []domain.Command, first database.Batch,
) (Stage, error) {
	return emptyStage{tx}, first.Run(ctx, tx)
}

type emptyStage struct{ tx bun.IDB }

func (emptyStage) Knowledge(id string) *domain.Knowledge            { return &domain.Knowledge{ID: id} }
func (emptyStage) Holder(string) string                             { return "" }
func (emptyStage) ItemsSaying(domain.Text, []domain.Scope) []string { return nil }
func (emptyStage) Apply(domain.Event) error                         { return nil }
func (emptyStage) Complete() error                                  { return nil }

func (s emptyStage) Save(ctx context.Context, inserts *database.Script) error {
	return inserts.Run(ctx, s.tx)
}
