package browse

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// maxKin limits how many relations of an item are followed.
const maxKin = 10_000

// Lineage lists what an item was made from, what was made from it, what superseded it and what it superseded, and so
// on from each of them.
func (b *Browser) Lineage(ctx context.Context, tenant, id string) ([]domain.LineageRelation, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	seen := rows.Set{domain.KnowledgeStream(id): true}
	var all []domain.LineageRelation
	for next := []string{id}; len(next) > 0 && len(all) < maxKin; {
		found, err := p.relatives(ctx, tenant, next)
		if err != nil {
			return nil, rows.Failed(ctx, "follow the lineage", err)
		}
		next = nil
		for _, kin := range found {
			if seen[kin.Stream] {
				continue
			}
			seen[kin.Stream] = true
			all = append(all, kin)
			if kin.ID != "" {
				next = append(next, kin.ID)
			}
		}
	}
	return all, nil
}

// Relatives are the direct relations of some items.
func (b *Browser) Relatives(ctx context.Context, tenant string, ids []string) ([]domain.LineageRelation, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	return p.relatives(ctx, tenant, ids)
}

func (p view) relatives(ctx context.Context, tenant string, ids []string) (found []domain.LineageRelation, err error) {
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.KnowledgeStream(id)
	}
	table, item := p.Tables.Knowledge, domain.KnowledgeStream("")
	for _, step := range []struct {
		relation, query string
		args            []any
	}{
		{domain.Derives, `
			SELECT e.stream, k.id
			FROM ? AS k ` + origins(p.DB.Engine) + `
			WHERE k.tenant = ? AND k.id IN (?)
			ORDER BY e.position`, []any{table, tenant, bun.List(ids)}},
		{domain.DerivedFrom, madeFrom(p.DB.Engine), []any{item, p.IndexHint("derived"), tenant, bun.List(streams)}},
		{domain.Supersedes, `
			SELECT ? || k.superseded_by, k.id
			FROM ? AS k
			WHERE k.tenant = ? AND k.id IN (?) AND k.superseded_by <> ''
			ORDER BY k.number`, []any{item, table, tenant, bun.List(ids)}},
		{domain.SupersededBy, `
			SELECT ? || k.id, k.superseded_by
			FROM ?
			WHERE k.tenant = ? AND k.superseded_by IN (?) AND k.superseded_by <> ''
			ORDER BY k.number`, []any{item, p.IndexHint("replaced"), tenant, bun.List(ids)}},
	} {
		err := eachKin(ctx, p.DB, step.query, step.args, func(kin domain.LineageRelation) {
			kin.Relation = step.relation
			found = append(found, kin)
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// origins joins items k with the events e that they were made from, each by its id.
func origins(engine database.Engine) string {
	if engine == database.Postgres {
		return `CROSS JOIN json_array_elements_text(k.derived_from) AS o (value)
			JOIN events AS e ON e.tenant = k.tenant AND e.event_id = o.value::uuid`
	}
	return `CROSS JOIN json_each(` + rows.JSON("k.derived_from") + `) AS o
			CROSS JOIN events AS e ON e.tenant = k.tenant AND e.event_id = o.value`
}

// madeFrom finds the items that were made from streams.
func madeFrom(engine database.Engine) string {
	made := "k.derived_from <> '[]'"
	if engine == database.Postgres {
		made = "json_array_length(k.derived_from) > 0"
	}
	return `
		SELECT ? || k.id, e.stream
		FROM ? ` + origins(engine) + `
		WHERE k.tenant = ? AND ` + made + ` AND e.stream IN (?)
		ORDER BY k.number, e.position`
}

// Learned lists the items that were made from streams other than items, such as sessions.
func (b *Browser) Learned(
	ctx context.Context, tenant string, streams []string,
) (found []domain.LineageRelation, err error) {
	if len(streams) == 0 {
		return nil, nil
	}
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	seen := rows.Set{}
	err = eachKin(ctx, p.DB, madeFrom(p.DB.Engine),
		[]any{domain.KnowledgeStream(""), p.IndexHint("derived"), tenant, bun.List(streams)},
		func(kin domain.LineageRelation) {
			if !seen[kin.Stream] {
				seen[kin.Stream] = true
				kin.Relation = domain.DerivedFrom
				found = append(found, kin)
			}
		})
	if err != nil {
		return nil, rows.Failed(ctx, "find what was learned", err)
	}
	return found, nil
}

// eachKin reads relations between streams.
func eachKin(ctx context.Context, db *database.DB, query string, args []any, each func(domain.LineageRelation)) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kin domain.LineageRelation
		if err := rows.Scan(&kin.Stream, &kin.Of); err != nil {
			return err
		}
		if id, isItem := domain.ItemOf(kin.Stream); isItem {
			kin.ID = id
		}
		if id, isItem := domain.ItemOf(kin.Of); isItem {
			kin.Of = id
		}
		each(kin)
	}
	return rows.Err()
}
