package api

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Rebuild is the state of the newest version that was built beside an active one.
type Rebuild struct {
	Projection string            `json:"projection" example:"knowledge"`
	Active     int               `json:"active" doc:"The version that is read."`
	Version    int               `json:"version" doc:"The version that is, or was, built."`
	State      string            `json:"state" enum:"building,catching_up,verifying,ready,active,standby,retired,failed" doc:"active is read; standby was active before, and is written so that going back loses nothing."`
	WhatIf     bool              `json:"what_if,omitempty" doc:"It was built only to be compared, and is thrown away."`
	Settings   map[string]string `json:"settings,omitempty" doc:"What it is computed with."`
	BeganAt    *time.Time        `json:"began_at,omitempty"`
	UpdatedAt  *time.Time        `json:"updated_at,omitempty" doc:"When it came into its state."`
	Error      string            `json:"error,omitempty" doc:"Why it was given up; missing when it was not."`
	Progress   *RebuildProgress  `json:"progress,omitempty" doc:"Missing when there is nothing left to do."`
	Report     *RebuildReport    `json:"report,omitempty" doc:"What its verification found; missing until then."`
}

// RebuildProgress is the progress of a rebuild.
type RebuildProgress struct {
	Phase       string  `json:"phase" enum:"building,indexing,catching_up,verifying,ready"`
	Streams     int64   `json:"streams" doc:"Items that are loaded."`
	Total       int64   `json:"total" doc:"Items to load."`
	Events      int64   `json:"events" doc:"Events that were read for that."`
	Behind      int64   `json:"behind" doc:"Events still to catch up with."`
	Verified    int64   `json:"verified" doc:"Items that were compared."`
	Seconds     float64 `json:"seconds" doc:"Since it began, or since the server resumed it."`
	Rate        float64 `json:"rate" doc:"Items a second, in this phase; 0 when that cannot be said."`
	SecondsLeft float64 `json:"seconds_left" doc:"An estimate; 0 when there is none."`
}

// RebuildReport is the result of a verification.
type RebuildReport struct {
	Version     int              `json:"version"`
	Against     int              `json:"against" doc:"The version that it was compared with."`
	Passed      bool             `json:"passed"`
	Items       int64            `json:"items"`
	Checksum    string           `json:"checksum" doc:"The sum of the hashes of all rows, whatever their order."`
	Wrong       []string         `json:"wrong" doc:"Items that are not what an independent fold of the log gives, the first few."`
	Differing   int64            `json:"differing" doc:"Items that differ from the other version."`
	Unintended  int64            `json:"unintended" doc:"Those of them that differ in more than the change intends."`
	Differences []ItemDifference `json:"differences" nullable:"false" doc:"The first 100 items that differ, the unintended before the others."`
	Intended    []string         `json:"intended" doc:"Columns that are meant to differ."`
	Repair      bool             `json:"repair" doc:"Differences are reported, and not refused."`
}

// ItemDifference has both rows of an item.
type ItemDifference struct {
	Tenant string         `json:"tenant"`
	ID     string         `json:"id"`
	Before map[string]any `json:"before,omitempty" doc:"The row of the version that is read, without what people wrote; missing when it has none."`
	After  map[string]any `json:"after,omitempty" doc:"The row of the version that was built, likewise."`
}

// Columns are the values that the row before has and the row after has not, and the other way round.
func (d ItemDifference) Columns() [2]string {
	without := func(row, other map[string]any) string {
		if row == nil {
			return "none"
		}
		var values []string
		for _, column := range slices.Sorted(maps.Keys(row)) {
			value := row[column]
			if value == other[column] {
				continue
			}
			if number, is := value.(float64); is {
				value = math.Round(1000*number) / 1000
			}
			values = append(values, fmt.Sprintf("%s=%v", column, value))
		}
		return cmp.Or(strings.Join(values, " · "), "other texts, votes, reports or words")
	}
	return [2]string{without(d.Before, d.After), without(d.After, d.Before)}
}

// RebuildPlan estimates a rebuild.
type RebuildPlan struct {
	Projection string            `json:"projection" example:"knowledge"`
	Active     int               `json:"active" doc:"The version that is read."`
	Version    int               `json:"version" doc:"The version that would be built."`
	Settings   map[string]string `json:"settings" doc:"What it would be computed with."`
	Policies   []string          `json:"policies" doc:"Confidence policies that the server can compute with, the default first."`
	Intended   []string          `json:"intended" doc:"Columns that will differ because of them."`
	Streams    int64             `json:"streams" doc:"Items."`
	Events     int64             `json:"events" doc:"Events in the log."`
	Bytes      int64             `json:"bytes" doc:"Of the new version, as an estimate."`
	Need       int64             `json:"need_bytes" doc:"Of disk while it is being built, what it leaves included."`
	Free       *int64            `json:"free_bytes,omitempty" doc:"Of disk; missing when only the database's machine knows."`
	Seconds    float64           `json:"seconds" doc:"An estimate."`
}
