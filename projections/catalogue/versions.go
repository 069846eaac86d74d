package catalogue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/rows"
)

// Listed is a version in the catalogue with all that is known of it.
type Listed struct {
	Entry `bun:",extend"`

	Report *domain.RebuildReport `bun:"report,type:json"`
}

// Versions reads every version of the knowledge projection that ever existed: the active one first, then the newest.
func (p *Catalogue) Versions(ctx context.Context) ([]Listed, error) {
	var all []Listed
	err := p.DB.NewSelect().Model(&all).Where("name = ?", KnowledgeName).
		OrderExpr("CASE state WHEN 'active' THEN 0 ELSE 1 END, version DESC").Scan(ctx)
	if err != nil {
		return nil, rows.Failed(ctx, "read the catalogue", err)
	}
	return all, nil
}

// WhatIf tells whether the version is built only to be compared.
func (v Listed) WhatIf() bool { return v.Settings[SettingWhatIf] != "" }

// Dropped tells whether the version's tables are gone.
func (v Listed) Dropped() bool { return v.Settings["dropped"] != "" }

// Unfinished tells whether a rebuild must still work on the version.
func (v Listed) Unfinished() bool { return slices.Contains(UnfinishedStates, v.State) }

// ComputedWith are the settings that the version is computed with, without the catalogue's own notes.
func (v Listed) ComputedWith() map[string]string {
	settings := maps.Clone(v.Settings)
	delete(settings, "error")
	delete(settings, "dropped")
	delete(settings, SettingRepair)
	delete(settings, SettingWhatIf)
	delete(settings, SettingVectors)
	return settings
}

// Trouble is why the version was abandoned; empty if it was not.
func (v Listed) Trouble() string {
	switch {
	case v.Settings["error"] != "":
		return v.Settings["error"]
	case v.State == StateFailed && v.Report != nil && !v.Report.Passed:
		return "it did not pass its verification: " + v.refused()
	}
	return ""
}

// refused is why the verification failed.
func (v Listed) refused() string {
	if len(v.Report.Wrong) > 0 {
		return "it is not what the log says"
	}
	return fmt.Sprintf("it differs from version %d in what nobody meant to change", v.Report.Against)
}

func (v Listed) Checkpoint() string {
	return Version{Entry: Entry{Version: v.Version}}.Checkpoint()
}

// What the catalogue notes of a version besides what it is computed with.
const (
	// SettingRepair marks a version that may differ from the active one in anything that follows from the log.
	SettingRepair = "repair"
	// SettingWhatIf marks a version that is built only to be compared.
	SettingWhatIf = "what_if"
)

// WhatIf tells whether the version is built only to be compared.
func (e Entry) WhatIf() bool { return e.Settings[SettingWhatIf] != "" }

// SettingVectors names a table of vectors that must still be dropped.
const SettingVectors = "vectors"

// UnfinishedStates are those in which a rebuild has work left.
var UnfinishedStates = []string{StateBuilding, StateCatching, StateVerifying, StateReady}

// Checkpoint is the name under which a version's progress through the logs is kept.
func (v Version) Checkpoint() string { return fmt.Sprintf("%s_%d", KnowledgeName, v.Version) }

// ErrMoved means that another process has changed the state of a version.
var ErrMoved = errors.New("moved on")

// AbandonVersion ends the building or writing of a version and notes the reason.
func AbandonVersion(tx bun.IDB, e Entry, state string, reason error, now database.Time) *bun.UpdateQuery {
	e.Settings = maps.Clone(e.Settings)
	e.Settings["error"] = reason.Error()
	return tx.NewUpdate().Model(&e).Column("settings").Set("state = ?, updated_at = ?", state, now).
		Where("name = ?", KnowledgeName).Where("version = ?", e.Version)
}

// DropDelay is how long the tables of a version stay after it was written last: another process may not have read the
// catalogue since, or may still read the tables.
const DropDelay = 30 * time.Second

// FollowersOf are the names under which a projection follows the log: one, or one for each model of vectors.
func FollowersOf(followers *follow.Followers, name string) ([]string, error) {
	var found []string
	for _, follower := range followers.Names() {
		if named, _ := NameOf(follower); follower == name || named == name {
			found = append(found, follower)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	if name == KnowledgeName {
		return nil, domain.Refuse(domain.ErrConflict,
			"knowledge is written with every event, and an event that it cannot process is refused")
	}
	return nil, domain.Refuse(domain.ErrNotFound, "there is no projection of this name").
		WithFix("see /v1/projections, or annals doctor")
}

// NameOf is a follower's name without its version and target, and the version.
func NameOf(follower string) (name string, version int) {
	name, _, _ = strings.Cut(follower, ":")
	if named, number, versioned := strings.Cut(name, "_"); versioned {
		if version, err := strconv.Atoi(number); err == nil {
			return named, version
		}
	}
	return name, 0
}
