package proof

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// finishing bounds how long the end may take that a process makes: what is not signed then is signed after the
// next start.
const finishing = 5 * time.Second

// Finish signs what nobody has signed yet, when the log of this process has been closed: nobody knows when the next
// one starts. If another process works on the tree, that one signs.
func (p *Prover) Finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finishing)
	defer cancel()
	lease, err := p.log.Lease(ctx, Name)
	if err == nil && (!lease.Held() || lease.Holder == p.db.InstanceID) {
		err = p.finishAll(ctx)
	}
	if err != nil {
		p.options.Logger.WarnContext(ctx, "the newest events were not signed; they are after the next start", "error", err)
	}
}

func (p *Prover) finishAll(ctx context.Context) error {
	tenants, err := p.log.Tenants(ctx)
	for _, tenant := range tenants {
		head, _, refused := p.log.Head(ctx, tenant)
		if refused == nil && head > 0 {
			_, refused = p.sign(ctx, tenant, head)
		}
		if refused != nil {
			err = errors.Join(err, fmt.Errorf("tenant %s: %w", tenant, refused))
		}
	}
	return err
}
