package proof

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// tenantTable matches the tables in which every row belongs to a tenant with a log.
var tenantTable = regexp.MustCompile(
	`^(streams|erasures|destroyed_texts|directories|key_uses|item_uses|(knowledge|meaning|past|vectors)_\d+(_[a-z]+)?)$`)

// tenantQueries are the queries for the tenants that other tables name.
var tenantQueries = map[string]string{
	"checkpoints": "SELECT DISTINCT tenant FROM checkpoints", // whose key does not begin with the tenant
	"requests":    tenantsIn("(SELECT tenant FROM requests WHERE position > 0) AS recorded"),
}

// missingTenant are the tenants without a log, with the tables that name them. logged are the tenants with a log,
// sorted.
func (l *databaseVerifier) missingTenants(ctx context.Context, logged []string) (map[string][]string, error) {
	listed, err := l.tables(ctx)
	if err != nil {
		return nil, err
	}
	naming := map[string][]string{}
	for _, table := range listed {
		question, known := tenantQueries[table]
		if tenantTable.MatchString(table) {
			question, known = tenantsIn(table), true
		}
		if !known {
			continue
		}
		named, dropped, err := l.ask(ctx, question)
		if err != nil {
			return nil, err
		}
		if dropped {
			continue
		}
		l.readable = append(l.readable, table)
		for _, tenant := range named {
			if _, has := slices.BinarySearch(logged, tenant); !has {
				naming[tenant] = append(naming[tenant], table)
			}
		}
	}
	return naming, nil
}

// ask queries a table, which then cannot be dropped until the transaction ends. On PostgreSQL, the table of a retired
// version may have been dropped after the catalogue was read.
func (l *databaseVerifier) ask(ctx context.Context, question string) (named []string, dropped bool, err error) {
	tx, err := l.tx.BeginTx(ctx, nil) // a savepoint
	if err != nil {
		return nil, false, err
	}
	if named, err = namesIn(ctx, tx, question); errors.Is(database.Classify(ctx, err), database.ErrTableMissing) {
		return nil, true, tx.Rollback()
	}
	if err != nil {
		return nil, false, err
	}
	return named, false, tx.Commit()
}

// positionQuery is the last position that other tables name, and those tables; zero if the log reaches it.
type positionQuery struct {
	position int64
	tables   []string
}

// positionTables are the tables with positions, whose last one an index finds.
var positionTables = []struct {
	names    *regexp.Regexp
	question string
}{
	{regexp.MustCompile(`^checkpoints$`), "SELECT coalesce(max(position), 0) FROM checkpoints WHERE tenant = ?"},
	{regexp.MustCompile(`^(knowledge|past)_\d+$`), "SELECT coalesce(max(number), 0) FROM TABLE_ WHERE tenant = ?"},
	// of each item's first event
}

// lastPositions finds the positions after the end of a tenant's log that other tables name.
func (l *databaseVerifier) lastPositions(ctx context.Context, tenant string, end int64) (found positionQuery,
	err error,
) {
	for _, table := range l.readable {
		for _, known := range positionTables {
			if !known.names.MatchString(table) {
				continue
			}
			var position int64
			err := database.ForEach(ctx, l.tx, func(rows *sql.Rows) error { return rows.Scan(&position) },
				strings.ReplaceAll(known.question, "TABLE_", table), tenant)
			if err != nil {
				return found, err
			}
			if position > end {
				found.position = max(found.position, position)
				found.tables = append(found.tables, table)
			}
		}
	}
	return found, nil
}

// lost are the missing parts of a tenant's tree and checkpoints.
func (l *databaseVerifier) lost(ctx context.Context, tenant string) ([]Fault, error) {
	if !slices.Contains(l.readable, "checkpoints") {
		return nil, nil
	}
	x, err := tree{db: l.tx, tenant: tenant}.extent(ctx)
	return x.lost(), err
}

// tables are the readable tables of the database.
func (l *databaseVerifier) tables(ctx context.Context) ([]string, error) {
	if l.db.Engine == database.SQLite {
		return namesIn(ctx, l.tx, `
			SELECT name
			FROM sqlite_schema
			WHERE type = 'table'
			ORDER BY name`)
	}
	return namesIn(ctx, l.tx, `
		SELECT relname::text
		FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND has_table_privilege(oid, 'SELECT')
		ORDER BY relname COLLATE "C"`)
}

// tenantsIn is the query for the tenants of a table whose key begins with the tenant.
func tenantsIn(table string) string {
	return strings.ReplaceAll(`
		WITH RECURSIVE tenants (tenant) AS (
			SELECT (SELECT tenant FROM TABLE_ ORDER BY tenant LIMIT 1)
			UNION ALL
			SELECT (SELECT tenant FROM TABLE_ WHERE tenant > t.tenant ORDER BY tenant LIMIT 1)
			FROM tenants AS t
			WHERE t.tenant IS NOT NULL
		)
		SELECT tenant FROM tenants WHERE tenant IS NOT NULL`, "TABLE_", table)
}

// namesIn is the result of a query for names.
func namesIn(ctx context.Context, db database.Querier, query string, args ...any) (names []string, err error) {
	err = database.ForEach(ctx, db, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, query, args...)
	return names, err
}

// recordedDigest is the digest of an item's file in the text of its first event; empty if there is none.
func recordedDigest(text []byte) string {
	var event struct {
		Meta struct {
			Bytes struct {
				SHA256 string `json:"sha256"`
			} `json:"bytes"`
		} `json:"meta"`
	}
	if json.Unmarshal(text, &event) != nil {
		return ""
	}
	return event.Meta.Bytes.SHA256
}

// files compares the stored files with their digests in the log.
func (l *databaseVerifier) files(ctx context.Context, report *Report) error {
	tx, err := beginSnapshot(ctx, l.db.DB, l.db.Engine)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was only read
	rows, err := tx.QueryContext(ctx, `
		SELECT f.tenant, f.id, f.bytes, e.position, t.text
		FROM files AS f
		JOIN events AS e ON e.tenant = f.tenant AND e.stream = ? || f.id AND e.version = 1
		JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		WHERE NOT f.waits
		ORDER BY f.tenant, f.id`, domain.KnowledgeStream(""))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // its error is read below
	for rows.Next() {
		var tenant, id string
		var position int64
		var bytes, text sql.RawBytes
		if err := rows.Scan(&tenant, &id, &bytes, &position, &text); err != nil {
			return err
		}
		sum := sha256.Sum256(bytes)
		if digest := recordedDigest(text); digest != "" && !strings.EqualFold(digest, hex.EncodeToString(sum[:])) {
			report.fault(tenant, position, File, "the bytes of %s are not those that were recorded", id)
		}
	}
	return rows.Err()
}
