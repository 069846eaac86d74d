package rebuild

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
)

// Each change of a projection is an event of the stream projection:NAME in the log of [domain.SystemTenant]. It is
// written in the transaction of the change. Its actor is the caller, or else the server.

// record records facts, except those that are recorded already.
func (p *Versions) record(ctx context.Context, tx bun.IDB, facts ...domain.Fact) error {
	log := p.history.Load()
	if log == nil || len(facts) == 0 {
		return nil
	}
	by, origin := domain.CallerOf(ctx)
	by.Tenant = domain.SystemTenant
	_, err := log.AppendIn(ctx, tx, domain.Submission{
		By: by, Origin: origin, Command: domain.RecordProjection{Projection: catalogue.KnowledgeName, Facts: facts},
	})
	return err
}

// version is a version's entry in the catalogue.
func (p *Versions) version(ctx context.Context, tx bun.IDB, number int) (v catalogue.Listed, err error) {
	err = tx.NewSelect().Model(&v).Where("name = ?", catalogue.KnowledgeName).Where("version = ?", number).Scan(ctx)
	return v, err
}

// recordMove records that a version has moved from one state to another. was is its entry before.
func (p *Versions) recordMove(ctx context.Context, tx bun.IDB, was catalogue.Listed, to string) error {
	if p.history.Load() == nil {
		return nil
	}
	facts, err := p.moved(ctx, tx, was, to)
	if err != nil {
		return fmt.Errorf("record that version %d is %s: %w", was.Version, to, err)
	}
	return p.record(ctx, tx, facts...)
}

func (p *Versions) moved(ctx context.Context, tx bun.IDB, was catalogue.Listed, to string) ([]domain.Fact, error) {
	number := was.Version
	took := max(0, p.Now().Sub(was.UpdatedAt.Time)).Round(time.Microsecond)
	switch {
	case to == catalogue.StateCatching:
		loaded := domain.ProjectionLoaded{Version: number, Took: took}
		err := tx.NewSelect().Model((*sliceRow)(nil)).ColumnExpr("coalesce(sum(streams), 0), coalesce(sum(events), 0)").
			Where("projection = ?", was.Name).Where("version = ?", number).Scan(ctx, &loaded.Streams, &loaded.Events)
		return []domain.Fact{loaded}, err
	case to == catalogue.StateVerifying:
		return []domain.Fact{domain.ProjectionCaughtUp{Version: number, Took: took}}, nil
	case was.State == catalogue.StateVerifying:
		facts := []domain.Fact{verdictOn(was, took)}
		if to == catalogue.StateRetired { // a what-if, which is not needed any more
			facts = append(facts, domain.ProjectionRetired{Version: number})
		}
		return facts, nil
	case to == catalogue.StateActive:
		var before int
		err := tx.NewSelect().Model((*catalogue.Entry)(nil)).Column("version").Where("name = ?", was.Name).
			Where("state = ?", catalogue.StateStandby).Where("version <> ?", number).
			OrderExpr("updated_at DESC, version DESC").Limit(1).Scan(ctx, &before)
		if was.State == catalogue.StateStandby {
			return []domain.Fact{domain.ProjectionRolledBack{Version: number, From: before}}, err
		}
		return []domain.Fact{domain.ProjectionSwitched{Version: number, From: before}}, err
	case to == catalogue.StateRetired:
		return []domain.Fact{domain.ProjectionRetired{Version: number}}, nil
	}
	return nil, nil
}

// verdictOn is the result of a version's verification.
func verdictOn(v catalogue.Listed, took time.Duration) domain.Fact {
	findings := domain.VerificationResult{Version: v.Version, Took: took}
	passed := false
	if r := v.Report; r != nil {
		passed = r.Passed
		findings.Against, findings.Items, findings.Wrong = r.Against, r.Items, len(r.Wrong)
		findings.Intended = r.Intended
		if r.Differing > 0 {
			findings.Changed = map[string]int64{"items": r.Differing}
		}
	}
	if passed {
		return domain.ProjectionVerified{VerificationResult: findings}
	}
	return domain.ProjectionRefused{VerificationResult: findings}
}

// givenUp is the fact that a version was abandoned.
func givenUp(number int, state, reason string) domain.Fact {
	switch {
	case state == catalogue.StateFailed:
		return domain.ProjectionFailed{Version: number, Reason: reason}
	case reason == errCancelled.Error() || reason == errAbandoned.Error():
		return domain.ProjectionCancelled{Version: number}
	}
	return domain.ProjectionRetired{Version: number, Reason: reason}
}

// recordGivenUp records which versions appends have abandoned, before their tables are dropped. An append cannot: it
// may only write to its own tenant.
func (p *Versions) recordGivenUp(ctx context.Context) error {
	log := p.history.Load()
	if log == nil {
		return nil
	}
	all, err := p.Versions(ctx)
	if err != nil {
		return err
	}
	var facts []domain.Fact
	for _, v := range all {
		if (v.State == catalogue.StateFailed || v.State == catalogue.StateRetired) && !v.Dropped() &&
			v.Settings["error"] != "" {
			facts = append([]domain.Fact{givenUp(v.Version, v.State, v.Settings["error"])}, facts...) // the oldest first
		}
	}
	if len(facts) == 0 {
		return nil
	}
	known, err := log.Reader.State(ctx, domain.SystemTenant, domain.ProjectionStream(catalogue.KnowledgeName))
	if err != nil {
		return err
	}
	command := domain.RecordProjection{Projection: catalogue.KnowledgeName, Facts: facts}
	if len(command.NewFacts(known)) == 0 {
		return nil
	}
	_, err = log.Submit(ctx, domain.Submission{By: domain.SystemPrincipal(), Command: command})
	return err
}
