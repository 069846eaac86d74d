package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/knowledge"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	// catchUpPage is how many events one transaction reads.
	catchUpPage = 500
	// restEvents is how many events may be left when appends have to wait.
	restEvents = 500
)

// errBehind means that too many events are left for appends to wait.
var errBehind = errors.New("behind")

// catchUp reads what was appended since the load began, by the code of live appends, until appends can wait for the
// rest. From then on appends write the version, too.
func (r *Rebuilder) catchUp(ctx context.Context, now *run) error {
	p, v := r.Versions, now.version
	for {
		if err := r.follow(ctx, now); err != nil {
			return err
		}
		err := p.exclusively(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			logs, behind, err := ahead(ctx, tx, v)
			if err == nil && behind > restEvents {
				err = errBehind
			}
			if err != nil {
				return err
			}
			for _, log := range logs {
				for taken := int64(0); taken < log.Events(); {
					n, err := r.takePage(ctx, tx, v, log.Tenant)
					if err != nil {
						return err
					}
					taken += int64(n)
				}
			}
			return p.advance(ctx, tx, v, catalogue.StateCatching, catalogue.StateVerifying)
		})
		if !errors.Is(err, errBehind) {
			return err
		}
	}
}

// follow reads events, page by page, until at most restEvents are left.
func (r *Rebuilder) follow(ctx context.Context, now *run) error {
	for {
		logs, behind, err := ahead(ctx, r.Versions.DB, now.version)
		if err != nil {
			return err
		}
		now.note(func(p *domain.RebuildProgress) { p.Behind = behind })
		if behind <= restEvents {
			return nil
		}
		for _, log := range logs {
			for taken := int64(0); taken < log.Events(); {
				n := 0
				err := r.Versions.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
					n, err = r.takePage(ctx, tx, now.version, log.Tenant)
					return err
				})
				if err != nil {
					return err
				}
				taken += int64(n)
				now.note(func(p *domain.RebuildProgress) { p.Events += int64(n); p.Behind -= int64(n) })
			}
		}
	}
}

// ahead is what a version must still read, and how many events that is.
func ahead(ctx context.Context, tx bun.IDB, v catalogue.Version) (list []events.Ahead, behind int64, err error) {
	list, err = events.SnapshotOf(tx).Ahead(ctx, v.Checkpoint())
	for _, log := range list {
		behind += log.Events()
	}
	return list, behind, err
}

// takePage folds the next page of a tenant's log into a version's tables.
func (r *Rebuilder) takePage(ctx context.Context, tx bun.IDB, v catalogue.Version, tenant string) (int, error) {
	if _, err := events.ShareTexts(ctx, tx, tenant); err != nil {
		return 0, err
	}
	page := follow.Page{Tenant: tenant}
	var err error
	if page.After, page.AfterID, err = holdCheckpoint(ctx, tx, r.Versions.DB.Engine, v, tenant); err != nil {
		return 0, err
	}
	if page.Events, err = r.log.Reader.Read(ctx, tenant, page.After, catchUpPage); err != nil {
		return 0, err
	}
	if len(page.Events) == 0 {
		return 0, fmt.Errorf("nothing follows position %d of tenant %s: %w", page.After, tenant, events.ErrHole)
	}
	p := r.Versions
	s := knowledge.NewStage(ctx, p.Catalogue, v, tx, tenant)
	if touched := touchedBy(page.Events); len(touched.Items) > 0 {
		if err := s.Reads(touched).Run(ctx, tx); err != nil {
			return 0, fmt.Errorf("load knowledge: %w", err)
		}
	}
	for _, event := range page.Events {
		if err := s.Apply(event); err != nil {
			return 0, fmt.Errorf("position %d of tenant %s, %s: %w", event.Position, tenant, event.Stream, err)
		}
	}
	script := &rows.Script{Engine: r.Versions.DB.Engine}
	if err := s.Write(script); err != nil {
		return 0, err
	}
	if err := script.Execute(ctx, tx); err != nil {
		return 0, err
	}
	return len(page.Events), r.followers.Advance(ctx, tx, v.Checkpoint(), page)
}

// holdCheckpoint reads and locks a version's checkpoint until the transaction ends. A transaction whose COMMIT was
// not answered may still be running.
func holdCheckpoint(
	ctx context.Context, tx bun.IDB, engine database.Engine, v catalogue.Version, tenant string,
) (position int64, eventID string, err error) {
	query := "SELECT position, event_id FROM checkpoints WHERE projection = ? AND tenant = ?"
	if engine == database.Postgres {
		query += " FOR UPDATE"
	}
	err = tx.NewRaw(query, v.Checkpoint(), tenant).Scan(ctx, &position, &eventID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, "", database.Classify(ctx, err)
	}
	return position, eventID, nil
}

// touchedBy is what folding events reads, as collect is for commands.
func touchedBy(page []domain.Event) knowledge.Wanted {
	var w knowledge.Wanted
	items, reports := rows.Set{}, rows.Set{}
	for _, event := range page {
		id, found := domain.ItemOf(event.Stream)
		if !found {
			continue
		}
		items.Add(&w.Items, id)
		switch f := event.Fact.(type) {
		case domain.FoundHelpful:
			w.Voters = append(w.Voters, []string{id, string(f.Voter)})
		case domain.FoundHarmful:
			w.Voters = append(w.Voters, []string{id, string(f.Voter)})
		case domain.ReportedStale, domain.Confirmed:
			reports.Add(&w.Reports, id)
		}
	}
	return w
}
