package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

// disk is what a rebuild was planned to take, and what it took, in megabytes: at its most, and of tables and indexes what it
// left.
type disk struct {
	PlannedMost int64 `json:"planned_most_mb"`
	PlannedLeft int64 `json:"planned_left_mb"`
	Most        int64 `json:"disk_most_mb"`
	Left        int64 `json:"disk_left_mb"`
}

// weighed does something, and looks at the disk all the while.
func weighed(ctx context.Context, db *database.DB, url string, r *projections.Rebuilder, do func() error) (took disk, err error) {
	plan, err := projections.Rebuilds{Rebuilder: r}.Plan(ctx, "knowledge", domain.RebuildOrder{})
	if err != nil {
		return took, err
	}
	before, err := taken(ctx, db, url)
	if err != nil {
		return took, err
	}
	most, failed := before.all(), error(nil)
	err = meanwhile(100*time.Millisecond, func() {
		now, err := taken(ctx, db, url)
		most, failed = max(most, now.all()), errors.Join(failed, err)
	}, do)
	left, lastErr := taken(ctx, db, url)
	const mega = 1 << 20
	took = disk{plan.Need / mega, plan.Bytes / mega, (most - before.all()) / mega, (left.kept - before.kept) / mega}
	return took, errors.Join(err, failed, lastErr)
}

// inUse is how many bytes of disk are in use: by tables and indexes, and for a while, by journals and what is sorted.
type inUse struct{ kept, passing int64 }

func (u inUse) all() int64 { return u.kept + u.passing }

// taken is what is in use by now. The room that a file keeps for later is not.
func taken(ctx context.Context, db *database.DB, url string) (now inUse, err error) {
	if db.Engine == database.Postgres {
		err := db.QueryRowContext(ctx, `
			SELECT
				pg_database_size(current_database()),
				(SELECT sum(size) FROM pg_ls_waldir()) + (SELECT coalesce(sum(size), 0) FROM pg_ls_tmpdir())`).
			Scan(&now.kept, &now.passing)
		return now, err
	}
	err = db.QueryRowContext(ctx, `
		SELECT (c.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count AS c, pragma_freelist_count AS f, pragma_page_size AS s`).Scan(&now.kept)
	if err != nil {
		return now, err
	}
	journal, err := os.Stat(strings.TrimPrefix(url, "sqlite:") + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return now, nil
	}
	if err != nil {
		return now, err
	}
	now.passing = journal.Size()
	return now, nil
}
