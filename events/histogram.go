package events

import (
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// sampleSize is how many positions are looked at if there are too many to look at all of them.
const sampleSize = 5_000

// Histogram counts the events that a query selects by the time when they were recorded. Without From and To it covers
// the whole log. It counts all events if the query selects every event of the span, has an index, or covers at most
// scanLimit positions. Otherwise it estimates the counts from a sample of positions. It ignores the query's words.
func (f Finder) Histogram(ctx context.Context, q domain.EventQuery, buckets int) (domain.EventHistogram, error) {
	h, err := f.emptyHistogram(ctx, q, buckets)
	if err != nil || len(h.Buckets) == 0 {
		return h, err
	}
	starts, err := f.starts(ctx, q.Tenant, h.Buckets)
	if err != nil {
		return h, err
	}
	window := span{starts[0], starts[len(h.Buckets)] - 1}
	if window.empty() {
		return h, nil
	}
	choice, err := f.choose(ctx, q, window)
	switch {
	case err != nil || choice.none:
		return h, err
	case choice.everything():
		for i := range h.Buckets {
			if h.Buckets[i].Count = starts[i+1] - starts[i]; h.Buckets[i].Count > 0 {
				h.Buckets[i].First = starts[i]
			}
		}
		return h, nil
	}
	found, weight, err := f.positions(ctx, choice, window)
	if err != nil {
		return h, fmt.Errorf("count events: %w", Unavailable(err))
	}
	h.Estimated = weight > 1
	for _, position := range found {
		next, _ := slices.BinarySearch(starts, position+1)
		bucket := &h.Buckets[next-1]
		bucket.Count += weight
		if bucket.First == 0 {
			bucket.First = position
		}
	}
	return h, nil
}

// emptyHistogram divides the time of a query into buckets of equal length. Times have microseconds, so a short time
// has fewer buckets.
func (f Finder) emptyHistogram(
	ctx context.Context, q domain.EventQuery, buckets int,
) (h domain.EventHistogram, err error) {
	from, to := q.From, q.To
	if from.IsZero() || to.IsZero() {
		head, _, err := f.log.Head(ctx, q.Tenant)
		if err != nil || head == 0 {
			return h, err
		}
		if from.IsZero() {
			if from, err = recordedAt(ctx, f.log.db, q.Tenant, 1); err != nil {
				return h, err
			}
		}
		if to.IsZero() {
			if to, err = recordedAt(ctx, f.log.db, q.Tenant, head); err != nil {
				return h, err
			}
			to = to.Add(time.Microsecond)
		}
	}
	length := to.UnixMicro() - from.UnixMicro()
	n := min(int64(buckets), max(length, 0))
	for i := range n {
		bound := func(i int64) time.Time {
			return time.UnixMicro(from.UnixMicro() + i*(length/n) + i*(length%n)/n).UTC()
		}
		h.Buckets = append(h.Buckets, domain.EventBucket{From: bound(i), To: bound(i + 1)})
	}
	return h, nil
}

// starts are the positions at which the buckets begin, and the one after the last bucket. Times never decrease along
// a log, so one statement finds all of them by binary search: "before" grows by halving steps up to the last position
// that was recorded before the bound.
func (f Finder) starts(ctx context.Context, tenant string, buckets []domain.EventBucket) ([]int64, error) {
	head, _, err := f.log.Head(ctx, tenant)
	if err != nil {
		return nil, err
	}
	kind := "text"
	if f.log.db.Engine == database.Postgres {
		kind = "timestamptz"
	}
	starts := make([]int64, len(buckets)+1)
	var args []any
	for i := range starts {
		bound := buckets[max(i-1, 0)].To
		if i == 0 {
			bound = buckets[0].From
		}
		args = append(args, i, database.At(bound))
	}
	bounds := strings.Repeat(", (?, CAST(? AS "+kind+"))", len(starts))[2:]
	step := int64(1) << (bits.Len64(uint64(head)|1) - 1)
	err = database.ForEach(ctx, f.log.db, func(rows *sql.Rows) error {
		var i, before int64
		err := rows.Scan(&i, &before)
		starts[i] = before + 1
		return err
	}, `
		WITH RECURSIVE bounds (i, at) AS (VALUES `+bounds+`),
		search (i, at, before, step) AS (
			SELECT i, at, CAST(0 AS bigint), CAST(? AS bigint)
			FROM bounds
			UNION ALL
			SELECT s.i, s.at,
				s.before + CASE WHEN (
					SELECT e.recorded_at
					FROM events AS e
					WHERE e.tenant = ? AND e.position = s.before + s.step
				) < s.at THEN s.step ELSE 0 END,
				s.step / 2
			FROM search AS s
			WHERE s.step > 0
		)
		SELECT i, before
		FROM search
		WHERE step = 0
		ORDER BY i`, append(args, step, tenant)...)
	if err != nil {
		return nil, fmt.Errorf("find the beginnings of buckets: %w", Unavailable(err))
	}
	return starts, nil
}

// positions are those of the chosen events of a span, in order. If there are too many to look at, they are a sample,
// each of which stands for weight events.
func (f Finder) positions(ctx context.Context, choice *chosen, within span) (found []int64, weight int64, err error) {
	if choice.whole || within.length() <= scanLimit {
		where, args := choice.where(within)
		found, err = f.positionsWhere(ctx, where, args)
		if err != nil || len(found) <= scanLimit {
			return found, 1, err
		}
	}
	weight = (within.length() + sampleSize - 1) / sampleSize
	var sample []int64
	for i := range within.length() / weight {
		// A position anywhere in its part: events that repeat at equal distances must not deceive the estimate.
		sample = append(sample, within.from+i*weight+i*2_654_435_761%weight)
	}
	where := strings.Join(append(slices.Clip(choice.parts), "e.position IN (?)"), " AND ")
	found, err = f.positionsWhere(ctx, where, append(slices.Clip(choice.args), bun.List(sample)))
	return found, weight, err
}

func (f Finder) positionsWhere(ctx context.Context, where string, args []any) (found []int64, err error) {
	err = database.ForEach(ctx, f.log.db, func(rows *sql.Rows) error {
		var position int64
		err := rows.Scan(&position)
		found = append(found, position)
		return err
	}, `
		SELECT e.position
		FROM events AS e
		WHERE `+where+`
		ORDER BY e.position
		LIMIT ?`, append(args, scanLimit+1)...)
	return found, err
}
