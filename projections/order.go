package projections

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// What the catalogue notes of a version besides what it is computed with.
const (
	// settingRepair stands with a version that may differ from the active one in whatever the log says.
	settingRepair = "repair"
	// settingWhatIf stands with a version that is built only to be compared.
	settingWhatIf = "what_if"
)

// settingsFor are those of a version that is built by an order: the policy of the active version, unless
// the order names another, because which one suits is for people to decide; and whatever else this
// program does today, because that is what a release means to change.
func (p *Knowledge) settingsFor(order domain.RebuildOrder, active entry) (map[string]string, error) {
	settings := map[string]string{"confidence": active.Settings["confidence"], "tokenizer": p.tokenizers[0].Version}
	if order.Confidence != "" {
		if _, known := p.policies[order.Confidence]; !known {
			var problems domain.Problems
			problems.Add("confidence", "must be one of %s", strings.Join(slices.Sorted(maps.Keys(p.policies)), ", "))
			return nil, problems.Err()
		}
		settings["confidence"] = order.Confidence
	}
	return settings, nil
}

// notes are what stands with a version besides its settings.
func notes(order domain.RebuildOrder) map[string]string {
	notes := map[string]string{}
	if order.Repair {
		notes[settingRepair] = "true"
	}
	if order.WhatIf {
		notes[settingWhatIf] = "true"
	}
	return notes
}

// whatIf tells whether the version is built only to be compared.
func (e entry) whatIf() bool { return e.Settings[settingWhatIf] != "" }

// isFor refuses to go on with a version that was begun for another order.
func (e entry) isFor(wanted map[string]string) error {
	if maps.Equal(e.Settings, wanted) {
		return nil
	}
	return domain.Refuse(domain.ErrConflict, "version %d of knowledge waits to be built, for another order", e.Version).
		WithFix("wait for it, or cancel it")
}

// errAbandoned is why a what-if ends whose process did.
var errAbandoned = fmt.Errorf("the server was stopped: %w", errCancelled)
