package servertest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/annals-kb/annals/domain"
)

// Recorder keeps in memory what callers were given. Its receipts are r1-1, r1-2 and so on.
type Recorder struct {
	mu  sync.Mutex
	all []domain.Given
}

// Recording is the configuration of a server with a [Recorder].
func Recording(_ *World, cfg *Config) { cfg.Recorder = &Recorder{} }

func (r *Recorder) Give(given domain.Given) (receipt string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, given)
	return fmt.Sprint("r1-", len(r.all))
}

// Given is what callers were given, oldest first.
func (r *Recorder) Given() []domain.Given {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Last is what a caller was given last; zero for nothing.
func (r *Recorder) Last() domain.Given {
	all := r.Given()
	if len(all) == 0 {
		return domain.Given{}
	}
	return all[len(all)-1]
}
