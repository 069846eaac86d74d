package browse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

const week = 7 * 24 * time.Hour

// Weeks counts what happened in a scope in some weeks of seven days, the last of which ends at q.To. It counts items
// that reach the scope now.
func (r Reports) Weeks(ctx context.Context, q domain.ReportQuery, weeks int) ([]domain.Week, error) {
	p, err := r.Browser.view(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]domain.Week, weeks)
	which, begin := "CASE", []any{}
	for i := weeks - 1; i >= 0; i-- {
		out[i].Since = q.To.Add(-week * time.Duration(weeks-i))
		which, begin = which+fmt.Sprintf(" WHEN h.at >= ? THEN %d", i), append(begin, database.At(out[i].Since))
	}
	from, to, err := events.Since(ctx, p.DB, q.Tenant, out[0].Since)
	if err != nil {
		return nil, err
	}
	item, first, end := domain.KnowledgeStream(""), database.At(out[0].Since), database.At(q.To)
	learnt, confirmed := domain.Remembered{}.Name(), domain.Confirmed{}.Name()
	names := []string{learnt, confirmed, domain.FoundHarmful{}.Name(), domain.ReportedStale{}.Name()}
	chosen, choice := p.isChosen(about(q))
	var found []struct{ Week, What, Items int }
	err = p.DB.NewRaw(`
		SELECT `+which+` END AS week, h.what, count(DISTINCT h.id) AS items
		FROM (
			SELECT e.recorded_at AS at, substr(e.stream, ?) AS id, CASE e.name WHEN ? THEN 0 WHEN ? THEN 1 ELSE 2 END AS what
			FROM events AS e
			WHERE e.tenant = ? AND e.position BETWEEN ? AND ? AND e.recorded_at < ? AND e.name IN (?)
			UNION ALL
			SELECT d.at, d.item, 2
			FROM proposals AS d
			WHERE d.tenant = ? AND d.kind = ? AND d.at >= ? AND d.at < ?
		) AS h
		WHERE (
			SELECT (`+chosen+`) AND k.`+rows.Live+`
			FROM ? AS k
			WHERE k.tenant = ? AND k.id = h.id
		)
		GROUP BY 1, 2
		ORDER BY 1, 2`, slices.Concat(begin, []any{
		len(item) + 1, learnt, confirmed, q.Tenant, from, to, end, bun.List(names),
		q.Tenant, domain.Contradiction, first, end,
	}, choice, []any{p.Tables.Knowledge, q.Tenant})...).Scan(ctx, &found)
	if err != nil {
		return nil, rows.Failed(ctx, "count the weeks of a scope", err)
	}
	for _, f := range found {
		w := &out[f.Week]
		*[]*int{&w.Learnt, &w.Confirmed, &w.Wrong}[f.What] = f.Items
	}
	return out, nil
}
