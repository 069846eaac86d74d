package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

var _ events.Inline = (*Knowledge)(nil)

// stages write every version that is to be written. Commands decide on the state of the active one. The
// secondary versions are read and written each under a savepoint: one that cannot be written any more is abandoned
// in the same transaction, and commands succeed all the same.
type stages []*stage

// Load implements [events.Inline]: it loads what the commands read, for every version that is
// written, and keeps the versions as they are until the transaction has ended. On PostgreSQL that is
// one round trip for a process that writes often. One that has not looked for a while looks first: the
// tables it knows may be gone.
func (p *Knowledge) Load(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first database.Batch) (events.Stage, error) {
	wants := collect(commands)
	known := p.versionSet.Load()
	if time.Since(known.readAt) > versionSetAge {
		known = &versionSet{}
	}
	for {
		all, entries, err := p.open(ctx, tx, tenant, wants, known, first)
		if err != nil {
			return nil, fmt.Errorf("load knowledge: %w", database.Classify(ctx, err))
		}
		first = nil // done
		isKnown := known.matches(entries)
		if known, err = p.newVersionSet(entries); err != nil {
			return nil, err
		}
		p.versionSet.Store(known)
		if isKnown {
			return all, nil
		}
	}
}

// open loads by what is known of the versions, and looks what they are.
func (p *Knowledge) open(ctx context.Context, tx bun.IDB, tenant string, w wanted, known *versionSet, first database.Batch) (stages, []entry, error) {
	var entries []entry
	reads := make([]read, 0, len(first)+4)
	for _, r := range first {
		reads = append(reads, readFor(r))
	}
	if p.db.Engine == database.Postgres {
		reads = append(reads, readNothing(tx.NewRaw(holdVersions)))
	}
	reads = append(reads, p.readVersionSet(func(e *entry) { entries = append(entries, *e) }))
	var all stages
	for _, v := range known.versions { // none, where they are not known yet
		s := newStage(ctx, p, v, tx, tenant)
		s.prepared = w.prepared
		all = append(all, s)
	}
	if len(all) > 0 {
		reads = append(reads, all[0].reads(w)...)
	}
	if err := p.readAll(ctx, tx, reads); err != nil {
		return all, entries, err
	}
	return all, entries, all.isolated(ctx, func(s *stage) error { return p.readAll(ctx, tx, s.reads(w)) })
}

// isolated does something for each secondary version under a savepoint. Where it fails the version has failed, and
// the transaction goes on as if it had not been tried.
func (all stages) isolated(ctx context.Context, do func(*stage) error) error {
	for _, s := range all[min(1, len(all)):] {
		if s.failed != nil {
			continue
		}
		if _, err := s.tx.ExecContext(ctx, "SAVEPOINT secondary"); err != nil {
			return err
		}
		err := database.Classify(ctx, do(s))
		if err != nil && isTransient(err) {
			return err
		}
		end := "RELEASE SAVEPOINT secondary"
		if s.failed = err; err != nil {
			end = "ROLLBACK TO SAVEPOINT secondary; " + end
		}
		if _, err := s.tx.ExecContext(ctx, end); err != nil {
			return err
		}
	}
	return nil
}

// isTransient tells whether an error says nothing about the version that was written.
func isTransient(err error) bool {
	transient := []error{database.ErrUnavailable, database.ErrFull, context.Canceled, context.DeadlineExceeded}
	return slices.ContainsFunc(transient, func(kind error) bool { return errors.Is(err, kind) })
}

// Knowledge implements [domain.DecisionContext].
func (all stages) Knowledge(id string) *domain.Knowledge { return all[0].Knowledge(id) }

// Holder implements [domain.DecisionContext].
func (all stages) Holder(uri string) string { return all[0].Holder(uri) }

// Apply implements [events.Stage].
func (all stages) Apply(event domain.Event) error {
	for i, s := range all {
		if s.failed != nil {
			continue
		}
		err := s.Apply(event)
		if err != nil && i == 0 {
			return fmt.Errorf("%s: %w", s.tables.knowledge, err)
		}
		s.failed = err
	}
	return nil
}

// Complete implements [events.Stage].
func (all stages) Complete() error {
	for i, s := range all {
		if s.failed != nil {
			continue
		}
		err := s.refoldRedacted()
		if err != nil && i == 0 {
			return fmt.Errorf("%s: %w", s.tables.knowledge, err)
		}
		s.failed = err
	}
	return nil
}

// Save implements [events.Stage].
func (all stages) Save(ctx context.Context, inserts *database.Script) error {
	active := all[0]
	statements := &script{engine: active.projection.db.Engine, Script: *inserts}
	if err := all.erase(ctx, statements); err != nil {
		return err
	}
	all.invalidateSummaries(statements)
	if err := active.write(statements); err != nil {
		return err
	}
	if len(all) == 1 {
		return statements.finish(ctx, active.tx)
	}
	if err := statements.run(ctx, active.tx); err != nil {
		return err
	}
	err := all.isolated(ctx, func(s *stage) error {
		part := &script{engine: statements.engine}
		if err := s.write(part); err != nil {
			return err
		}
		return part.run(ctx, s.tx)
	})
	if err != nil {
		return err
	}
	return all.abandonFailed(ctx)
}

// abandonFailed ends the writing of versions that failed.
func (all stages) abandonFailed(ctx context.Context) error {
	for _, s := range all[1:] {
		if s.failed == nil {
			continue
		}
		p := s.projection
		p.log.ErrorContext(ctx, "a secondary version cannot be written and is abandoned",
			"version", s.version.Version, "error", s.failed)
		state := stateFailed
		if s.version.State == stateDraining {
			state = stateRetired
		}
		query := abandonVersion(s.tx, s.version.entry, state, s.failed, database.At(p.now())).Where("state <> ?", stateActive)
		if _, err := query.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
