package rebuild

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/past"
	"github.com/annals-kb/annals/projections/rows"
)

// Checked is the result of a Check.
type Checked struct {
	Version int   `json:"version"` // of knowledge, the active one
	Items   int64 `json:"items"`
	// Wrong lists at most twenty rows that differ from the log, without what people wrote.
	Wrong []string `json:"wrong"`
	// Unchecked names what answers are read from but Check does not compare.
	Unchecked []string `json:"unchecked"`
}

// Check compares the tables that answers are read from with the log, which it folds again. It compares every row of
// the active version of knowledge and the states of other streams. Of the past it compares the number of rows and the
// newest. It reads one snapshot and writes nothing. It calls progress now and then with the number of compared items
// and of all; progress may be nil. The error means that it could not read, or could not fold an event.
func Check(ctx context.Context, p *catalogue.Catalogue, progress func(items, of int64)) (Checked, error) {
	var items, of int64
	e, err := begin(ctx, p, func(more int64) {
		if items += more; progress != nil {
			progress(items, max(items, of))
		}
	})
	if err != nil {
		return Checked{}, err
	}
	defer e.snapshot.End()
	if e.new.Unsupported {
		return Checked{}, fmt.Errorf("version %d of knowledge was made by another program: %w", e.new.Version,
			domain.ErrConflict)
	}
	err = e.tx.NewSelect().TableExpr("? AS k", e.new.Tables.Knowledge).ColumnExpr("count(*)").Scan(ctx, &of)
	if err != nil {
		return Checked{}, rows.Failed(ctx, "count items", err)
	}
	if err := e.run(ctx); err != nil {
		return Checked{}, err
	}
	if err := e.states(ctx); err != nil {
		return Checked{}, err
	}
	unchecked, err := e.past(ctx)
	if err != nil {
		return Checked{}, err
	}
	if !e.new.Tables.HasWords() {
		unchecked = append(unchecked, "the index of words, which has another form")
	}
	return Checked{Version: e.new.Version, Items: e.report.Items, Wrong: e.report.Wrong, Unchecked: unchecked}, nil
}

// past compares the tables of the past with the rows of knowledge, which were compared with the log before. An item
// has a row per revision, and counts for its first event, for each event that is not a revision, and for those of
// [past.CountedNames].
func (e *verification) past(ctx context.Context) (unchecked []string, err error) {
	unchecked = []string{
		"the values that as-of answers had before the newest, their words and pieces",
		"vectors and sketches",
	}
	var checkpoints []struct {
		Tenant   string `bun:"tenant"`
		Position int64  `bun:"position"`
		Head     int64  `bun:"head"`
	}
	var version int // 0 if it was never opened
	err = e.tx.NewRaw("SELECT coalesce(max(version), 0) FROM projections WHERE name = ? AND state = ?",
		catalogue.PastName, catalogue.StateActive).Scan(ctx, &version)
	if err != nil {
		return nil, rows.Failed(ctx, "read the catalogue", err)
	}
	history := fmt.Sprintf("%s_%d", catalogue.PastName, version)
	err = e.tx.NewRaw(`
		SELECT h.tenant, coalesce(c.position, 0) AS position, h.head
		FROM (SELECT tenant, max(position) AS head FROM events GROUP BY tenant) AS h
		LEFT JOIN checkpoints AS c ON c.projection = ? AND c.tenant = h.tenant
		ORDER BY h.tenant`, history).Scan(ctx, &checkpoints)
	if err != nil {
		return nil, rows.Failed(ctx, "read checkpoints", err)
	}
	now, then := e.new.Tables, rows.PastTablesOf(version)
	for _, c := range checkpoints {
		if c.Position < c.Head {
			unchecked = append(unchecked, fmt.Sprintf("tenant %s: what as-of answers have still to read, from position %d on",
				c.Tenant, c.Position+1))
		}
		if c.Position == 0 { // nothing was read, and the table may not exist
			continue
		}
		var ids []string
		err := e.tx.NewRaw(`
			SELECT k.id
			FROM ? AS k
			LEFT JOIN (SELECT number, count(*) AS n, max(since) AS since FROM ? WHERE tenant = ? GROUP BY number) AS i
				ON i.number = k.number
			LEFT JOIN ? AS p ON p.tenant = k.tenant AND p.number = k.number AND p.since = i.since
			LEFT JOIN (SELECT number, count(*) AS n, max(since) AS since FROM ? WHERE tenant = ? GROUP BY number) AS j
				ON j.number = k.number
			LEFT JOIN ? AS c ON c.tenant = k.tenant AND c.number = k.number AND c.since = j.since
			LEFT JOIN (SELECT stream, count(*) AS n FROM events WHERE tenant = ? AND name IN (?) GROUP BY stream) AS e
				ON e.stream = ? || k.id
			WHERE k.tenant = ? AND k.position <= ?
			AND NOT EXISTS (
				SELECT 1 FROM quarantine AS q
				WHERE q.projection = ? AND q.tenant = k.tenant AND q.stream = ? || k.id)
			AND (NOT coalesce(
					i.n = k.revision AND j.n = k.version - k.revision + 1 + coalesce(e.n, 0)
					AND p.until = ? AND p.id = k.id AND p.revision = k.revision AND p.status = k.status AND p.owner = k.owner
					AND p.visibility = k.visibility AND p.type = k.type AND (p.version = k.version OR c.version = k.version)
					AND c.helpful = k.helpful AND c.harmful = k.harmful AND c.reporters = k.stale_reporters, FALSE)
				OR k.status IN ('active', 'superseded') AND EXISTS (
					SELECT 1 FROM ?
					WHERE NOT EXISTS (
						SELECT 1 FROM ? AS o
						WHERE o.tenant = k.tenant AND o.scope = s.value AND o.number = k.number AND o.until = ?))
				OR k.status <> ? AND NOT EXISTS (
					SELECT 1 FROM ? AS w
					WHERE w.tenant = k.tenant AND w.number = k.number AND w.until = ?))
			ORDER BY k.id
			LIMIT ?`,
			now.Knowledge, then.Items, c.Tenant, then.Items, then.Counts, c.Tenant, then.Counts,
			c.Tenant, bun.List(past.CountedNames()), domain.KnowledgeStream(""), c.Tenant, c.Position, history,
			domain.KnowledgeStream(""),
			int64(past.Forever), bun.Safe(rows.EachScope(e.catalogue.DB.Engine, "k.scopes")), then.Scopes,
			int64(past.Forever), string(domain.IsErased), then.Words,
			int64(past.Forever), maxWrong).Scan(ctx, &ids)
		if err != nil {
			return nil, rows.Failed(ctx, "compare the past", err)
		}
		for _, id := range ids {
			e.addWrong("tenant %s, item %s: what as-of answers read is not what the log says; annals replay past computes it "+
				"anew", c.Tenant, id)
		}
	}
	return unchecked, nil
}

// states compares the states of streams other than knowledge.
func (e *verification) states(ctx context.Context) error {
	tenants, err := tenantsWithStreams(ctx, e.tx)
	if err != nil {
		return rows.Failed(ctx, "list tenants", err)
	}
	for _, tenant := range tenants {
		streams, err := events.SnapshotOf(e.tx).CheckStates(ctx, tenant)
		if err != nil {
			return err
		}
		for _, stream := range streams {
			e.addWrong("tenant %s, stream %s: what is kept about it is not what the log says", tenant, stream)
		}
	}
	return nil
}

// tenantsWithStreams are the tenants with a log or with states of streams.
func tenantsWithStreams(ctx context.Context, db bun.IDB) (tenants []string, err error) {
	err = db.NewRaw("SELECT tenant FROM events GROUP BY tenant UNION SELECT tenant FROM streams GROUP BY tenant ORDER "+
		"BY tenant").Scan(ctx, &tenants)
	return tenants, err
}
