package serve

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// releasedBefore is why a hold ends of what was erased after it.
const releasedBefore = "released_before_erasure"

// release ends a legal hold that a backup still has, and that was over when the thing was erased: nothing is erased
// that is held. A hold that came after that, where the backup was in use without the list, is one, and stays.
func (e Erasure) release(ctx context.Context, log *events.Log, erasing domain.Submission) error {
	id, isItem := domain.ItemOf(e.Stream)
	if !isItem {
		return nil
	}
	history, err := log.Stream(ctx, e.Tenant, e.Stream)
	if err != nil {
		return err
	}
	for _, event := range history {
		if _, held := event.Fact.(domain.Held); held && event.RecordedAt.After(e.RecordedAt) {
			return nil
		}
	}
	_, err = log.Submit(ctx, domain.Submission{
		By: erasing.By, Origin: erasing.Origin,
		Command: domain.Release{Target: domain.Target{By: erasing.By, ID: id}, ReasonCode: releasedBefore, Ticket: e.Ticket},
	})
	return err
}
