package visible

import (
	"cmp"
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// Waiting are the parameters of reads that can wait for a write.
type Waiting struct {
	MinPosition serve.Integer `query:"min_position" doc:"Wait until the answer is as new as this position of the log, the Annals-Position of a write; also as the header Annals-Min-Position. 503 if that takes too long."`
	MaxWait     serve.Integer `query:"max_wait" doc:"How many seconds to wait for min_position: 1 to 25; 5 if left out."`
}

// The default and the longest time that a read waits for min_position.
const (
	usualWait   = 5 * time.Second
	longestWait = 25
)

// Await waits until the answer is as new as min_position, if the caller sent it. Its value is the Annals-Position of
// a write. A search waits for the vectors, too. The header has the same meaning as the parameter.
func (s Items) Await(ctx context.Context, c *serve.Call, in Waiting, search bool) error {
	const header = "Annals-Min-Position"
	var found domain.Problems
	wanted := in.MinPosition.Read(&found, "min_position", 0, serve.NoLimit)
	if in.MinPosition == "" {
		wanted = serve.Integer(c.Request.Header.Get(header)).Read(&found, header, 0, serve.NoLimit)
	}
	patience := cmp.Or(time.Duration(in.MaxWait.Read(&found, "max_wait", 1, longestWait))*time.Second, usualWait)
	if err := serve.Merge(c.Found, found.Err()); err != nil || wanted == 0 {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.Progress.Await(waiting, c.Principal.Tenant, wanted, search)
}

// Resolve resolves a time or a position of the past; the zero value for now.
func (s Events) Resolve(ctx context.Context, c *serve.Call, at domain.AsOf) (domain.AsOf, error) {
	if at.IsNow() {
		return at, nil
	}
	return s.Finder.Resolve(ctx, c.Principal.Tenant, at)
}
