package http

import (
	"cmp"
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
)

// How long a read waits for min_position, and at most.
const (
	usualWait   = 5 * time.Second
	longestWait = 25
)

// await waits, if the caller asks for it, until the answer is as new as min_position, which is the
// Annals-Position of a write: what is written with the log always is, and a search needs the vectors. The
// header says the same as the parameter.
func (s *Server) await(ctx context.Context, c *call, position, wait integer, search bool) error {
	const header = "Annals-Min-Position"
	var found domain.Problems
	wanted := position.read(&found, "min_position", 0, endless)
	if position == "" {
		wanted = integer(c.request.Header.Get(header)).read(&found, header, 0, endless)
	}
	patience := cmp.Or(time.Duration(wait.read(&found, "max_wait", 1, longestWait))*time.Second, usualWait)
	if err := merge(c.found, found.Err()); err != nil || wanted == 0 {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.cfg.Reader.Await(waiting, c.principal.Tenant, wanted, search)
}
