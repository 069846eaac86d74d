package projections

import (
	"context"

	"github.com/annals-kb/annals/events"
)

// repairStates computes again what is kept about streams of other things than knowledge (keys, sessions, rules for
// scrubbing) where it is not what the log says, if the rebuild is to repair. There is one version of that, so
// it is written where it is read.
func (r *Rebuilder) repairStates(ctx context.Context, v version) error {
	if v.Settings[settingRepair] == "" {
		return nil
	}
	p := r.knowledge
	tenants, err := tenantsWithStreams(ctx, p.db)
	if err != nil {
		return p.failed(ctx, "list tenants", err)
	}
	for _, tenant := range tenants {
		wrong, err := events.SnapshotOf(p.db).CheckStates(ctx, tenant)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			continue
		}
		if err := r.log.RepairStates(ctx, tenant, wrong); err != nil {
			return p.failed(ctx, "mend streams", err)
		}
		r.logger.WarnContext(ctx, "what was kept about streams was not what the log says, and is computed again",
			"tenant", tenant, "streams", len(wrong))
	}
	return nil
}
