package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

var _ events.Inline = (*Knowledge)(nil)

// stages write every version that is to be written. Commands decide on the active one's state. What
// nobody reads keeps nobody from writing: a version beside the active one that cannot be written any
// more is given up, in the same transaction.
type stages []*stage

// Open implements [events.Inline]: it loads what the commands read, for every version that is
// written, and keeps the versions as they are until the transaction has ended. On PostgreSQL that is
// one round trip for a process that writes often. One that has not looked for a while looks first: the
// tables it knows may be gone.
func (p *Knowledge) Open(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first []events.Reading) (events.Stage, error) {
	wants := collect(commands)
	known := p.versionSet.Load()
	if time.Since(known.readAt) > versionSetAge {
		known = &versionSet{}
	}
	for {
		all, entries, err := p.open(ctx, tx, tenant, wants, known, first)
		if err != nil {
			return nil, fmt.Errorf("load knowledge: %w", p.takeCare(ctx, len(known.versions), err))
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
func (p *Knowledge) open(ctx context.Context, tx bun.IDB, tenant string, w wanted, known *versionSet, first []events.Reading) (stages, []entry, error) {
	var entries []entry
	reads := make([]read, 0, len(first)+4)
	for _, r := range first {
		reads = append(reads, readFor(r))
	}
	if p.db.Engine == database.Postgres {
		reads = append(reads, readNothing(tx.NewRaw(holdVersions)))
	}
	reads = append(reads, p.readVersionSet(func(e *entry) { entries = append(entries, *e) }))
	careful := p.careful()
	var all stages
	for i, v := range known.versions {
		s := newStage(ctx, p, v, tx, tenant)
		s.prepared = w.prepared
		all = append(all, s)
		if i > 0 && (careful || v.unsupported) {
			continue
		}
		reads = append(reads, s.reads(w)...)
	}
	if err := p.readAll(ctx, tx, reads); err != nil || !careful || len(all) == 0 { // none: they are not known yet
		return all, entries, err
	}
	return all, entries, all.beside(ctx, func(s *stage) error { return p.readAll(ctx, tx, s.reads(w)) })
}

// Knowledge implements [domain.Book].
func (all stages) Knowledge(id string) *domain.Knowledge { return all[0].Knowledge(id) }

// Holder implements [domain.Book].
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

// Settle implements [events.Stage].
func (all stages) Settle() error {
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

// Flush implements [events.Stage].
func (all stages) Flush(ctx context.Context, inserts *database.Script) error {
	active, careful := all[0], all[0].projection.careful()
	engine := active.projection.db.Engine
	statements := &script{engine: engine, Script: *inserts}
	if err := all.erase(ctx, statements); err != nil {
		return err
	}
	all.invalidateSummaries(statements)
	if err := active.write(statements); err != nil {
		return err
	}
	for _, s := range all[1:] {
		if s.failed != nil || careful {
			continue
		}
		part := &script{engine: engine}
		if s.failed = s.write(part); s.failed == nil {
			statements.Append(&part.Script)
		}
	}
	if len(all) == 1 {
		return statements.finish(ctx, active.tx)
	}
	if err := active.projection.takeCare(ctx, len(all), statements.run(ctx, active.tx)); err != nil {
		return err
	}
	if careful {
		if err := all.beside(ctx, func(s *stage) error { return s.flush(ctx) }); err != nil {
			return err
		}
	}
	return all.abandonFailed(ctx)
}
