package projections

import (
	"cmp"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
)

const (
	// batchRows is how many rows a rebuild's worker holds in memory and writes in one transaction.
	batchRows = 20_000
	// firstRows is how many it writes on SQLite before it knows how long that takes.
	firstRows = 2000
	// batchTime is how long such a transaction may take on SQLite, where everybody else's writes wait
	// for it, and givingWay how long while there are any, until this much was written and nobody waited. The longer
	// it is, the more items that lie far apart share the pages that it writes.
	batchTime = 200 * time.Millisecond
	givingWay = 10 * time.Millisecond
	alone     = 2 * time.Second
	// leastRows is how few rows it takes in any case: some milliseconds of a processor. On a busy machine
	// fewer would keep nobody waiting less, and each transaction has to wait for its turn.
	leastRows = 500
)

// batches says how much a rebuild writes at once. On SQLite it finds out how many rows fit into the
// time, and lets one worker at a time ask for the database's turn, so that a write of somebody else
// never waits for two.
type batches struct {
	writing    sync.Mutex
	processors *processors

	mu      sync.Mutex
	limit   int           // rows, whatever the time; 0 for batchRows
	most    int           // rows; 0 for batchRows
	company time.Duration // how much more is to be written until nobody else seems to write
	longest time.Duration // that others have waited
}

// rows is how many rows to write at once.
func (b *batches) rows() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(cmp.Or(b.most, batchRows), cmp.Or(b.limit, batchRows))
}

// paced are batches that begin small on SQLite.
func paced(engine database.Engine) *batches {
	if engine != database.SQLite {
		return &batches{processors: newProcessors()}
	}
	return &batches{processors: newProcessors(), most: firstRows}
}

// write lets write do its transaction, and learns from how long it says that it took, and from whether anybody waited
// for it, or it for anybody.
func (b *batches) write(db *database.DB, rows int, write func() (took time.Duration, err error)) error {
	if db.Engine != database.SQLite {
		_, err := write()
		return err
	}
	b.writing.Lock()
	waits := db.Waits()
	done := b.processors.write()
	took, err := write()
	done()
	met := db.Waits() != waits
	b.writing.Unlock()
	if err == nil && rows > 0 && took > 0 {
		b.learn(rows, took, met)
	}
	return err
}

func (b *batches) learn(rows int, took time.Duration, met bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.company = max(0, b.company-took)
	if met {
		b.company = alone
		b.longest = max(b.longest, took)
	}
	goal := batchTime
	if b.company > 0 {
		goal = givingWay
	}
	fitting := int(float64(rows) * float64(goal) / float64(took))
	most := b.most
	if most == 0 {
		most = rows
	}
	if met && fitting < most { // at once
		most = fitting
	} else { // half way there: one transaction says little about the next
		most = (most + fitting) / 2
	}
	b.most = min(max(most, leastRows), cmp.Or(b.limit, batchRows))
}

// waitedFor is the longest that somebody else's write has waited for one of these transactions.
func (b *batches) waitedFor() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.longest
}
