package projections

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// refold folds items anew, from their beginning to the end of a page, of which the page says that texts of
// their past were redacted: by other words they could have been found then.
func (p *Past) refold(ctx context.Context, page events.Page, way *pageChange) (retold set, err error) {
	retold = set{}
	var streams []string
	for _, event := range page.Events {
		_, isItem := domain.ItemOf(event.Stream)
		if _, redacted := event.Fact.(domain.Redacted); redacted && isItem {
			retold.add(&streams, event.Stream)
		}
	}
	if len(streams) == 0 {
		return retold, nil
	}
	history, err := events.StreamsWithin(ctx, p.knowledge.db, page.Tenant, streams)
	if err != nil {
		return nil, p.knowledge.failed(ctx, "read streams", err)
	}
	var f *pastItem
	for _, event := range history {
		if event.Position > page.Last().Position {
			continue
		}
		if event.Version == 1 {
			id, _ := domain.ItemOf(event.Stream)
			f = &pastItem{Knowledge: &domain.Knowledge{ID: id}, hasText: true, scopes: map[string]validity{}}
			way.refolded = append(way.refolded, event.Position)
		}
		if err := way.fold(f, event); err != nil {
			return nil, err
		}
	}
	return retold, nil
}

// clear takes away what the tables say of the items that are told anew.
func (p *pageChange) clear(s *script, tx bun.IDB, t pastTables) {
	if len(p.refolded) == 0 {
		return
	}
	var scopes []string // an index leads there
	for _, row := range p.scopes {
		if scope, number := row[1].(string), row[2].(int64); slices.Contains(p.refolded, number) && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	for _, table := range []bun.Ident{t.items, t.counts, t.words, t.pieces} {
		s.add(tx.NewDelete().TableExpr("?", table).Where("tenant = ?", p.tenant).Where("number IN (?)", bun.List(p.refolded)))
	}
	s.add(tx.NewDelete().TableExpr("?", t.scopes).Where("tenant = ?", p.tenant).
		Where("scope IN (?)", bun.List(scopes)).Where("number IN (?)", bun.List(p.refolded)))
}
