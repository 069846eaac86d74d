package browse

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Directories keeps what a model said of directories, and which of them changed since: the table that its summaries
// wait in. What is said goes with the text that it was made of; see package knowledge. It is safe for concurrent
// use.
type Directories struct{ db *database.DB }

// NewDirectories keeps them in a migrated database.
func NewDirectories(db *database.DB) Directories { return Directories{db} }

// Mark notes that something in these directories of a tenant changed.
func (d Directories) Mark(ctx context.Context, tx bun.IDB, tenant string, uris []domain.URI, at time.Time) error {
	if len(uris) == 0 {
		return nil
	}
	slices.Sort(uris) // so that transactions do not wait for each other
	list := make([][]any, 0, len(uris))
	for _, uri := range slices.Compact(uris) {
		list = append(list, []any{tenant, string(uri), at.UnixMicro(), at.UnixMicro()})
	}
	script := &rows.Script{Engine: d.db.Engine}
	script.InsertRows("directories", []string{"tenant", "uri", "changed_at", "since"}, list, `
		ON CONFLICT (tenant, uri) DO UPDATE
		SET changed_at = excluded.changed_at, since = coalesce(directories.since, excluded.since), attempts = 0, due_at = 0`)
	if err := script.Execute(ctx, tx); err != nil {
		return fmt.Errorf("note what directories changed: %w", err)
	}
	return nil
}

// Next is a directory that is due: in which nothing has changed since quiet, or something since overdue. The
// deepest comes first, since what is said of a directory is made of what is said of those in it. False if none is.
func (d Directories) Next(ctx context.Context, now, quiet, overdue time.Time) (domain.DirectoryTask, bool, error) {
	var t domain.DirectoryTask
	found := false
	err := database.ForEach(database.ForEveryTenant(ctx), d.db, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&t.Tenant, &t.URI, &t.Generation, &t.ChangedAt, &t.Attempts, &t.MadeOf)
	}, `
		SELECT tenant, uri, generation, changed_at, attempts, made_of
		FROM directories
		WHERE changed_at IS NOT NULL AND (changed_at <= ? OR since <= ?) AND due_at <= ?
		ORDER BY length(uri) - length(replace(uri, '/', '')) DESC, tenant, uri
		LIMIT 1`, quiet.UnixMicro(), overdue.UnixMicro(), now.UnixMicro())
	if err != nil {
		return t, false, fmt.Errorf("look for a directory that changed: %w", err)
	}
	return t, found, nil
}

// Keep keeps what was said of a directory, unless some of what that was made of has gone meanwhile. What changed
// meanwhile is still to be told. With the parent, if it is to be told, too.
func (d Directories) Keep(
	ctx context.Context, t domain.DirectoryTask, said domain.DirectorySummary, parents []domain.URI, at time.Time,
) error {
	err := d.db.Transact(database.ForTenant(ctx, t.Tenant), func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.ExecContext(ctx, `
			UPDATE directories
			SET audience = ?, made_of = ?, abstract = ?, overview = ?, attempts = 0, due_at = 0,
				changed_at = CASE WHEN changed_at = ? THEN NULL ELSE changed_at END,
				since = CASE WHEN changed_at = ? THEN NULL ELSE since END
			WHERE tenant = ? AND uri = ? AND generation = ?`,
			said.Audience, said.MadeOf, said.Abstract, said.Overview, t.ChangedAt, t.ChangedAt, t.Tenant, t.URI, t.Generation)
		if err != nil {
			return err
		}
		if kept, err := result.RowsAffected(); err != nil || kept == 0 {
			return err
		}
		return d.Mark(ctx, tx, t.Tenant, parents, at)
	})
	if err != nil {
		return fmt.Errorf("keep what a directory is about: %w", err)
	}
	return nil
}

// Leave leaves a directory until then; until it changes, if then is zero.
func (d Directories) Leave(ctx context.Context, t domain.DirectoryTask, then time.Time) error {
	err := d.db.Transact(database.ForTenant(ctx, t.Tenant), func(ctx context.Context, tx bun.Tx) error {
		set, args := "changed_at = NULL, since = NULL, attempts = 0", []any{}
		if !then.IsZero() {
			set, args = "attempts = ?, due_at = ?", append(args, t.Attempts, then.UnixMicro())
		}
		_, err := tx.ExecContext(ctx,
			`UPDATE directories SET `+set+` WHERE tenant = ? AND uri = ? AND changed_at = ? AND generation = ?`,
			append(args, t.Tenant, t.URI, t.ChangedAt, t.Generation)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("leave a directory: %w", err)
	}
	return nil
}

// Said is what was said of these directories of a tenant, of those of which something was. Who may hear it is for
// the caller to decide.
func (d Directories) Said(
	ctx context.Context, tenant string, uris []domain.URI,
) (map[domain.URI]domain.DirectorySummary, error) {
	said := map[domain.URI]domain.DirectorySummary{}
	if len(uris) == 0 {
		return said, nil
	}
	err := database.ForEach(ctx, d.db, func(rows *sql.Rows) error {
		var uri domain.URI
		var s domain.DirectorySummary
		err := rows.Scan(&uri, &s.Audience, &s.MadeOf, &s.Abstract, &s.Overview)
		said[uri] = s
		return err
	}, `
		SELECT uri, audience, made_of, abstract, overview
		FROM directories
		WHERE tenant = ? AND uri IN (?) AND abstract <> ''`, tenant, bun.List(uris))
	if err != nil {
		return nil, fmt.Errorf("read what directories are about: %w", err)
	}
	return said, nil
}
