package review

import (
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Keep implements [catalogue.KeepFunc] for the table proposals, which has a row per item of each proposal.
func Keep(tx bun.IDB, tenant string, events []domain.Event, script *rows.Script) {
	var made [][]any
	var closed []string
	for _, event := range events {
		id := domain.ProposalStreams.ID(event.Stream)
		switch f := event.Fact.(type) {
		case domain.ReviewProposed:
			for _, item := range f.Items {
				made = append(made, []any{tenant, id, item, string(f.Kind), f.Score, database.At(event.RecordedAt), true})
			}
		case domain.ReviewClosed:
			closed = append(closed, id)
		}
	}
	script.InsertRows("proposals", []string{"tenant", "proposal", "item", "kind", "score", "at", "is_open"}, made,
		"ON CONFLICT (tenant, proposal, item) DO UPDATE SET is_open = excluded.is_open")
	if len(closed) > 0 {
		script.AddQuery(tx.NewUpdate().TableExpr("proposals").Set("is_open = ?", false).
			Where("tenant = ?", tenant).Where("proposal IN (?)", bun.List(closed)))
	}
}
