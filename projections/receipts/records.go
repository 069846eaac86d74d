package receipts

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Records are the events of an item as they are stored, with the texts that still exist.
func (r *Receipts) Records(ctx context.Context, tenant, id string) ([]events.Record, error) {
	const all = 1 << 62
	return r.log.Reader.StreamRecords(ctx, tenant, domain.KnowledgeStream(id), all)
}
