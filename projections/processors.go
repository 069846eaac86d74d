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

// read waits until there is a processor for somebody who reads and folds, which is theirs until done is called.
func (p *processors) read() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.readers > 0 && p.readers >= p.left() {
		p.freed.Wait()
	}
	p.readers++
	return func() { p.change(func() { p.readers-- }) }
}

// left is for how many readers there are processors.
func (p *processors) left() int {
	if p.writing {
		return runtime.GOMAXPROCS(0) - 1
	}
	return runtime.GOMAXPROCS(0)
}

// write keeps a processor for the one who writes, until done is called.
func (p *processors) write() (done func()) {
	p.change(func() { p.writing = true })
	return func() { p.change(func() { p.writing = false }) }
}

func (p *processors) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.freed.Broadcast()
}
