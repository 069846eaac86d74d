package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// sliceStreams is how many streams a slice has.
const sliceStreams = 4000

// errErasedSince means that texts were erased since they were read: they must be read again.
var errErasedSince = errors.New("texts were erased since")

// partBytes is how much text of a slice is held in memory.
const partBytes = 8 << 20

// sliceRow is a range of streams that a rebuild loads.
type sliceRow struct {
	bun.BaseModel `bun:"table:rebuild_slices,alias:r"`

	Projection string        `bun:"projection"`
	Version    int           `bun:"version"`
	Tenant     string        `bun:"tenant"`
	After      string        `bun:"after"`
	Through    string        `bun:"through"`
	Streams    int64         `bun:"streams"`
	Events     int64         `bun:"events,nullzero"`
	LoadedAt   database.Time `bun:"loaded_at"`
}

// load folds every tenant's streams, in parallel, and writes one final row per item. On PostgreSQL the indexes
// come last. Slices that an interrupted rebuild has loaded are not loaded again.
func (r *Rebuilder) load(ctx context.Context, now *run) error {
	p, v := r.Versions, now.version
	known, err := p.slices(ctx, v)
	if err != nil {
		return err
	}
	now.note(func(p *domain.RebuildProgress) {
		p.Streams, p.Events = 0, 0
		for _, s := range known {
			if !s.LoadedAt.IsZero() {
				p.Streams, p.Events = p.Streams+s.Streams, p.Events+s.Events
			}
		}
		now.resumed = p.Streams
	})
	workers := workers(p.DB.Engine)
	err = p.DB.WithScanPool(ctx, workers, func(reads database.Querier) error {
		work, ctx := errgroup.WithContext(ctx)
		work.SetLimit(workers)
		err := r.dispatch(ctx, events.SnapshotOf(reads), now, known, work)
		return cmp.Or(work.Wait(), err)
	})
	if err != nil {
		return err
	}
	return r.index(ctx, now)
}

// workers is how many slices are loaded at once. On SQLite one worker writes while the other reads and folds.
func workers(engine database.Engine) int {
	if engine == database.SQLite {
		return 2
	}
	return runtime.GOMAXPROCS(0)
}

// slices are the slices that were cut so far.
func (p *Versions) slices(ctx context.Context, v catalogue.Version) ([]sliceRow, error) {
	var known []sliceRow
	err := p.DB.NewSelect().Model(&known).Where("projection = ?", catalogue.KnowledgeName).Where("version = ?", v.Version).
		OrderExpr("tenant, after").Scan(ctx)
	if err != nil {
		return nil, rows.Failed(ctx, "read the slices", err)
	}
	return known, nil
}

// count counts the items of the active version as the total.
func (r *run) count(ctx context.Context, p *Versions) error {
	var total int64
	err := p.DB.NewRaw("SELECT count(*) FROM ? AS k", p.Active().Tables.Knowledge).Scan(ctx, &total)
	if err != nil {
		return rows.Failed(ctx, "count items", err)
	}
	r.note(func(p *domain.RebuildProgress) { p.Total = total })
	return nil
}

// dispatch loads the known slices that are not loaded, and cuts the rest of each tenant's streams into more. Tenants
// that were created after the rebuild began have no checkpoint; catchUp reads them.
func (r *Rebuilder) dispatch(
	ctx context.Context, log events.Snapshot, now *run, known []sliceRow, work *errgroup.Group,
) error {
	through := map[string]string{}
	for _, s := range known {
		through[s.Tenant] = max(through[s.Tenant], s.Through)
		if s.LoadedAt.IsZero() {
			work.Go(func() error { return r.loadSlice(ctx, log, now, s) })
		}
	}
	tenants, err := r.Versions.tenants(ctx, now.version)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		for after := through[tenant]; ; {
			s, found, err := r.cut(ctx, log, now.version, tenant, after)
			if err != nil {
				return err
			}
			if !found {
				break
			}
			after = s.Through
			work.Go(func() error { return r.loadSlice(ctx, log, now, s) })
		}
	}
	return nil
}

// tenants are the tenants whose streams are loaded.
func (p *Versions) tenants(ctx context.Context, v catalogue.Version) (tenants []string, err error) {
	err = p.DB.NewSelect().TableExpr("checkpoints").Column("tenant").
		Where("projection = ?", v.Checkpoint()).OrderExpr("tenant").Scan(ctx, &tenants)
	if err != nil {
		return nil, rows.Failed(ctx, "read the checkpoints", err)
	}
	return tenants, nil
}

// cut stores the next slice before it is loaded, so that after a crash the same ranges are loaded, whatever was
// appended meanwhile.
func (r *Rebuilder) cut(
	ctx context.Context, log events.Snapshot, v catalogue.Version, tenant, after string,
) (sliceRow, bool, error) {
	next, found, err := log.NextSlice(ctx, tenant, domain.KnowledgeStream(""), after, r.SliceStreams)
	if err != nil || !found {
		return sliceRow{}, false, err
	}
	s := sliceRow{
		Projection: catalogue.KnowledgeName, Version: v.Version, Tenant: tenant,
		After: next.After, Through: next.Through, Streams: int64(next.Streams),
	}
	err = r.Versions.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&s).Exec(ctx)
		return err
	})
	if errors.Is(err, database.ErrUnique) {
		err = fmt.Errorf("cut elsewhere: %w", catalogue.ErrMoved)
	}
	return s, true, err
}

// loadSlice folds a slice and writes its rows, in parts that fit into memory. Each part is one transaction, which
// also records how far it goes.
func (r *Rebuilder) loadSlice(ctx context.Context, log events.Snapshot, now *run, s sliceRow) error {
	upTo, _, _, err := r.followers.Checkpoint(ctx, now.version.Checkpoint(), s.Tenant)
	if err != nil {
		return err
	}
	for s.After < s.Through {
		part, through, err := r.nextPart(ctx, log, now, s, upTo)
		if err != nil {
			return err
		}
		rest, err := r.write(ctx, now, part, through)
		if errors.Is(err, errErasedSince) {
			continue
		}
		if err != nil {
			return err
		}
		s = rest.sliceRow
	}
	return nil
}

// nextPart folds what fits into memory. It has stopped reading when that is written, because SQLite cannot restart
// its WAL during a read: the WAL would grow to many times the size of the database.
func (r *Rebuilder) nextPart(
	ctx context.Context, log events.Snapshot, now *run, s sliceRow, upTo int64,
) (part loading, through string, err error) {
	part.sliceRow, part.tokenizer = s, now.version.Tokenizer
	if part.mark, err = events.Erasures(ctx, r.Versions.DB, s.Tenant); err != nil {
		return part, "", err
	}
	rest := events.Slice{Tenant: s.Tenant, After: s.After, Through: s.Through}
	for f, err := range foldStreams(log.InSlice(ctx, rest, upTo), now.version.Policy) {
		if err != nil {
			return part, "", err
		}
		if err := part.add(f); err != nil {
			return part, "", err
		}
		if part.drawn.rows() >= r.BatchRows || part.bytes >= partBytes {
			return part, part.last, nil
		}
	}
	return part, s.Through, nil
}

// loading is a part of a slice that is being loaded.
type loading struct {
	sliceRow
	tokenizer text.Tokenizer
	drawn     image
	bytes     int    // of people's texts
	last      string // the last stream of the part
	mark      int64  // the count of erasures before it was read
	streams   int64
	events    int64
}

// rows is the number of rows in all tables.
func (i *image) rows() int {
	return len(i.knowledge) + len(i.changes) + len(i.votes) + len(i.reports)
}

func (l *loading) add(f folded) error {
	l.last = domain.KnowledgeStream(f.item.ID)
	l.streams++
	l.events += int64(f.events)
	k := f.item
	l.bytes += len(k.Text.Content) + len(k.Text.Overview)
	if rows.IsLive(k) && k.Text.URI == "" {
		// Its text was erased after the position that the load ends at; catchUp reads that erasure.
		k.Text.URI = l.last
	}
	return l.drawn.addRows(l.Tenant, k, words.ItemTermsOf(l.tokenizer, k))
}

// write writes a part of a slice up to a stream, and returns the rest of the slice.
func (r *Rebuilder) write(ctx context.Context, now *run, part loading, through string) (rest loading, err error) {
	p, v := r.Versions, now.version
	rest.sliceRow = part.sliceRow
	rest.After, rest.Streams = through, max(0, part.Streams-part.streams)
	part.drawn.sort() // outside of the transaction, for which other writers wait
	err = p.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
		mark, err := events.ShareTexts(ctx, tx, part.Tenant)
		if err == nil && mark != part.mark {
			err = errErasedSince
		}
		if err != nil {
			return err
		}
		if err := p.take(ctx, tx, part, through); err != nil {
			return err
		}
		if through != part.Through {
			if _, err := tx.NewInsert().Model(&rest.sliceRow).Exec(ctx); err != nil {
				return err
			}
		}
		return copyInto(ctx, p.DB.Engine, tx, v.Tables, &part.drawn)
	})
	if err != nil {
		return rest, fmt.Errorf("slice after %q of tenant %s: %w", part.After, part.Tenant, err)
	}
	now.note(func(p *domain.RebuildProgress) { p.Streams += part.streams; p.Events += part.events })
	return rest, nil
}

// take records that a slice is loaded up to a stream. The error matches [catalogue.ErrMoved] if it was loaded before.
// This comes first in the transaction, so that it waits for one whose COMMIT was not answered.
func (p *Versions) take(ctx context.Context, tx bun.IDB, part loading, through string) error {
	taken, err := tx.NewUpdate().Model((*sliceRow)(nil)).
		Set("through = ?, streams = ?, events = ?, loaded_at = ?", through, part.streams, part.events, database.At(p.Now())).
		Where("projection = ?", part.Projection).Where("version = ?", part.Version).
		Where("tenant = ?", part.Tenant).Where("after = ?", part.After).
		Where("through = ?", part.Through).Where("loaded_at IS NULL").Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := taken.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("loaded elsewhere: %w", catalogue.ErrMoved)
	}
	return nil
}

// memoryForIndexes raises PostgreSQL's own default, unless an operator has set another value.
const memoryForIndexes = `
	SELECT set_config('maintenance_work_mem', '512MB', true)
	FROM pg_settings
	WHERE name = 'maintenance_work_mem' AND source = 'default';
	`

// index builds the indexes after the load, and lets PostgreSQL analyze the tables.
func (r *Rebuilder) index(ctx context.Context, now *run) error {
	p, v := r.Versions, now.version
	r.Logger.InfoContext(ctx, "rebuild", "projection", catalogue.KnowledgeName, "version", v.Version, "stage", "indexing")
	now.enter(phaseIndexing)
	err := words.Build(ctx, p.Catalogue, v.Tables, func(ctx context.Context, tx bun.Tx) error {
		state, err := p.state(ctx, tx, v)
		if err == nil && state != catalogue.StateBuilding {
			err = fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
		}
		return err
	})
	if err != nil {
		return err
	}
	indexes := "" // SQLite has them from the beginning
	if p.DB.Engine == database.Postgres {
		made, err := rows.Definition(p.DB.Engine, catalogue.KnowledgeName+"_indexes", v.Version)
		if err != nil {
			return err
		}
		indexes = memoryForIndexes + made
		for _, table := range v.Tables.All() {
			indexes += "ANALYZE " + string(table) + ";\n"
		}
	}
	return p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := p.advance(ctx, tx, v, catalogue.StateBuilding, catalogue.StateCatching); err != nil {
			return err
		}
		left, err := tx.NewSelect().Model((*sliceRow)(nil)).Where("projection = ?", catalogue.KnowledgeName).
			Where("version = ?", v.Version).Where("loaded_at IS NULL").Exists(ctx)
		if err != nil {
			return err
		}
		if left {
			return fmt.Errorf("a slice is being loaded elsewhere: %w", catalogue.ErrMoved)
		}
		if _, err := tx.ExecContext(ctx, indexes); err != nil {
			return fmt.Errorf("build indexes: %w", err)
		}
		return nil
	})
}

// folded is an item made from its whole stream, with the number of its events.
type folded struct {
	item   *domain.Knowledge
	events int
}

// foldStreams folds events, ordered by stream, into items, one at a time. A missing text is no error: the event that
// explains it may come later than the folded ones.
func foldStreams(all iter.Seq2[domain.Event, error], policy domain.ConfidencePolicy) iter.Seq2[folded, error] {
	return func(yield func(folded, error) bool) {
		var current folded
		var stream string
		for event, err := range all {
			if err != nil {
				yield(folded{}, err)
				return
			}
			if event.Stream != stream {
				if current.item != nil && !yield(current, nil) {
					return
				}
				id, _ := domain.ItemOf(event.Stream)
				stream = event.Stream
				current = folded{item: &domain.Knowledge{ID: id}}
			}
			current.events++
			if err := current.item.Evolve(event.Fact, event.Metadata(), policy); err != nil {
				yield(folded{}, fmt.Errorf("position %d of tenant %s, %s: %w", event.Position, event.Tenant, event.Stream, err))
				return
			}
		}
		if current.item != nil {
			yield(current, nil)
		}
	}
}
