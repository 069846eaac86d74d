package receipts

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// The digest of an item's stream is a chain over the hashes of its events: 32 zero bytes at first, and then the SHA-256
// of the digest before and the hash of the next event. A hash covers a commitment to the event's text, so the digest of
// a version says what the item said then. It reveals nothing once the text is erased, and stays the same.

// history is the digest of a stream up to a version.
type history = [sha256.Size]byte

func next(before history, hash []byte) history {
	return sha256.Sum256(append(before[:], hash...))
}

// revision is a version of an item.
type revision struct {
	tenant  string
	number  int64
	version int64
}

// histories are the newest known digests of items.
type histories map[revision]knownHistory // with version 0

type knownHistory struct {
	version int64
	digest  history
}

// mostHistories limits what is kept in memory: a hundred bytes each.
const mostHistories = 100_000

// of are the digests of revisions of one tenant. A revision that the log does not have is missing.
func (h histories) of(
	ctx context.Context, db database.Querier, tenant string, wanted map[revision]bool,
) (map[revision]history, error) {
	found := make(map[revision]history, len(wanted))
	var asked [][]int64 // number, after, up to
	var from []knownHistory
	for w := range wanted {
		known := h[revision{tenant, w.number, 0}]
		if known.version == w.version {
			found[w] = known.digest
			continue
		}
		if known.version > w.version {
			known = knownHistory{}
		}
		asked, from = append(asked, []int64{w.number, known.version, w.version}), append(from, known)
	}
	if len(asked) == 0 {
		return found, nil
	}
	at := make(map[revision]*knownHistory, len(asked))
	for i, a := range asked {
		at[revision{tenant, a[0], a[2]}] = &from[i]
	}
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		var number, upTo, version int64
		var hash []byte
		if err := rows.Scan(&number, &upTo, &version, &hash); err != nil {
			return err
		}
		if known := at[revision{tenant, number, upTo}]; version == known.version+1 {
			known.version, known.digest = version, next(known.digest, hash)
		}
		return nil
	}, `
		SELECT w.number, w.up_to, e.version, e.hash
		FROM (SELECT column1 AS number, column2 AS after, column3 AS up_to FROM (VALUES ?) AS listed) AS w
		JOIN events AS f ON f.tenant = ? AND f.position = w.number
		JOIN events AS e ON e.tenant = ? AND e.stream = f.stream AND e.version > w.after AND e.version <= w.up_to
		ORDER BY w.number, w.up_to, e.version`, rows.Tuples(asked), tenant, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the hashes of items: %w", events.Unavailable(err))
	}
	if len(h) > mostHistories {
		clear(h)
	}
	for w, known := range at {
		if known.version != w.version {
			continue
		}
		found[w] = known.digest
		if name := (revision{tenant, w.number, 0}); h[name].version < w.version {
			h[name] = *known
		}
	}
	return found, nil
}
