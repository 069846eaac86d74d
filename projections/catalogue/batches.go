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
	// firstRows is how many it writes on SQLite before it knows how long that takes.
	firstRows = 2000
	// batchTime is how long such a transaction may take on SQLite, where everybody else's writes wait
	// for it, and givingWay how long while there are any, until this much was written and nobody waited. The longer
	// it is, the more items that lie far apart share the pages that it writes.
	batchTime = 200 * time.Millisecond
	givingWay = 10 * time.Millisecond
	aloneTime = 2 * time.Second
	// leastRows is how few rows it takes in any case: some milliseconds of a processor. On a busy machine
	// fewer would keep nobody waiting less, and each transaction has to wait for its turn.
	leastRows = 500
)

// Batches says how much a rebuild writes at once. On SQLite it finds out how many rows fit into the
// time, and lets one worker at a time ask for the database's turn, so that a write of somebody else
// never waits for two.
type Batches struct {
	writing    sync.Mutex
	Processors *Processors

	mu      sync.Mutex
	Limit   int           // rows, whatever the time; 0 for batchRows
	most    int           // rows; 0 for batchRows
	company time.Duration // how much more is to be written until nobody else seems to write
	longest time.Duration // that others have waited
}

// Rows is how many rows to write at once.
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

// Write lets write do its transaction, and learns from how long it says that it took, and from whether anybody waited
// for it, or it for anybody.
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
	if met && fitting < most { // at once
		most = fitting
	} else { // half way there: one transaction says little about the next
		most = (most + fitting) / 2
	}
	b.most = min(max(most, leastRows), cmp.Or(b.Limit, batchRows))
}

// WaitedFor is the longest that somebody else's write has waited for one of these transactions.
func (b *Batches) WaitedFor() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.longest
}

// Processors are shared by those who work at a rebuild on SQLite: one of them writes, and all others wait for that
// one in the end. Whoever writes is therefore not kept waiting for a processor by those who read and fold what is
// written next.
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

// Read waits until there is a processor for somebody who reads and folds, which is theirs until done is called.
func (p *Processors) Read() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.readers > 0 && p.readers >= p.left() {
		p.freed.Wait()
	}
	p.readers++
	return func() { p.change(func() { p.readers-- }) }
}

// left is for how many readers there are processors.
func (p *Processors) left() int {
	if p.writing {
		return runtime.GOMAXPROCS(0) - 1
	}
	return runtime.GOMAXPROCS(0)
}

// Write keeps a processor for the one who writes, until done is called.
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
