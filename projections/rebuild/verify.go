package rebuild

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
)

// verify compares a version with an independent fold of the log and with the active version, in one snapshot. The
// version is ready only if each row is what the fold gives, and the versions differ only in what the change intends.
// A repair must agree with the log only.
func (r *Rebuilder) verify(ctx context.Context, now *run) error {
	p := r.Versions
	report, err := verifySnapshot(ctx, p.Catalogue, now)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*catalogue.Entry)(nil)).Set("report = ?", string(encoded)).
			Where("name = ?", catalogue.KnowledgeName).Where("version = ?", now.version.Version).Exec(ctx)
		if err != nil {
			return err
		}
		next := catalogue.StateReady
		switch {
		case now.version.WhatIf():
			next = catalogue.StateRetired
		case !report.Passed:
			next = catalogue.StateFailed
			p.Log.ErrorContext(ctx, "a version does not pass its verification", "version", report.Version,
				"wrong", len(report.Wrong), "differing", report.Differing, "unintended", report.Unintended)
		}
		return p.advance(ctx, tx, now.version, catalogue.StateVerifying, next)
	})
}

// verifySnapshot runs the verification in one snapshot.
func verifySnapshot(ctx context.Context, p *catalogue.Catalogue, now *run) (report domain.RebuildReport, err error) {
	now.note(func(p *domain.RebuildProgress) { p.Verified = 0 })
	e, err := begin(ctx, p, func(items int64) { now.note(func(p *domain.RebuildProgress) { p.Verified += items }) })
	if err != nil {
		return report, err
	}
	defer e.snapshot.End()
	active := e.new
	e.old, e.new = &active, now.version
	e.report.Version, e.report.Against, e.report.Intended = e.new.Version, active.Version, intended(active, e.new)
	if e.ignored = e.report.Intended; slices.Contains(e.ignored, "confidence") {
		e.ignored = slices.Concat(e.ignored, hidden)
	}
	e.report.Repair = e.new.Settings[catalogue.SettingRepair] != ""
	if err := e.run(ctx); err != nil {
		return e.report, err
	}
	e.report.Passed = len(e.report.Wrong) == 0 && (e.report.Repair || e.report.Unintended == 0)
	return e.report, nil
}

// intended are the columns and tables that differ because the versions were built with different
// settings, or in different forms. A confirmation with an end has a second confidence.
func intended(before, after catalogue.Version) []string {
	columns := slices.Clone(before.Tables.Changed)
	if before.Settings["confidence"] != after.Settings["confidence"] {
		columns = append(columns, "confidence", "expired_confidence")
	}
	if before.Settings["tokenizer"] != after.Settings["tokenizer"] {
		columns = append(columns, "terms", "words")
	}
	return columns
}
