package receipts

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Query selects receipts of a tenant, the newest first. Empty fields do not filter.
type Query struct {
	Tenant  string
	Only    domain.Entity // the caller, or on whose behalf: as far as the reader may see
	By      domain.Entity // the caller, or on whose behalf
	Items   []int64       // the numbers of items, of which an answer had at least one
	Trace   string
	Session string
	Host    string // with or without its version
	Kind    domain.GivenKind
	Since   time.Time // at or after
	Until   time.Time // before
	Before  string    // the Next of the page before
	Limit   int       // default: 50
}

// List is a page of receipts.
type List struct {
	Receipts []Receipt
	Next     string // of the query for the next page; empty after the last one. A page can be short, or empty.
}

// The bounds of a list.
const (
	defaultLimit = 50
	pagesAtOnce  = 50
	mostExamined = 5000 // pages
)

// List lists receipts, whoever asks: see [Receipts.Visible].
func (r *Receipts) List(ctx context.Context, q Query) (List, error) {
	before, err := parseCursor(q.Before)
	if err != nil {
		return List{}, err
	}
	q.Items = slices.Sorted(slices.Values(q.Items))
	if err := r.Flush(ctx); err != nil {
		r.options.Logger.WarnContext(ctx, "a list lacks the newest receipts", "error", err)
	}
	snapshot, err := r.db.OpenSnapshot(ctx, 1) // pages are merged meanwhile
	if err != nil {
		return List{}, failed(ctx, err)
	}
	defer snapshot.End()
	s := search{
		Query: q, keys: q.keys(), before: before, limit: cmp.Or(q.Limit, defaultLimit), from: snapshot.Transactions[0],
	}
	at := place{at: math.MaxInt64}
	for examined := 0; len(s.surely(at)) <= s.limit; {
		pages, err := s.pages(ctx, at)
		if err != nil {
			return List{}, err
		}
		for i := range pages {
			if err := s.examine(ctx, &pages[i]); err != nil {
				return List{}, err
			}
		}
		if examined += len(pages); len(pages) < pagesAtOnce {
			at = place{at: math.MinInt64}
			break
		}
		last := pages[len(pages)-1]
		at = place{last.To.UnixMicro(), last.Run, last.First}
		if examined >= mostExamined {
			break
		}
	}
	return s.list(at), nil
}

// place is where something stands among the receipts or the pages.
type place struct{ at, run, number int64 }

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.run, b.run), cmp.Compare(a.number, b.number))
}

func placeOf(r *Receipt) place { return place{r.At.UnixMicro(), r.Run, r.Sequence} }

func (a place) String() string { return fmt.Sprintf("%d.%d.%d", a.at, a.run, a.number) }

func parseCursor(cursor string) (at place, err error) {
	if cursor == "" {
		return place{at: math.MaxInt64}, nil
	}
	if n, _ := fmt.Sscanf(cursor, "%d.%d.%d", &at.at, &at.run, &at.number); n != 3 {
		var p domain.Problems
		p.Add("cursor", "must be the next_cursor of the page before")
		err = p.Err()
	}
	return at, err
}

// search is a query on its way through the pages, the newest first.
type search struct {
	Query
	keys   [][]uint32
	before place
	limit  int
	from   bun.IDB
	found  []*Receipt
}

// surely are the receipts that come before all those of pages that end at a place or earlier.
func (s *search) surely(at place) []*Receipt {
	slices.SortFunc(s.found, func(a, b *Receipt) int { return placeOf(b).compare(placeOf(a)) })
	for i, one := range s.found {
		if one.At.UnixMicro() <= at.at {
			return s.found[:i]
		}
	}
	return s.found
}

// list is the page of what was found before a place.
func (s *search) list(at place) (list List) {
	all := s.surely(at)
	switch {
	case len(all) > s.limit:
		all = all[:s.limit]
		list.Next = placeOf(all[len(all)-1]).String()
	case at.at != math.MinInt64: // it goes on with what happened at that time
		list.Next = place{at.at, math.MaxInt64, 0}.String()
	}
	for _, one := range all {
		list.Receipts = append(list.Receipts, *one)
	}
	return list
}

// pages are the next pages after a place, without their data.
func (s *search) pages(ctx context.Context, after place) (pages []page, err error) {
	query := s.from.NewSelect().Model(&pages).Column("tenant", "run", "first", "to_at", "sealed").
		Where("p.tenant = ?", s.Tenant).OrderExpr("p.to_at DESC, p.run DESC, p.first DESC").Limit(pagesAtOnce)
	if s.keys != nil {
		query = query.Column("keys")
	}
	if after.at != math.MaxInt64 {
		query = query.Where("(p.to_at, p.run, p.first) < (?, ?, ?)", database.At(time.UnixMicro(after.at)), after.run,
			after.number)
	}
	if s.before.at != math.MaxInt64 {
		query = query.Where("p.from_at <= ?", database.At(time.UnixMicro(s.before.at)))
	}
	if !s.Since.IsZero() {
		query = query.Where("p.to_at >= ?", database.At(s.Since))
	}
	if !s.Until.IsZero() {
		query = query.Where("p.from_at < ?", database.At(s.Until))
	}
	if err := query.Scan(ctx); err != nil {
		return nil, failed(ctx, err)
	}
	return pages, nil
}

// examine adds the receipts of a page that a query selects.
func (s *search) examine(ctx context.Context, p *page) error {
	if s.keys != nil && !hasKeys(p.Keys, s.keys) {
		return nil
	}
	err := s.from.NewSelect().Model(p).Column("data", "texts").Where("p.tenant = ?", p.Tenant).Where("p.run = ?", p.Run).
		Where("p.first = ?", p.First).Scan(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	all, err := p.receipts()
	if err != nil {
		return err
	}
	for _, one := range all {
		if placeOf(one).compare(s.before) < 0 && s.selects(one) {
			s.found = append(s.found, one)
		}
	}
	return nil
}

// keys are lists of keys, of each of which a page has one if it has a receipt of the query.
func (q Query) keys() (all [][]uint32) {
	for _, named := range [][2]string{
		{"entity", string(q.Only)},
		{"entity", string(q.By)},
		{"trace", q.Trace},
		{"session", q.Session},
		{"host", hostName(q.Host)},
		{"kind", string(q.Kind)},
	} {
		if named[1] != "" {
			all = append(all, []uint32{keyOf(named[0], named[1])})
		}
	}
	if len(q.Items) > 0 {
		var items []uint32
		for _, number := range q.Items {
			items = append(items, itemKey(number))
		}
		slices.Sort(items)
		all = append(all, items)
	}
	return all
}

func (q Query) selects(r *Receipt) bool {
	is := func(e domain.Entity) bool { return e == "" || e == r.Caller || e == r.OnBehalfOf }
	same := func(wanted, value string) bool { return wanted == "" || wanted == value }
	has := func(item Item) bool {
		_, is := slices.BinarySearch(q.Items, item.Number)
		return is
	}
	return is(q.Only) && is(q.By) && same(q.Trace, r.Trace) && same(q.Session, r.Session) &&
		same(string(q.Kind), string(r.Kind)) && (same(q.Host, r.Host) || strings.HasPrefix(r.Host, q.Host+"/")) &&
		(q.Since.IsZero() || !r.At.Before(q.Since)) && (q.Until.IsZero() || r.At.Before(q.Until)) &&
		(len(q.Items) == 0 || slices.ContainsFunc(r.Items, has))
}

// Numbers are the numbers of items by their ids. Items that do not exist are left out.
func (r *Receipts) Numbers(ctx context.Context, tenant string, ids ...string) (numbers []int64, err error) {
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.KnowledgeStream(id)
	}
	found, err := r.log.Reader.Beginnings(ctx, tenant, streams)
	if err != nil {
		return nil, events.Unavailable(err)
	}
	for _, stream := range streams {
		if number, is := found[stream]; is {
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

// IDs are the ids of items by their numbers. Items that the log does not have are left out.
func (r *Receipts) IDs(ctx context.Context, tenant string, numbers ...int64) (map[int64]string, error) {
	ids := map[int64]string{}
	if len(numbers) == 0 {
		return ids, nil
	}
	err := database.ForEach(ctx, r.db, func(rows *sql.Rows) error {
		var number int64
		var stream string
		err := rows.Scan(&number, &stream)
		if id, isItem := domain.ItemOf(stream); isItem {
			ids[number] = id
		}
		return err
	}, `
		SELECT position, stream
		FROM events
		WHERE tenant = ? AND position IN (?)`, tenant, bun.List(numbers))
	return ids, failedOrNil(ctx, err)
}
