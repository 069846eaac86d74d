package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// candidate is an item that a search may return, scored before its row is read.
type candidate struct {
	number   int64
	compared bool    // false if it has no vector yet
	cosine   float64 // of its nearest piece
	lexical  float64
	semantic float64
	score    float64
}

// candidates are the items that a search chooses from.
type candidates struct {
	list   []candidate           // the best scores first
	words  []int64               // the items that words found
	pieces [][]vectors.NearPiece // the nearest pieces of each scope
	read   map[int64]bool        // items whose row was read, and whether they passed the search's filter
	found  []domain.Candidate    // the items that passed
	top    float64               // the best score among those that the audience may see
}

// findCandidates scores the items found by words and the nearest items of each scope by vectors.
func (f *Execution) findCandidates(ctx context.Context) (*candidates, error) {
	all := &candidates{words: f.words.Best(words.WordsDepth), read: map[int64]bool{}}
	known := make(map[int64]int, len(all.words))
	for _, number := range all.words {
		known[number] = len(all.list)
		all.list = append(all.list, candidate{number: number})
	}
	if f.Embedding.Vector != nil {
		if err := f.nearby(ctx, all, known); err != nil {
			return nil, err
		}
	}
	if f.Search.Text == "" || text.HasContent(f.words.Terms) { // else nothing is about the question
		for i := range all.list {
			f.score(&all.list[i])
		}
	}
	slices.SortFunc(all.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number))
	})
	return all, nil
}

// score combines an item's scores by words and by meaning.
func (f *Execution) score(p *candidate) {
	p.lexical = f.words.ScoreOf(p.number)
	if !p.compared { // the question or the item has no vector yet: words decide alone
		p.score = p.lexical
		return
	}
	calibration := f.Model.Embedder.Calibration()
	p.semantic = calibration.Score(p.cosine)
	p.score = p.semantic // a question that is only a vector
	if len(f.words.Terms) > 0 {
		p.score = calibration.Join(p.semantic, p.lexical)
	}
}

// loadTop reads the items of some candidates, and drops those that do not pass the search's filter. A forgotten item
// may still have vectors for a moment, and a filter by status may ask for it.
func (f *Execution) loadTop(ctx context.Context, all *candidates, some []candidate) error {
	numbers := make([]int64, len(some))
	byNumber := make(map[int64]*candidate, len(some))
	for i := range some {
		numbers[i] = some[i].number
		byNumber[numbers[i]] = &some[i]
		all.read[numbers[i]] = false
	}
	slices.Sort(numbers)
	tenant := f.Search.By.Tenant
	in := rows.Table{Engine: f.DB.Engine, Tenant: tenant, Table: f.Tables.Knowledge, Alias: "k", Condition: rows.Live}
	query := f.From.NewSelect().ColumnExpr("k.number, k.id, k.scopes, k.position, "+rows.ConfidenceAt,
		database.At(f.Now())).
		ColumnExpr("k.type, k.created_at, k.updated_at, k.confirmed_at, k.confirm_until, k.stale_reporters").
		ColumnExpr("CASE WHEN ? THEN '' ELSE k.polarity || ' ' || k.task || ' ' || k.content END", f.Search.Copies)
	query = f.Where(rows.LookUp(query, in, rows.SingleKeys(numbers), "number"), tenant, f.Search.Filter)
	selected, err := query.Rows(ctx)
	if err != nil {
		return rows.Failed(ctx, "read candidates", err)
	}
	defer selected.Close()
	var broken []string
	before := len(all.found)
	for selected.Next() {
		var number int64
		var c domain.Candidate
		var scopes, said sql.RawBytes
		var kind string
		var created, updated, confirmed, until database.Time
		var reporters int
		err := selected.Scan(&number, &c.ID, &scopes, &c.Position, &c.Confidence, &kind, &created, &updated, &confirmed,
			&until, &reporters, &said)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || json.Unmarshal(scopes, &c.Scopes) != nil {
			broken = append(broken, c.ID)
			continue
		}
		c.Said = string(said)
		if all.read[number] = true; f.policies != nil {
			k := domain.Knowledge{
				Scopes: c.Scopes, Class: domain.Class{Type: domain.Type(kind)}, CreatedAt: created.Time, UpdatedAt: updated.Time,
				ConfirmedAt: confirmed.Time, ConfirmUntil: until.Time, Stale: domain.Staleness{Reporters: reporters},
			}
			c.Overdue, c.Confirmed = f.policies.Overdue(&k, f.Now()), f.policies.Counts(&k, f.Now())
		}
		if !slices.Contains(f.unreadable, c.ID) {
			f.addFound(all, byNumber[number], c)
		}
	}
	if len(broken) > 0 {
		f.LogUnreadable(ctx, broken)
	}
	if err := selected.Err(); err != nil {
		return rows.Failed(ctx, "read candidates", err)
	}
	return f.confirm(ctx, all.found[before:])
}

// confirm lets only those candidates count as confirmed that their verifier confirmed. Without such policies, or
// without confirmations, it asks nothing.
func (f *Execution) confirm(ctx context.Context, some []domain.Candidate) error {
	var ids []string
	for _, c := range some {
		if c.Confirmed {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	by, err := f.verified.ConfirmedBy(ctx, f.Search.By.Tenant, ids)
	for i, c := range some {
		some[i].Confirmed = by[c.ID].Counts
	}
	return err
}

// addFound adds a candidate that passed the filter to those that are ranked.
func (f *Execution) addFound(all *candidates, p *candidate, c domain.Candidate) {
	c.Score, c.Semantic, c.Lexical = p.score, p.semantic, p.lexical
	c.Pending = f.Embedding.Vector != nil && !p.compared
	if f.IgnoreConfidence {
		c.Confidence = 1
	}
	all.found = append(all.found, c)
	if _, shared := f.Audience.Best(c.Scopes); shared {
		all.top = max(all.top, c.Score)
		if c.Score < f.minScore {
			f.bestBelow = max(f.bestBelow, c.Score)
		}
	}
}

// usualConfidence assumes that confidences usually differ by at most a third: a candidate with less than three
// quarters of the last hit's score rarely comes before it.
const usualConfidence = 0.75

// topSize is how many candidates are read first. If most of them pass the filter and have a usual confidence, the
// answer is among them.
func (f *Execution) topSize(prospects []candidate) int {
	limit := f.Search.Limit
	if f.Search.Explain || len(prospects) <= 2*limit {
		return len(prospects)
	}
	least := usualConfidence * prospects[limit-1].score
	if f.Search.Order == domain.ByPriority {
		least = min(least, domain.NearTie(prospects[0].score))
	}
	least = max(least, f.minScore)
	n := slices.IndexFunc(prospects, func(p candidate) bool { return p.score < least })
	if n < 0 {
		return len(prospects)
	}
	return max(limit, n)
}

// isFinal tells whether the hits are final although other candidates with at most this score were not read. A weight
// never exceeds its score.
func (f *Execution) isFinal(hits []domain.Hit, top, rest float64) bool {
	if rest < f.minScore && len(hits) > 0 {
		return true
	}
	byPriority := f.Search.Order == domain.ByPriority
	if len(hits) < f.Search.Limit || byPriority && rest >= max(f.minScore, domain.NearTie(top)) {
		return false
	}
	return !slices.ContainsFunc(hits, func(h domain.Hit) bool { return h.Weight <= rest && !(byPriority && h.Best) })
}

// isTruncated tells whether so many of the nearest items failed the filter that others may be missing: half of a scope
// that returned its maximum. What words find passes the filter.
func (f *Execution) isTruncated(all *candidates) bool {
	for i, place := range all.pieces {
		dropped := 0
		for _, c := range place {
			if passed, read := all.read[c.Number]; read && !passed {
				dropped++
			}
		}
		if len(place) >= f.question.Depths(f.question.Scopes[i]).Vectors && 2*dropped >= len(place) {
			return true
		}
	}
	return false
}
