package projections

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// listed is a version in the catalogue with all that is known of it.
type listed struct {
	entry `bun:",extend"`

	Report *domain.RebuildReport `bun:"report,type:json"`
}

// versions reads every version of the knowledge projection that there ever was: the active one first,
// then the newest.
func (p *Knowledge) versions(ctx context.Context) ([]listed, error) {
	var all []listed
	err := p.db.NewSelect().Model(&all).Where("name = ?", knowledgeName).
		OrderExpr("CASE state WHEN 'active' THEN 0 ELSE 1 END, version DESC").Scan(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read the catalogue", err)
	}
	return all, nil
}

// whatIf tells whether the version is built only to be compared.
func (v listed) whatIf() bool { return v.Settings[settingWhatIf] != "" }

// dropped tells whether the version's tables are gone.
func (v listed) dropped() bool { return v.Settings["dropped"] != "" }

// unfinished tells whether a rebuild has still to work on the version.
func (v listed) unfinished() bool { return slices.Contains(unfinishedStates, v.State) }

// settings are what the version is computed with, without the catalogue's own notes.
func (v listed) settings() map[string]string {
	settings := maps.Clone(v.Settings)
	delete(settings, "error")
	delete(settings, "dropped")
	delete(settings, settingRepair)
	delete(settings, settingWhatIf)
	delete(settings, settingVectors)
	return settings
}

// trouble is why the version was given up; empty if it was not.
func (v listed) trouble() string {
	switch {
	case v.Settings["error"] != "":
		return v.Settings["error"]
	case v.State == stateFailed && v.Report != nil && !v.Report.Passed:
		return "it did not pass its verification: " + v.refused()
	}
	return ""
}

// refused says what closed the gate.
func (v listed) refused() string {
	switch {
	case len(v.Report.Wrong) > 0:
		return "it is not what the log says"
	case v.Report.HasUnintendedChange():
		return fmt.Sprintf("it differs from version %d in what nobody meant to change", v.Report.Against)
	}
	return fmt.Sprintf("searches do not find in it what they find in version %d", v.Report.Against)
}

// statuses are how the versions do whose tables are there, as one tenant sees them.
func (p *Knowledge) statuses(ctx context.Context, progress Progress, tenant string, head int64) ([]domain.ProjectionStatus, error) {
	all, err := p.versions(ctx)
	if err != nil {
		return nil, err
	}
	var list []domain.ProjectionStatus
	for _, v := range all {
		if v.dropped() {
			continue
		}
		s := domain.ProjectionStatus{
			Name: v.Name, Version: v.Version, State: v.State, Head: head, Settings: v.settings(), Error: v.trouble(),
			Inline: slices.Contains(writtenStates, v.State), WhatIf: v.whatIf(),
			CreatedAt: v.CreatedAt.Time, UpdatedAt: v.UpdatedAt.Time, Report: v.Report,
		}
		switch {
		case s.Inline:
			s.Position = head
			if s.Unindexed, err = p.unindexed(ctx, tablesOf(v.Version), tenant); err != nil {
				return nil, err
			}
		case v.unfinished():
			if s.Position, _, _, err = progress.Checkpoint(ctx, v.checkpoint(), tenant); err != nil {
				return nil, err
			}
			s.Head = max(s.Head, s.Position)
			s.LagEvents = s.Head - s.Position
		}
		list = append(list, s)
	}
	return list, nil
}

func (v listed) checkpoint() string {
	return version{entry: entry{Version: v.Version}}.checkpoint()
}
