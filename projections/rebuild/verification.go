package rebuild

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

	noting           sync.Mutex // guards what follows
	report           domain.RebuildReport
	sums             map[string]uint64 // by table
	indexed, changed int64             // rows of the index of words, and of changes
}

// begin begins to verify the active version, in a snapshot that the caller ends.
func begin(ctx context.Context, c *catalogue.Catalogue, compared func(items int64)) (*verification, error) {
	moment, err := c.DB.OpenSnapshot(ctx, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	v := &verification{
		catalogue: c, snapshot: moment, tx: moment.Transactions[0], compared: compared, sums: map[string]uint64{},
		report: domain.RebuildReport{
			Wrong: []string{}, Rows: map[string]int64{}, Checksums: map[string]string{}, Changed: map[string]int64{},
		},
	}
	if v.new, err = c.ActiveIn(ctx, v.tx); err != nil {
		moment.End()
		return nil, err
	}
	return v, nil
}

// maxWrong is how many wrong rows a report shows.
const maxWrong = 20

// addWrong notes which row differs from the log, without what people wrote.
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
		terms := newTermSums(h.Position)
		if err := e.items(ctx, h, terms); err != nil {
			return err
		}
		if err := e.terms(ctx, h.Tenant, terms); err != nil {
			return err
		}
		if err := e.texts(ctx, h.Tenant); err != nil {
			return err
		}
	}
	for table, sum := range e.sums {
		e.report.Checksums[table] = fmt.Sprintf("%016x", sum)
	}
	return e.orphans(ctx)
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

// items compares the rows of all items of a tenant.
func (e *verification) items(ctx context.Context, h head, terms termSums) error {
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
					s.After, err = e.part(ctx, tx, s, h.Position, terms)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return working.Wait()
}

// part compares as many items of a slice as fit into memory, and returns the last stream of these.
func (e *verification) part(
	ctx context.Context, tx bun.Tx, s events.Slice, upTo int64, terms termSums,
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
		if rows.IsLive(f.item) {
			terms.want.addEntry(f.item.Number, words.Entry{ItemTerms: itsTerms, Sets: words.SetsOf(f.item)})
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
	var was *image
	unread := false
	if e.old != nil {
		unread, err = e.readActive(ctx, tx, func() (err error) {
			if was, err = imageOf(ctx, e.catalogue, tx, *e.old, s); err == nil && was.unreadable != "" {
				err = fmt.Errorf("read a version: %s: %w", was.unreadable, domain.ErrBroken)
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
	e.compare(s.Tenant, want, have)
	switch {
	case unread:
		e.report.Changed["(not compared)"] += int64(len(want.knowledge))
	case was != nil:
		e.difference(was, have)
	}
	e.compared(int64(len(want.knowledge)))
	return s.Through, nil
}

// readActive reads the active version. While that is repaired, reading may fail; then the transaction continues
// without it.
func (e *verification) readActive(ctx context.Context, tx bun.IDB, read func() error) (unread bool, err error) {
	if !e.report.Repair {
		return false, read()
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT active"); err != nil {
		return false, err
	}
	if err = read(); err == nil || ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable) {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT active")
	return true, err
}

// orphans looks for rows that belong to no item of any tenant.
func (e *verification) orphans(ctx context.Context) error {
	seen := map[bun.Ident]int64{
		e.new.Tables.Knowledge.Name: e.report.Rows["knowledge"],
		e.new.Tables.Votes.Name:     e.report.Rows["votes"], e.new.Tables.Reports.Name: e.report.Rows["reports"],
	}
	if e.new.Tables.HasWords() {
		seen[e.new.Tables.Postings.Name], seen[e.new.Tables.Changes.Name] = e.indexed, e.changed
	}
	for _, table := range e.new.Tables.All() {
		if _, read := seen[table]; !read {
			continue
		}
		var list int64
		if err := e.tx.NewRaw("SELECT count(*) FROM ?", table).Scan(ctx, &list); err != nil {
			return rows.Failed(ctx, "count rows", err)
		}
		if list != seen[table] {
			e.addWrong("%s: %d rows belong to no item", table, list-seen[table])
		}
	}
	return nil
}
