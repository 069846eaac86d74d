package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// candidate is an item that a search may return, before its row is read.
type candidate struct {
	number  int64
	cosines Cosines
	score   float64
}

// candidates are the items that a search chooses from.
type candidates struct {
	list  []*candidate         // the best scores first
	known map[int64]*candidate // by number
	read  map[int64]bool       // items whose row was read, and whether they passed the search's filter
}

// findCandidates scores the items found by words and the nearest items of each scope by each model.
func (f *Execution) findCandidates(ctx context.Context, pool *Pool) (*candidates, error) {
	all := &candidates{known: map[int64]*candidate{}, read: map[int64]bool{}}
	byWords := f.words.Best(words.WordsDepth)
	for _, number := range byWords {
		all.add(number)
	}
	var comparing []func(context.Context) error
	for i, m := range f.meanings {
		others := slices.Clone(byWords)
		for j, other := range f.meanings {
			if i != j {
				for _, piece := range slices.Concat(other.shortlist.Pieces...) {
					others = append(others, piece.Number)
				}
			}
		}
		comparing = append(comparing, func(ctx context.Context) error { return m.nearby(ctx, others) })
	}
	if err := f.InParallel(ctx, comparing...); err != nil {
		return nil, err
	}
	for _, m := range f.meanings {
		for _, piece := range slices.Concat(m.pieces...) {
			all.add(piece.Number)
		}
	}
	for i, m := range f.meanings {
		for _, piece := range slices.Concat(append(m.pieces, m.others)...) {
			cosine, compared := m.cosines[piece.Hash]
			if c := all.known[piece.Number]; c != nil && compared {
				c.cosines[i].Nearer(cosine)
			}
		}
	}
	if len(f.Search.Filter.Phrases) > 0 { // whose items have words of the question, and were read
		all.list = all.list[:len(byWords)]
	}
	for _, c := range all.list {
		c.score = pool.Estimate(c.number, c.cosines)
	}
	slices.SortFunc(all.list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number))
	})
	return all, nil
}

// add returns the candidate with a number, which it adds if need be.
func (all *candidates) add(number int64) *candidate {
	c := all.known[number]
	if c == nil {
		c = &candidate{number: number}
		all.known[number], all.list = c, append(all.list, c)
	}
	return c
}

// best chooses the candidates that are judged. Some may not pass the search's filter.
func (f *Execution) best(ctx context.Context, all *candidates, size int) ([]int64, error) {
	var some []domain.Candidate
	for rest := all.list; len(rest) > 0 && len(some) < size; {
		passing, err := f.estimated(ctx, all, rest[:min(len(rest), Considered*size)])
		if err != nil {
			return nil, rows.Failed(ctx, "read candidates", err)
		}
		some, rest = append(some, passing...), rest[min(len(rest), Considered*size):]
	}
	return Judged(some, f.Search, f.Audience, size), nil
}

// estimated reads of candidates what [Judged] needs.
func (f *Execution) estimated(ctx context.Context, all *candidates, list []*candidate) ([]domain.Candidate, error) {
	numbers := make([]int64, len(list))
	for i, c := range list {
		numbers[i], all.read[c.number] = c.number, false
	}
	slices.Sort(numbers)
	selected, err := f.passing(numbers, "k.number, k.scopes, "+rows.ConfidenceAt).Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer selected.Close()
	var some []domain.Candidate
	var scopes sql.RawBytes
	for selected.Next() {
		var c domain.Candidate
		if err := selected.Scan(&c.Position, &scopes, &c.Confidence); err != nil {
			return nil, err
		}
		all.read[c.Position], c.Score = true, all.known[c.Position].score
		if json.Unmarshal(scopes, &c.Scopes) != nil {
			c.Scopes = f.Audience.Scopes // load notes that it cannot be read
		}
		some = append(some, c)
	}
	return some, selected.Err()
}

// passing selects columns of items that pass the search's filter. The columns end with the confidence.
func (f *Execution) passing(numbers []int64, columns string) *bun.SelectQuery {
	tenant := f.Search.By.Tenant
	in := rows.Table{Engine: f.DB.Engine, Tenant: tenant, Table: f.Tables.Knowledge, Alias: "k", Condition: rows.Live}
	query := f.From.NewSelect().ColumnExpr(columns, database.At(f.Now()))
	return f.Where(rows.LookUp(query, in, rows.SingleKeys(numbers), "number"), tenant, f.Search.Filter)
}

// load reads items, whose numbers ascend, and adds those to the pool that pass the search's filter. A forgotten item
// may still have vectors for a moment, and a filter by status may ask for it.
func (f *Execution) load(ctx context.Context, all *candidates, pool *Pool, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	selected, err := f.passing(numbers, "k.number, k.id, k.scopes, k.position, "+rows.ConfidenceAt).
		ColumnExpr("k.type, k.created_at, k.updated_at, k.confirmed_at, k.confirm_until, k.stale_reporters").
		ColumnExpr("k.owner, k.polarity, k.task, k.content, k.tags, k.source, k.trace_id").Rows(ctx)
	if err != nil {
		return rows.Failed(ctx, "read candidates", err)
	}
	defer selected.Close()
	asked := slices.ContainsFunc(f.meanings, func(m *meaning) bool { return m.embedding.Vector != nil })
	var broken []string
	var added []*Entry
	for selected.Next() {
		e := &Entry{Item: &domain.Knowledge{}}
		k, c := e.Item, &e.Candidate
		var scopes, tags, source sql.RawBytes
		var created, updated, confirmed, until database.Time
		err := selected.Scan(&e.Number, &c.ID, &scopes, &c.Position, &c.Confidence, &k.Type, &created, &updated, &confirmed,
			&until, &k.Stale.Reporters, &k.Owner, &k.Polarity, &k.Text.Task, &k.Text.Content, &tags, &source, &k.Source.TraceID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || json.Unmarshal(scopes, &c.Scopes) != nil || json.Unmarshal(tags, &k.Text.Tags) != nil ||
			json.Unmarshal(source, &k.Source) != nil {
			broken = append(broken, c.ID)
			continue
		}
		if slices.Contains(f.unreadable, c.ID) {
			continue
		}
		if f.policies != nil {
			k.Scopes, k.CreatedAt, k.UpdatedAt, k.ConfirmedAt, k.ConfirmUntil =
				c.Scopes, created.Time, updated.Time, confirmed.Time, until.Time
			c.Overdue, c.Confirmed = f.policies.Overdue(k, f.Now()), f.policies.Counts(k, f.Now())
		}
		if found := all.known[e.Number]; found != nil { // else it is beside one
			e.Cosines = found.cosines
		}
		c.Pending = asked && e.Cosines == (Cosines{})
		pool.Add(e)
		added = append(added, e)
	}
	if len(broken) > 0 {
		f.LogUnreadable(ctx, broken)
	}
	if err := selected.Err(); err != nil {
		return rows.Failed(ctx, "read candidates", err)
	}
	return f.confirm(ctx, added)
}

// confirm lets only those candidates count as confirmed that their verifier confirmed. Without such policies, or
// without confirmations, it asks nothing.
func (f *Execution) confirm(ctx context.Context, some []*Entry) error {
	var ids []string
	for _, e := range some {
		if e.Candidate.Confirmed {
			ids = append(ids, e.Candidate.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	by, err := f.verified.ConfirmedBy(ctx, f.Search.By.Tenant, ids)
	for _, e := range some {
		e.Candidate.Confirmed = by[e.Candidate.ID].Counts
	}
	return err
}

// isTruncated tells whether so many of the nearest items failed the filter that others may be missing: half of a scope
// that returned its maximum. What words find passes the filter.
func (f *Execution) isTruncated(all *candidates) bool {
	for _, m := range f.meanings {
		for i, place := range m.pieces {
			dropped := 0
			for _, c := range place {
				if passed, read := all.read[c.Number]; read && !passed {
					dropped++
				}
			}
			if len(place) >= m.question.Depths(m.question.Scopes[i]).Vectors && 2*dropped >= len(place) {
				return true
			}
		}
	}
	return false
}
