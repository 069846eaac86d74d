package rows

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Reader reads the tables of one version of the knowledge projection.
type Reader struct {
	DB         *database.DB
	From       bun.IDB // the database, or a snapshot of it
	Tables     Tables
	Now        func() time.Time // the clock by which confirmations expire
	Log        *slog.Logger
	Unreadable *atomic.Int64 // the version that was read last of those with unreadable rows
}

func (p Reader) IsPostgres() bool { return p.DB.Engine == database.Postgres }

// Item is an item as readers see it now.
func (p Reader) Item(r *Row) *domain.Knowledge { return r.At(p.Now()) }

// Failed wraps the error of a statement with the operation and its remedy.
func Failed(ctx context.Context, what string, err error) error {
	return fmt.Errorf("%s: %w", what, WithRemedy(database.Classify(ctx, err)))
}

// WithRemedy adds a remedy to the error if the database is unavailable, read-only or out of disk space, or if the
// server's role lacks a privilege.
func WithRemedy(err error) error {
	if denied := database.Denied(err); denied != "" {
		return fmt.Errorf("%w: %w", domain.Unprivileged(denied), err)
	}
	if remedied := events.WithRemedy(err, "changed"); remedied != nil {
		return remedied
	}
	if errors.Is(err, database.ErrUnavailable) {
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	}
	return err
}

// ScanEach scans the rows of a query one by one. It hands an unreadable row over with the error and the columns
// before the unreadable one, so that the other rows are still read.
func ScanEach[T any](
	ctx context.Context, db *bun.DB, query *bun.SelectQuery, each func(found *T, unreadable error),
) error {
	rows, err := query.Rows(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var found T
		err := scan(ctx, db, rows, &found)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		each(&found, err)
	}
	return rows.Err()
}

// ScanAll scans the items of a query that [Select] began.
func ScanAll(ctx context.Context, query *bun.SelectQuery, each func(*Row)) error {
	var unread error
	err := ScanEach(ctx, nil, query, func(r *Row, unreadable error) {
		if unread = cmp.Or(unread, unreadable); unread == nil {
			each(r)
		}
	})
	return cmp.Or(err, unread)
}

// Items selects items k as [Reader.Read] reads them, with whether anybody proposed a contradiction of each.
func (p Reader) Items() *bun.SelectQuery {
	return Select(p.DB).ModelTableExpr("? AS k", p.Tables.Knowledge).
		ColumnExpr("EXISTS (SELECT 1 FROM proposals AS p WHERE p.tenant = k.tenant AND p.item = k.id AND p.is_open " +
			"AND p.kind = 'contradiction') AS disputed")
}

// Read reads rows of the knowledge table. It marks unreadable rows.
func (p Reader) Read(ctx context.Context, query *bun.SelectQuery) (rows []Row, err error) {
	var broken []string
	err = ScanEach(ctx, p.DB.DB, query, func(r *Row, unreadable error) {
		if r.Broken = unreadable != nil; r.Broken {
			broken = append(broken, r.ID)
		}
		rows = append(rows, *r)
	})
	if len(broken) > 0 {
		p.LogUnreadable(ctx, broken)
	}
	return rows, err
}

// LogUnreadable logs the ids of items without the reason: the error may quote people's texts.
func (p Reader) LogUnreadable(ctx context.Context, ids []string) {
	p.Unreadable.Store(int64(p.Tables.Version))
	p.Log.ErrorContext(ctx, "the rows of items cannot be read: answers leave them out", "items", ids)
}

// ReadOne reads the item that a query selects. The error matches [sql.ErrNoRows] if there is none, and
// [domain.ErrBroken] if its row cannot be read.
func (p Reader) ReadOne(ctx context.Context, query *bun.SelectQuery) (*domain.Knowledge, error) {
	rows, err := p.Read(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, sql.ErrNoRows
	case rows[0].Broken:
		return nil, rows[0].unreadable()
	}
	return p.Item(&rows[0]), nil
}

// unreadable is the refusal of an item whose row cannot be read. It leaves out the reason, which may quote texts.
func (r *Row) unreadable() error {
	return domain.Refuse(domain.ErrUnreadable, "what is stored of %s cannot be read", r.ID).
		WithFix("annals rebuild knowledge --repair makes it again from the log")
}

// maxParallel limits the connections of one search.
const maxParallel = 3

// InParallel runs tasks in parallel, or one after the other if all read the same snapshot, and waits for all of them.
// The first error cancels the context of the others, and InParallel returns it.
func (p Reader) InParallel(ctx context.Context, tasks ...func(ctx context.Context) error) error {
	if _, isPool := p.From.(*bun.DB); !isPool || len(tasks) == 1 {
		for _, task := range tasks {
			if err := task(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var fail sync.Once
	var failed error
	free := make(chan struct{}, maxParallel)
	for _, task := range tasks {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			if err := task(ctx); err != nil {
				fail.Do(func() { failed = err; cancel() })
			}
		})
	}
	running.Wait()
	return failed
}
