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

// stages write every version that is to be written. Commands decide on the active one's state.
type stages []*stage

// Open implements [events.Inline]: it loads what the commands read, for every version that is
// written, and keeps the versions as they are until the transaction has ended. On PostgreSQL that is
// one round trip for a process that writes often. One that has not looked for a while looks first: the
// tables it knows may be gone.
func (p *Knowledge) Open(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command) (events.Stage, error) {
	wants := collect(commands)
	known := p.lineup.Load()
	if time.Since(known.seen) > lineupAge {
		known = &lineup{}
	}
	for {
		all, entries, err := p.open(ctx, tx, tenant, wants, known)
		if err != nil {
			return nil, fmt.Errorf("load knowledge: %w", err)
		}
		isKnown := known.same(entries)
		if known, err = p.assemble(entries); err != nil {
			return nil, err
		}
		p.lineup.Store(known)
		if isKnown {
			return all, nil
		}
	}
}

// open loads by what is known of the versions, and looks what they are.
func (p *Knowledge) open(ctx context.Context, tx bun.IDB, tenant string, w wanted, known *lineup) (stages, []entry, error) {
	var entries []entry
	reads := []read{
		readEach(tx.NewRaw(lineupQuery, bun.List(writtenStates)), func(e *entry) { entries = append(entries, *e) }),
	}
	if p.db.Engine == database.Postgres {
		reads = append([]read{readNothing(tx.NewRaw(holdVersions))}, reads...)
	}
	var all stages
	for _, v := range known.versions {
		s := newStage(ctx, p, v, tx, tenant)
		all = append(all, s)
		reads = append(reads, s.reads(w)...)
	}
	return all, entries, p.readAll(ctx, tx, reads)
}

// Knowledge implements [domain.Book].
func (all stages) Knowledge(id string) *domain.Knowledge { return all[0].Knowledge(id) }

// Holder implements [domain.Book].
func (all stages) Holder(uri string) string { return all[0].Holder(uri) }

// Apply implements [events.Stage].
func (all stages) Apply(event domain.Event) error {
	for _, s := range all {
		if err := s.Apply(event); err != nil {
			return fmt.Errorf("%s: %w", s.tables.knowledge, err)
		}
	}
	return nil
}

// Flush implements [events.Stage].
func (all stages) Flush(ctx context.Context) error {
	script := &script{engine: all[0].projection.db.Engine}
	for _, s := range all {
		if err := s.write(script); err != nil {
			return err
		}
	}
	return script.run(ctx, all[0].tx)
}
