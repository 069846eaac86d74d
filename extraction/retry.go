package extraction

import (
	"context"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// betweenRetries is how often failed archives are looked for.
const betweenRetries = time.Minute

// Retry asks to try archives again of which nothing could be made, at growing intervals, until ctx ends. What asks for it is
// recorded, so that any server can do it.
func (w *Worker) Retry(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.RetryDue(ctx); err != nil && ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "failed archives were not looked for; that is tried again", "error", err, "after", betweenRetries.String())
		}
		select {
		case <-time.After(betweenRetries):
		case <-ctx.Done():
		}
	}
}

// RetryDue asks once for all archives, of every tenant, that it is time to try again.
func (w *Worker) RetryDue(ctx context.Context) error {
	tenants, err := w.Log.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if err := w.retryIn(database.ForTenant(ctx, tenant), tenant); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) retryIn(ctx context.Context, tenant string) error {
	now := w.Now()
	failures, err := w.Log.ExtractionFailures(ctx, tenant, now.Add(-domain.MaxRetryPeriod))
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	for _, event := range failures {
		if asked[event.Stream] {
			continue
		}
		asked[event.Stream] = true
		stream, err := w.Log.State(ctx, tenant, event.Stream)
		if err != nil {
			return err
		}
		if session, is := stream.State.(domain.Session); is && session.Due(now) {
			if err := w.ask(ctx, tenant, event.Stream); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks for what is due of a session. A refusal says that somebody was faster, or that the session is gone.
func (w *Worker) ask(ctx context.Context, tenant, stream string) error {
	owner, id, _ := domain.SessionOf(stream)
	by := assignment{tenant: tenant, owner: owner}.by()
	_, err := w.Writer.Submit(ctx, domain.Submission{
		Command: domain.RetryExtraction{SessionTarget: domain.SessionTarget{By: by, Owner: owner, ID: id}, OnlyDue: true}, By: by,
	})
	if refused(err) {
		return nil
	}
	return err
}
