package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// verification compares a version with the log, and with the active version. It reads one tenant after the other, in
// slices. Each transaction of its snapshot reads one slice at a time.
type verification struct {
	catalogue *catalogue.Catalogue
	new       catalogue.Version
	old       *catalogue.Version // nil to compare with the log alone
	snapshot  database.Snapshot
	tx        bun.Tx // the first of the snapshot
	compared  func(items int64)

	ignored []string // columns and tables in which the versions may differ

	noting    sync.Mutex // guards what follows
	report    domain.RebuildReport
	sum       uint64              // of the checksums of all items
	seen      map[bun.Ident]int64 // rows by table
	further   []numbered          // the first items that differ only as intended
	differing []numbered          // those that differ in more
}

// numbered is an item by its number.
type numbered struct {
	tenant string
	number int64
}

// begin begins to verify the active version, in a snapshot that the caller ends.
func begin(ctx context.Context, c *catalogue.Catalogue, compared func(items int64)) (*verification, error) {
	moment, err := c.DB.OpenSnapshot(ctx, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	v := &verification{
		catalogue: c, snapshot: moment, tx: moment.Transactions[0], compared: compared, seen: map[bun.Ident]int64{},
		report: domain.RebuildReport{Wrong: []string{}},
	}
	if v.new, err = c.ActiveIn(ctx, v.tx); err != nil {
		moment.End()
		return nil, err
	}
	return v, nil
}

// maxWrong is how many wrong items a report names.
const maxWrong = 20

// addWrong notes what differs from the log, without what people wrote.
func (e *verification) addWrong(format string, values ...any) {
	if len(e.report.Wrong) < maxWrong {
		e.report.Wrong = append(e.report.Wrong, fmt.Sprintf(format, values...))
	}
}

func (e *verification) run(ctx context.Context) error {
	var heads []head
	err := e.tx.NewRaw("SELECT tenant, count(*) AS events, max(position) AS position FROM events GROUP BY tenant ORDER "+
		"BY tenant").Scan(ctx, &heads)
	if err != nil {
		return rows.Failed(ctx, "read the heads", err)
	}
	for _, h := range heads {
		if h.Events != h.Position {
			e.addWrong("tenant %s: %d events are missing from the log", h.Tenant, h.Position-h.Events)
		}
		sums := e.newSums(h.Position)
		if err := e.items(ctx, h, sums); err != nil {
			return err
		}
		if err := e.terms(ctx, h.Tenant, sums); err != nil {
			return err
		}
		if err := e.judge(ctx, h.Tenant, sums); err != nil {
			return err
		}
		if err := e.texts(ctx, h.Tenant); err != nil {
			return err
		}
	}
	e.report.Checksum = fmt.Sprintf("%016x", e.sum)
	return errors.Join(e.orphans(ctx), e.differences(ctx))
}

// head is the end of a tenant's log.
type head struct {
	Tenant   string `bun:"tenant"`
	Events   int64  `bun:"events"`
	Position int64  `bun:"position"`
}

// How many streams are in a slice, and how many bytes are compared at a time.
const (
	verifiedStreams = 1000
	verifiedBytes   = 8 << 20
)

// items adds the rows of all items of a tenant.
func (e *verification) items(ctx context.Context, h head, sums *tenantSums) error {
	var cutting sync.Mutex
	after, ended := "", false
	next := func(log events.Snapshot) (s events.Slice, found bool, err error) {
		cutting.Lock()
		defer cutting.Unlock()
		if ended {
			return s, false, nil
		}
		if s, found, err = log.NextSlice(ctx, h.Tenant, domain.KnowledgeStream(""), after, verifiedStreams); err != nil {
			return s, false, err
		}
		if !found { // rows after the last stream would be superfluous
			ended, s.Through = true, domain.KnowledgeStream("\U0010FFFF")
		}
		after = s.Through
		return s, true, nil
	}
	working, ctx := errgroup.WithContext(ctx)
	for _, tx := range e.snapshot.Transactions {
		working.Go(func() error {
			for {
				s, found, err := next(events.SnapshotOf(tx))
				if err != nil || !found {
					return err
				}
				for s.After < s.Through && err == nil {
					s.After, err = e.part(ctx, tx, s, h.Position, sums)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return working.Wait()
}

// part adds as many items of a slice as fit into memory, and returns the last stream of these.
func (e *verification) part(
	ctx context.Context, tx bun.Tx, s events.Slice, upTo int64, sums *tenantSums,
) (through string, err error) {
	want, bytes := &image{}, 0
	for f, err := range foldStreams(events.SnapshotOf(tx).InSlice(ctx, s, upTo), e.new.Policy) {
		if err != nil {
			return "", err
		}
		itsTerms := words.ItemTermsOf(e.new.Tokenizer, f.item)
		if err := want.addRows(s.Tenant, f.item, itsTerms); err != nil {
			return "", err
		}
		if rows.IsLive(f.item) && e.new.Tables.HasWords() {
			entry, add := words.Entry{ItemTerms: itsTerms, Sets: words.SetsOf(f.item)}, e.addTerms(sums, ofLog)
			entry.EachKey(func(key uint64) { add(key, f.item.Number, 0, 0) })
			entry.Each(func(hash uint64, count int) { add(hash, f.item.Number, count, entry.Words) })
		}
		bytes += len(f.item.Text.Content) + len(f.item.Text.Overview) + 1000*(1+len(f.item.Votes))
		if bytes >= verifiedBytes {
			s.Through = domain.KnowledgeStream(f.item.ID)
			break
		}
	}
	have, err := imageOf(ctx, e.catalogue, tx, e.new, s)
	if err != nil {
		return "", err
	}
	e.addImage(sums, ofLog, want, want)
	e.addImage(sums, ofVersion, have, want)
	if e.old != nil {
		err = e.readActive(ctx, tx, func() error {
			was, err := imageOf(ctx, e.catalogue, tx, *e.old, s)
			if err == nil {
				e.addImage(sums, ofActive, was, want)
			}
			return err
		})
	}
	if err != nil {
		return "", err
	}
	e.noting.Lock()
	defer e.noting.Unlock()
	e.report.Items += int64(len(want.knowledge))
	e.seen[e.new.Tables.Knowledge.Name] += int64(len(have.knowledge))
	e.seen[e.new.Tables.Votes.Name] += int64(len(have.votes))
	e.seen[e.new.Tables.Reports.Name] += int64(len(have.reports))
	e.compared(int64(len(want.knowledge)))
	return s.Through, nil
}

// terms adds the index of words of a tenant.
func (e *verification) terms(ctx context.Context, tenant string, sums *tenantSums) error {
	if !e.new.Tables.HasWords() { // only a check meets such a version
		return nil
	}
	reading, reads := errgroup.WithContext(ctx)
	reading.SetLimit(min(len(e.snapshot.Transactions), 2))
	reading.Go(func() error {
		postings, changes, err := words.Each(reads, e.tx, e.new.Tables, tenant, e.addTerms(sums, ofVersion))
		e.seen[e.new.Tables.Postings.Name] += postings
		e.seen[e.new.Tables.Changes.Name] += changes
		return err
	})
	if e.old != nil {
		last := e.snapshot.Transactions[len(e.snapshot.Transactions)-1]
		reading.Go(func() error {
			return e.readActive(reads, last, func() error {
				_, _, err := words.Each(reads, last, e.old.Tables, tenant, e.addTerms(sums, ofActive))
				return err
			})
		})
	}
	if err := reading.Wait(); err != nil {
		return rows.Failed(ctx, "read the index of words", err)
	}
	return nil
}

// judge compares the checksums of a tenant.
func (e *verification) judge(ctx context.Context, tenant string, s *tenantSums) error {
	e.sum += s.total.Load()
	for number := range s.wrong {
		at := numbered{tenant, int64(number)}
		if s.wrong[number].Load() != 0 && len(e.report.Wrong) < maxWrong {
			id, err := e.idOf(ctx, at)
			switch {
			case err != nil:
				return err
			case id == "":
				e.addWrong("tenant %s: rows or words have the number %d, which no item has", tenant, number)
			default:
				e.addWrong("tenant %s, item %s: its rows or words are not what the log says", tenant, id)
			}
		}
		if e.old == nil {
			continue
		}
		differs := s.differs[number].Load() != 0
		unintended := differs
		if s.unintended != nil {
			unintended = s.unintended[number].Load() != 0
			differs = differs || unintended
		}
		if !differs {
			continue
		}
		e.report.Differing++
		noted := &e.further
		if unintended {
			e.report.Unintended++
			noted = &e.differing
		}
		if len(*noted) < domain.MaxDifferences {
			*noted = append(*noted, at)
		}
	}
	return nil
}

// idOf is the id of an item, which its first event has; empty if the event is not of an item.
func (e *verification) idOf(ctx context.Context, item numbered) (string, error) {
	var stream string
	err := e.tx.NewRaw("SELECT stream FROM events WHERE tenant = ? AND position = ?", item.tenant, item.number).
		Scan(ctx, &stream)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", rows.Failed(ctx, "read an event", err)
	}
	return itemOf(stream), nil
}

// differences reads both rows of the first items that differ.
func (e *verification) differences(ctx context.Context) error {
	all := slices.Concat(e.differing, e.further)
	e.report.Differences = []domain.ItemDifference{}
	for _, item := range all[:min(len(all), domain.MaxDifferences)] {
		id, err := e.idOf(ctx, item)
		if err != nil {
			return err
		}
		d := domain.ItemDifference{Tenant: item.tenant, ID: id}
		err = e.readActive(ctx, e.tx, func() (err error) {
			d.Before, err = e.plainRow(ctx, *e.old, item)
			return err
		})
		if err == nil {
			d.After, err = e.plainRow(ctx, e.new, item)
		}
		if err != nil {
			return err
		}
		e.report.Differences = append(e.report.Differences, d)
	}
	return nil
}

// written are the columns of an item that have texts that people wrote.
var written = []string{
	"uri", "task", "content", "abstract", "overview", "tags", "meta", "source", "baseline", "relations", "stale_reason",
	"suspended_reason",
}

// plainRow is an item's row in a version, without texts; nil if there is none, or if it cannot be read.
func (e *verification) plainRow(ctx context.Context, v catalogue.Version, item numbered) (map[string]any, error) {
	found, err := e.catalogue.ViewOf(v, e.tx).Read(ctx, rows.Select(e.tx).
		ModelTableExpr("? AS k", v.Tables.Knowledge).Where("tenant = ?", item.tenant).Where("number = ?", item.number))
	if err != nil || len(found) == 0 || found[0].Broken {
		return nil, err
	}
	values, err := found[0].Values(rows.KnowledgeColumns)
	plain := map[string]any{}
	for i, value := range values {
		if !slices.Contains(written, rows.KnowledgeColumns[i]) {
			plain[rows.KnowledgeColumns[i]] = value
		}
	}
	return plain, err
}

// readActive reads the active version. While that is repaired, reading may fail; then the transaction continues
// without it.
func (e *verification) readActive(ctx context.Context, tx bun.IDB, read func() error) error {
	if !e.report.Repair {
		return read()
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT active"); err != nil {
		return err
	}
	err := read()
	if err == nil || ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable) {
		return err
	}
	_, err = tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT active")
	return err
}

// orphans looks for rows that belong to no item of any tenant.
func (e *verification) orphans(ctx context.Context) error {
	for _, table := range e.new.Tables.All() {
		if !e.new.Tables.HasWords() && (table == e.new.Tables.Postings.Name || table == e.new.Tables.Changes.Name) {
			continue
		}
		var list int64
		if err := e.tx.NewRaw("SELECT count(*) FROM ?", table).Scan(ctx, &list); err != nil {
			return rows.Failed(ctx, "count rows", err)
		}
		if list != e.seen[table] {
			e.addWrong("%s: %d rows belong to no item", table, list-e.seen[table])
		}
	}
	return nil
}
