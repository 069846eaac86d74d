package browse

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// mostClassified limits the items whose subjects are counted: the newest.
const mostClassified = 1000

// Contributions are what users did for some items, each of which they did in person or others on their behalf.
func (r Reports) Contributions(
	ctx context.Context, tenant string, ids []string,
) (all []domain.Contribution, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	p, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.KnowledgeStream(id)
	}
	confirmed := domain.Confirmed{}.Name()
	names := []string{domain.Remembered{}.Name(), domain.Revised{}.Name(), confirmed}
	var found []struct {
		ID, Who   string
		Wrote     bool
		Confirmed bool
		Thanked   int
		Last      database.Time
	}
	err = p.DB.NewRaw(`
		SELECT d.id, d.who, d.wrote > 0 AS wrote, d.confirmed > 0 AS confirmed, d.last, (
			SELECT count(*)
			FROM ? AS v
			WHERE d.wrote > 0 AND v.tenant = ? AND v.id = d.id AND v.verdict = 'helpful' AND v.voter <> d.who
		) AS thanked
		FROM (
			SELECT substr(e.stream, ?) AS id, coalesce(e.on_behalf_of, e.actor) AS who, max(e.recorded_at) AS last,
				sum(CASE WHEN e.name = ? THEN 0 ELSE 1 END) AS wrote, sum(CASE WHEN e.name = ? THEN 1 ELSE 0 END) AS confirmed
			FROM events AS e
			WHERE e.tenant = ? AND e.stream IN (?) AND e.name IN (?)
			GROUP BY e.stream, coalesce(e.on_behalf_of, e.actor)
		) AS d
		WHERE d.who LIKE ?
		ORDER BY d.id, d.who`, p.Tables.Votes, tenant, len(domain.KnowledgeStream(""))+1, confirmed, confirmed, tenant,
		bun.List(streams), bun.List(names), domain.User+":%").Scan(ctx, &found)
	if err != nil {
		return nil, rows.Failed(ctx, "read who wrote items", err)
	}
	for _, f := range found {
		all = append(all, domain.Contribution{
			Item: f.ID, User: domain.Entity(f.Who), Wrote: f.Wrote, Confirmed: f.Confirmed, Thanked: f.Thanked,
			Last: f.Last.Time,
		})
	}
	return all, nil
}

// Classify tells the subjects of the newest active items that a principal may see and that pass any of the filters:
// their tags, or else their categories, or else their types.
func (r Reports) Classify(
	ctx context.Context, by domain.Principal, filters ...domain.Filter,
) (out domain.Classified, err error) {
	p, err := r.Browser.view(ctx)
	if err != nil {
		return out, err
	}
	numbers := words.Chosen{Bitmap: roaring.New()}
	for _, filter := range filters {
		filter.NoArchives = true
		some, err := p.newest(ctx, by, filter, mostClassified, words.SetsOfGroups)
		if err != nil {
			return out, err
		}
		numbers.Or(some.Bitmap)
	}
	if numbers.IsEmpty() {
		return domain.Classified{Kind: domain.ByTag}, nil
	}
	numbers.Keep(mostClassified)
	in := rows.Table{Engine: p.DB.Engine, Tenant: by.Tenant, Table: p.Tables.Knowledge, Alias: "k"}
	query := rows.LookUp(p.DB.NewSelect().Column("k.id", "k.type", "k.category", "k.tags"), in,
		rows.SingleKeys(numbers.ToArray()), "number")
	var items []domain.Knowledge
	err = rows.ScanEach(ctx, p.DB.DB, p.Visible(query, by), func(row *rows.Row, unreadable error) {
		if unreadable == nil {
			items = append(items, row.Knowledge)
		}
	})
	if err != nil {
		return out, rows.Failed(ctx, "read the subjects of items", err)
	}
	for _, kind := range []domain.SubjectsKind{domain.ByTag, domain.ByCategory, domain.ByType} {
		if out = classified(items, kind); len(out.Items) > 0 {
			break
		}
	}
	return out, nil
}

// classified are the items that have subjects of a kind.
func classified(items []domain.Knowledge, kind domain.SubjectsKind) domain.Classified {
	out := domain.Classified{Kind: kind, Items: map[string][]string{}}
	for i := range items {
		k, subjects := &items[i], []string(nil)
		switch {
		case kind == domain.ByTag:
			subjects = k.Text.Tags.Pairs(":")
		case kind == domain.ByCategory && k.Category != "":
			subjects = []string{string(k.Category)}
		case kind == domain.ByType:
			subjects = []string{string(k.Type)}
		}
		if len(subjects) > 0 {
			out.Items[k.ID] = subjects
		}
	}
	return out
}
