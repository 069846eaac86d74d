package projections

import (
	"runtime"
	"sync"
)

// processors are shared by those who work at a rebuild on SQLite: one of them writes, and all others wait for that
// one in the end. Whoever writes is therefore not kept waiting for a processor by those who read and fold what is
// written next.
type processors struct {
	mu      sync.Mutex
	freed   *sync.Cond
	readers int
	writing bool
}

func newProcessors() *processors {
	p := &processors{}
	p.freed = sync.NewCond(&p.mu)
	return p
}

// read does the work of somebody who reads and folds, as soon as there is a processor left for that.
func (p *processors) read(do func()) {
	p.mu.Lock()
	for p.readers > 0 && p.readers >= p.left() {
		p.freed.Wait()
	}
	p.readers++
	p.mu.Unlock()
	defer p.change(func() { p.readers-- })
	do()
}

// left is for how many readers there are processors.
func (p *processors) left() int {
	if p.writing {
		return runtime.GOMAXPROCS(0) - 1
	}
	return runtime.GOMAXPROCS(0)
}

// write does the work of the one who writes.
func (p *processors) write(do func()) {
	p.change(func() { p.writing = true })
	defer p.change(func() { p.writing = false })
	do()
}

func (p *processors) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.freed.Broadcast()
}
