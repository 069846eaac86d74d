package events

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Files stores binary contents beside the log. An event of their item contains their SHA-256. They are erased with
// the item's texts. It is safe for concurrent use.
type Files struct{ log *Log }

// NewFiles stores files beside a log.
func NewFiles(l *Log) Files { return Files{log: l} }

// uploadLifetime is how long an upload is kept without an item.
const uploadLifetime = 24 * time.Hour

// Keep stores a file and deletes expired uploads.
func (f Files) Keep(ctx context.Context, tenant string, file domain.File) error {
	var refused error
	err := f.log.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if admission := f.log.options.Admission; admission != nil {
			if refused = admission.AdmitFile(ctx, tx, tenant, file); refused != nil {
				return refused
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM files WHERE waits AND uploaded_at < ?`, database.At(file.UploadedAt.Add(-uploadLifetime))); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO files (tenant, id, waits, uploader, name, content_type, bytes, uploaded_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			tenant, file.ID, file.Waits, file.Uploader, file.Name, file.ContentType, file.Bytes, database.At(file.UploadedAt))
		return err
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		return fmt.Errorf("keep a file: %w", Unavailable(err))
	}
	return nil
}

// File reads a file. The error matches [domain.ErrNotFound] if there is none.
func (f Files) File(ctx context.Context, tenant, id string) (domain.File, error) {
	file, found := domain.File{ID: id}, false
	err := database.ForEach(ctx, f.log.db, func(rows *sql.Rows) error {
		found = true
		var at database.Time
		err := rows.Scan(&file.Waits, &file.Uploader, &file.Name, &file.ContentType, &file.Bytes, &at)
		file.UploadedAt = at.Time
		return err
	}, `
		SELECT waits, uploader, name, content_type, bytes, uploaded_at
		FROM files
		WHERE tenant = ? AND id = ?`, tenant, id)
	switch {
	case err != nil:
		return file, fmt.Errorf("read a file: %w", Unavailable(err))
	case !found:
		return file, domain.Refuse(domain.ErrNotFound, "no such file")
	}
	return file, nil
}

// Drop deletes a file that no item has.
func (f Files) Drop(ctx context.Context, tenant, id string) error {
	err := f.log.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM files WHERE tenant = ? AND id = ?`, tenant, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop a file: %w", Unavailable(err))
	}
	return nil
}
