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

// Directories keeps the summaries that a model made of directories, and which directories changed since. Package
// knowledge deletes a summary together with the texts that it was made of. It is safe for concurrent use.
type Directories struct{ db *database.DB }

// NewDirectories returns the directories of a migrated database.
func NewDirectories(db *database.DB) Directories { return Directories{db} }

// Mark notes that something in these directories of a tenant changed.
func (d Directories) Mark(ctx context.Context, tx bun.IDB, tenant string, uris []domain.URI, at time.Time) error {
	if len(uris) == 0 {
		return nil
	}
	slices.Sort(uris) // two transactions that mark the same rows must not deadlock
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

// Next returns a directory that is due: either nothing changed in it since quiet, or something changed before
// overdue. The deepest comes first, because its summary is part of its parent's. found is false if none is due.
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

// Keep stores a directory's summary and marks its parents as changed. It does nothing if a text that the summary was
// made of has been deleted meanwhile. A directory that changed meanwhile stays marked.
func (d Directories) Keep(
	ctx context.Context, t domain.DirectoryTask, summary domain.DirectorySummary, parents []domain.URI, at time.Time,
) error {
	err := d.db.Transact(database.ForTenant(ctx, t.Tenant), func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.ExecContext(ctx, `
			UPDATE directories
			SET audience = ?, made_of = ?, abstract = ?, overview = ?, attempts = 0, due_at = 0,
				changed_at = CASE WHEN changed_at = ? THEN NULL ELSE changed_at END,
				since = CASE WHEN changed_at = ? THEN NULL ELSE since END
			WHERE tenant = ? AND uri = ? AND generation = ?`,
			summary.Audience, summary.MadeOf, summary.Abstract, summary.Overview, t.ChangedAt, t.ChangedAt,
			t.Tenant, t.URI, t.Generation)
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

// Leave postpones a directory to a time, or until it changes if that is zero.
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

// Summaries returns the summaries of these directories of a tenant, as far as they have one. The caller decides who may
// read them.
func (d Directories) Summaries(
	ctx context.Context, tenant string, uris []domain.URI,
) (map[domain.URI]domain.DirectorySummary, error) {
	summaries := map[domain.URI]domain.DirectorySummary{}
	if len(uris) == 0 {
		return summaries, nil
	}
	err := database.ForEach(ctx, d.db, func(rows *sql.Rows) error {
		var uri domain.URI
		var s domain.DirectorySummary
		err := rows.Scan(&uri, &s.Audience, &s.MadeOf, &s.Abstract, &s.Overview)
		summaries[uri] = s
		return err
	}, `
		SELECT uri, audience, made_of, abstract, overview
		FROM directories
		WHERE tenant = ? AND uri IN (?) AND abstract <> ''`, tenant, bun.List(uris))
	if err != nil {
		return nil, fmt.Errorf("read what directories are about: %w", err)
	}
	return summaries, nil
}
