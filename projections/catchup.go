package projections

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// catchUpPage is how many events are taken in at once, and how many may be left for the moment in
// which appends wait.
const catchUpPage = 500

// catchUp reads what came since the load began, by the code that live appends go through, until so
// little is left that appends can wait for it. From then on they write the version, too.
func (r *Rebuilder) catchUp(ctx context.Context, now *run) error {
	for {
		behind, err := r.follow(ctx, now)
		if err != nil {
			return err
		}
		now.note(func(p *domain.RebuildProgress) { p.Behind = behind })
		if behind == 0 {
			break
		}
	}
	p, v := r.knowledge, now.version
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockVersions(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		if err := r.takeRest(ctx, tx, v); err != nil {
			return err
		}
		return p.advance(ctx, tx, v, stateCatching, stateVerifying)
	})
}

// follow takes in the pages that are there, tenant by tenant, and says how many events came meanwhile.
func (r *Rebuilder) follow(ctx context.Context, now *run) (taken int64, err error) {
	tenants, err := r.log.Tenants(ctx)
	if err != nil {
		return 0, err
	}
	for _, tenant := range tenants {
		for {
			var n int
			err := r.knowledge.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
				n, err = r.takePage(ctx, tx, now.version, tenant)
				return err
			})
			if err != nil {
				return taken, err
			}
			if n < catchUpPage {
				break // the rest is little enough for the last step
			}
			taken += int64(n)
			now.note(func(p *domain.RebuildProgress) { p.Events += int64(n) })
		}
	}
	return taken, nil
}

// takeRest takes in everything there is, while no append can come.
func (r *Rebuilder) takeRest(ctx context.Context, tx bun.IDB, v version) error {
	tenants, err := r.log.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		for n := 1; n > 0; {
			if n, err = r.takePage(ctx, tx, v, tenant); err != nil {
				return err
			}
		}
	}
	return nil
}

// takePage folds the next page of a tenant's log into a version's tables.
func (r *Rebuilder) takePage(ctx context.Context, tx bun.IDB, v version, tenant string) (int, error) {
	page, err := r.nextPage(ctx, tx, v, tenant)
	if err != nil || len(page.Events) == 0 {
		return 0, err
	}
	p := r.knowledge
	s := newStage(ctx, p, v, tx, tenant)
	if err := p.readAll(ctx, tx, s.reads(touchedBy(page.Events))); err != nil {
		return 0, fmt.Errorf("load knowledge: %w", err)
	}
	for _, event := range page.Events {
		if err := s.Apply(event); err != nil {
			return 0, fmt.Errorf("position %d of tenant %s: %w", event.Position, tenant, err)
		}
	}
	script := &script{}
	if err := s.write(script); err != nil {
		return 0, err
	}
	if err := script.run(ctx, tx); err != nil {
		return 0, err
	}
	return len(page.Events), r.log.Advance(ctx, tx, v.checkpoint(), page)
}

// nextPage reads on from a version's checkpoint.
func (r *Rebuilder) nextPage(ctx context.Context, tx bun.IDB, v version, tenant string) (events.Page, error) {
	page := events.Page{Tenant: tenant}
	var found []struct {
		Position int64  `bun:"position"`
		EventID  string `bun:"event_id"`
	}
	err := tx.NewRaw("SELECT position, event_id FROM checkpoints WHERE projection = ? AND tenant = ?", v.checkpoint(), tenant).
		Scan(ctx, &found)
	if err != nil {
		return page, database.Classify(ctx, err)
	}
	if len(found) > 0 {
		page.After, page.AfterID = found[0].Position, found[0].EventID
	}
	page.Events, err = r.log.Read(ctx, tenant, page.After, catchUpPage)
	return page, err
}

// touchedBy is what folding events reads, as [collect] is for commands.
func touchedBy(page []domain.Event) wanted {
	var w wanted
	items, reports := set{}, set{}
	for _, event := range page {
		id, found := knowledgeID(event.Stream)
		if !found {
			continue
		}
		items.add(&w.items, id)
		switch f := event.Fact.(type) {
		case domain.FoundHelpful:
			w.votes = appendVote(w.votes, f.Replaces)
		case domain.FoundHarmful:
			w.votes = appendVote(w.votes, f.Replaces)
		case domain.FeedbackRetracted:
			w.votes = appendVote(w.votes, f.Vote)
		case domain.ReportedStale, domain.Confirmed:
			reports.add(&w.reports, id)
		}
	}
	return w
}

func appendVote(votes []string, eventID string) []string {
	if eventID == "" {
		return votes
	}
	return append(votes, eventID)
}
