package catalogue

import (
	"cmp"
	"runtime"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
)

const (
	// batchRows is how many rows a rebuild's worker holds in memory and writes in one transaction.
	batchRows = 20_000
	// firstRows is how many it writes first on SQLite, before it has measured the time.
	firstRows = 2000
	// batchTime is how long such a transaction may take on SQLite, where all other writes wait for it. It is givingWay
	// instead while there are other writes: until the rebuild has written for aloneTime without any. In a longer
	// transaction more items share the pages that it writes.
	batchTime = 200 * time.Millisecond
	givingWay = 10 * time.Millisecond
	aloneTime = 2 * time.Second
	// leastRows is how few rows it writes in any case: some milliseconds of a processor. Fewer would not shorten the
	// waits of others on a busy machine, and each transaction must wait for its turn.
	leastRows = 500
)

// Batches sets how many rows a rebuild writes per transaction. On SQLite it measures how many fit into the time. Only
// one worker at a time takes the database's write lock, so that another writer never waits for two.
type Batches struct {
	writing    sync.Mutex
	Processors *Processors

	mu      sync.Mutex
	Limit   int           // rows, whatever the time; 0 for batchRows
	most    int           // rows that fit into the time; 0 for batchRows
	company time.Duration // time to write before other writes count as over
	longest time.Duration // that another write waited
}

// Rows is how many rows to write in the next transaction.
func (b *Batches) Rows() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(cmp.Or(b.most, batchRows), cmp.Or(b.Limit, batchRows))
}

// NewBatches are batches that begin small on SQLite.
func NewBatches(engine database.Engine) *Batches {
	if engine != database.SQLite {
		return &Batches{Processors: newProcessors()}
	}
	return &Batches{Processors: newProcessors(), most: firstRows}
}

// Write calls write, which writes a transaction and returns how long it took. It adapts the batch size to that time,
// and to whether another write waited for the transaction or the reverse.
func (b *Batches) Write(db *database.DB, rows int, write func() (took time.Duration, err error)) error {
	if db.Engine != database.SQLite {
		_, err := write()
		return err
	}
	b.writing.Lock()
	waits := db.Waits()
	done := b.Processors.Write()
	took, err := write()
	done()
	met := db.Waits() != waits
	b.writing.Unlock()
	if err == nil && rows > 0 && took > 0 {
		b.learn(rows, took, met)
	}
	return err
}

func (b *Batches) learn(rows int, took time.Duration, met bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.company = max(0, b.company-took)
	if met {
		b.company = aloneTime
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
	if met && fitting < most { // at once: another write waits
		most = fitting
	} else { // half way: one transaction says little about the next
		most = (most + fitting) / 2
	}
	b.most = min(max(most, leastRows), cmp.Or(b.Limit, batchRows))
}

// WaitedFor is the longest time that another write waited for one of these transactions.
func (b *Batches) WaitedFor() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.longest
}

// Processors shares the processors among the workers of a rebuild on SQLite. One worker writes, and in the end all
// others wait for it. It therefore gets a processor before those that read and fold what is written next.
type Processors struct {
	mu      sync.Mutex
	freed   *sync.Cond
	readers int
	writing bool
}

func newProcessors() *Processors {
	p := &Processors{}
	p.freed = sync.NewCond(&p.mu)
	return p
}

// Read waits for a processor for a worker that reads and folds; the worker has it until it calls done.
func (p *Processors) Read() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.readers > 0 && p.readers >= p.left() {
		p.freed.Wait()
	}
	p.readers++
	return func() { p.change(func() { p.readers-- }) }
}

// left is how many readers there are processors for.
func (p *Processors) left() int {
	if p.writing {
		return runtime.GOMAXPROCS(0) - 1
	}
	return runtime.GOMAXPROCS(0)
}

// Write reserves a processor for the worker that writes, until it calls done.
func (p *Processors) Write() (done func()) {
	p.change(func() { p.writing = true })
	return func() { p.change(func() { p.writing = false }) }
}

func (p *Processors) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.freed.Broadcast()
}
