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
	// batchTime is how long such a transaction may take on SQLite, where everybody else's writes wait
	// for it.
	batchTime = 40 * time.Millisecond
	// leastRows is how few rows it takes in any case: some ten milliseconds of a processor. On a busy machine
	// fewer would keep nobody waiting less, and each transaction has to wait for its turn.
	leastRows = 1000
)

// batches says how much a rebuild writes at once. On SQLite it finds out how many rows fit into the
// time, and lets one worker at a time ask for the database's turn, so that a write of somebody else
// never waits for two.
type batches struct {
	writing sync.Mutex

	mu      sync.Mutex
	limit   int           // rows, whatever the time; 0 for batchRows
	most    int           // rows
	longest time.Duration // that others waited
}

// rows is how many rows to write at once.
func (b *batches) rows() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.most, b.limit, batchRows)
}

// write lets write do its transaction, and learns from how long it says that others waited.
func (b *batches) write(engine database.Engine, rows int, write func() (waited time.Duration, err error)) error {
	if engine != database.SQLite {
		_, err := write()
		return err
	}
	b.writing.Lock()
	waited, err := write()
	b.writing.Unlock()
	if err == nil && rows > 0 && waited > 0 {
		b.learn(rows, waited)
	}
	return err
}

func (b *batches) learn(rows int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.longest = max(b.longest, took)
	fitting := int(float64(rows) * float64(batchTime) / float64(took))
	// Half way there: one slow transaction says little about the next.
	most := b.most
	if most == 0 {
		most = rows
	}
	b.most = min(max((most+fitting)/2, leastRows), cmp.Or(b.limit, batchRows))
}
