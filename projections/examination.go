package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// examination is a verification at work. It reads one tenant after the other, each in slices, and
// holds one slice.
type examination struct {
	knowledge *Knowledge
	new       version
	old       *version // nil to compare with the log alone
	tx        bun.Tx
	log       events.Snapshot // of the same moment as tx
	compared  func(streams int)

	report   domain.RebuildReport
	sums     map[string]uint64 // by table
	inTerms  int64             // rows of the index of terms
	searches searches
}

// maxWrong is how many wrong rows a report shows.
const maxWrong = 20

// wrong notes what is not what the log says: which row, and never what people wrote.
func (e *examination) wrong(format string, values ...any) {
	if len(e.report.Wrong) < maxWrong {
		e.report.Wrong = append(e.report.Wrong, fmt.Sprintf(format, values...))
	}
}

func (e *examination) everything(ctx context.Context) error {
	var heads []head
	err := e.tx.NewRaw("SELECT tenant, count(*) AS events, max(position) AS position FROM events GROUP BY tenant ORDER BY tenant").Scan(ctx, &heads)
	if err != nil {
		return e.knowledge.failed(ctx, "read the heads", err)
	}
	for _, h := range heads {
		if h.Events != h.Position {
			e.wrong("tenant %s: %d events are missing from the log", h.Tenant, h.Position-h.Events)
		}
		if err := e.tenant(ctx, h); err != nil {
			return err
		}
	}
	if err := e.strangers(ctx); err != nil {
		return err
	}
	for table, sum := range e.sums {
		e.report.Checksums[table] = fmt.Sprintf("%016x", sum)
	}
	return nil
}

// head is how far a tenant's log goes.
type head struct {
	Tenant   string `bun:"tenant"`
	Events   int64  `bun:"events"`
	Position int64  `bun:"position"`
}

// How many streams are compared at once, and how many bytes they should have at most.
const (
	examinedFirst = 500
	examinedMost  = 4000
	examinedBytes = 8 << 20
)

func (e *examination) tenant(ctx context.Context, h head) error {
	words := newWordSums(h.Position)
	erased := erasures{}
	after, size := "", examinedFirst
	for {
		slice, found, err := e.log.NextSlice(ctx, h.Tenant, domain.KnowledgeStream(""), after, size)
		if err != nil {
			return err
		}
		if !found { // rows after the last stream would be one too many
			slice = events.Slice{Tenant: h.Tenant, After: slice.After, Through: domain.KnowledgeStream("\U0010FFFF")}
		}
		bytes, err := e.slice(ctx, slice, h.Position, words, erased)
		if err != nil {
			return err
		}
		if !found {
			break
		}
		after = slice.Through
		e.compared(slice.Streams)
		size = min(max(int(float64(size)*examinedBytes/float64(max(bytes, 1))), 1), 2*size, examinedMost)
	}
	if err := e.words(ctx, h.Tenant, words); err != nil {
		return err
	}
	if err := e.sessions(ctx, h, erased); err != nil {
		return err
	}
	return e.texts(ctx, h, erased)
}

// slice compares the rows of a range of items, and says how many bytes people wrote in them.
func (e *examination) slice(ctx context.Context, s events.Slice, upTo int64, words *wordSums, erased erasures) (bytes int, err error) {
	want := image{added: e.new.added}
	for f, err := range foldStreams(e.log.InSlice(ctx, s, upTo), e.new.policy) {
		if err != nil {
			return 0, err
		}
		bag := bagOf(e.new.tokenizer, f.item)
		if err := want.addRows(s.Tenant, f.item, bag.Words); err != nil {
			return 0, err
		}
		words.expect(f.item, bag)
		erased.add(f.erased)
		e.searches.consider(s.Tenant, f.item)
		bytes += len(f.item.Text.Content) + len(f.item.Text.Overview) + 1000*(1+len(f.item.Votes))
	}
	have, err := e.knowledge.imageOf(ctx, e.tx, e.new, s, words.have.add)
	if err != nil {
		return 0, err
	}
	e.report.Items += int64(len(want.knowledge))
	e.compare(s.Tenant, &want, have)
	if e.old == nil {
		return bytes, nil
	}
	was, err := e.knowledge.imageOf(ctx, e.tx, *e.old, s, words.was.add)
	switch {
	case err == nil:
		e.difference(was, have)
	case e.forgives(ctx, err):
		e.report.Changed["(not compared)"] += int64(len(want.knowledge))
	default:
		return 0, err
	}
	return bytes, nil
}

// forgives tells whether the active version may be impossible to read, since it is what is repaired.
func (e *examination) forgives(ctx context.Context, err error) bool {
	return e.report.Repair && ctx.Err() == nil && !errors.Is(err, domain.ErrUnavailable)
}

// strangers looks for rows that belong to no item of any tenant.
func (e *examination) strangers(ctx context.Context) error {
	seen := map[bun.Ident]int64{
		e.new.tables.knowledge: e.report.Rows["knowledge"], e.new.tables.scopes: e.report.Rows["scopes"],
		e.new.tables.terms: e.inTerms, e.new.tables.votes: e.report.Rows["votes"], e.new.tables.reports: e.report.Rows["reports"],
	}
	for _, table := range e.new.tables.all() {
		var rows int64
		if err := e.tx.NewRaw("SELECT count(*) FROM ?", table).Scan(ctx, &rows); err != nil {
			return e.knowledge.failed(ctx, "count rows", err)
		}
		if rows != seen[table] {
			e.wrong("%s: %d rows belong to no item", table, rows-seen[table])
		}
	}
	return nil
}
