package http

import (
	"time"

	"github.com/annals-kb/annals/domain"
)

// rebuild is what became of the newest version that was built beside an active one.
type rebuild struct {
	Projection string            `json:"projection" example:"knowledge"`
	Active     int               `json:"active" doc:"The version that is read."`
	Version    int               `json:"version" doc:"The version that is, or was, built."`
	State      string            `json:"state" enum:"building,catching_up,verifying,ready,active,draining,retired,failed" doc:"active is read; draining was active before, and is written so that going back loses nothing."`
	WhatIf     bool              `json:"what_if,omitempty" doc:"It was built only to be compared, and is thrown away."`
	Settings   map[string]string `json:"settings,omitempty" doc:"What it is computed with."`
	BeganAt    *time.Time        `json:"began_at,omitempty"`
	UpdatedAt  *time.Time        `json:"updated_at,omitempty" doc:"When it came into its state."`
	Error      string            `json:"error,omitempty" doc:"Why it was given up; missing when it was not."`
	Progress   *rebuildProgress  `json:"progress,omitempty" doc:"Missing when there is nothing left to do."`
	Report     *rebuildReport    `json:"report,omitempty" doc:"What its verification found; missing until then."`
}

// rebuildProgress is how far a rebuild has come.
type rebuildProgress struct {
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

// rebuildReport is what a verification found.
type rebuildReport struct {
	Version   int               `json:"version"`
	Against   int               `json:"against" doc:"The version that it was compared with."`
	Passed    bool              `json:"passed"`
	Items     int64             `json:"items"`
	Rows      map[string]int64  `json:"rows" doc:"By table."`
	Checksums map[string]string `json:"checksums" doc:"By table: the sum of the rows' hashes, whatever their order."`
	Wrong     []string          `json:"wrong" doc:"Rows that are not what an independent fold of the log gives, the first few."`
	Changed   map[string]int64  `json:"changed" doc:"Items that differ from the other version, by column."`
	Intended  []string          `json:"intended" doc:"Columns that are meant to differ."`
	Repair    bool              `json:"repair" doc:"Differences are reported, and not refused."`
	Overlap   float64           `json:"overlap" doc:"Of the first ten hits of searches by the items' own tasks."`
	Searches  int               `json:"searches" doc:"How many were made."`
	Impact    rebuildImpact     `json:"impact" doc:"Whose confidence moves, and which answers differ."`
}

// rebuildPlan is what a rebuild would take.
type rebuildPlan struct {
	Projection string            `json:"projection" example:"knowledge"`
	Active     int               `json:"active" doc:"The version that is read."`
	Version    int               `json:"version" doc:"The version that would be built."`
	Settings   map[string]string `json:"settings" doc:"What it would be computed with."`
	Intended   []string          `json:"intended" doc:"Columns that will differ because of them."`
	Streams    int64             `json:"streams" doc:"Items."`
	Events     int64             `json:"events" doc:"Events in the log."`
	Bytes      int64             `json:"bytes" doc:"Of the new version, as an estimate."`
	Need       int64             `json:"need_bytes" doc:"Of disk while it is being built, what it leaves included."`
	Free       *int64            `json:"free_bytes,omitempty" doc:"Of disk; missing when only the database's machine knows."`
	Seconds    float64           `json:"seconds" doc:"An estimate, from a sample of the log; 0 when there is nothing to sample."`
}

func rebuildOf(r domain.Rebuild) rebuild {
	shown := rebuild{
		Projection: r.Projection, Active: r.Active, Version: r.Version, State: r.State, WhatIf: r.WhatIf, Settings: r.Settings,
		BeganAt: known(r.BeganAt), UpdatedAt: known(r.UpdatedAt), Error: r.Error, Report: reportOf(r.Report),
	}
	if p := r.Progress; p != nil {
		shown.Progress = &rebuildProgress{
			Phase: p.Phase, Streams: p.Streams, Total: p.Total, Events: p.Events, Behind: p.Behind, Verified: p.Verified,
			Seconds: seconds(p.Took), Rate: p.Rate, SecondsLeft: seconds(p.Left),
		}
	}
	return shown
}

func reportOf(r *domain.RebuildReport) *rebuildReport {
	if r == nil {
		return nil
	}
	return &rebuildReport{
		Version: r.Version, Against: r.Against, Passed: r.Passed, Items: r.Items, Rows: r.Rows, Checksums: r.Checksums,
		Wrong: some(r.Wrong), Changed: r.Changed, Intended: some(r.Intended), Repair: r.Repair, Overlap: r.Overlap, Searches: r.Searches, Impact: impactOf(r.Impact),
	}
}

func planOf(p domain.RebuildPlan) rebuildPlan {
	return rebuildPlan{
		Projection: p.Projection, Active: p.Active, Version: p.Version, Settings: p.Settings, Intended: some(p.Intended),
		Streams: p.Streams, Events: p.Events, Bytes: p.Bytes, Need: p.Need, Free: p.Free, Seconds: seconds(p.Took),
	}
}

// seconds are rounded to what is worth reading.
func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// some is a list that is not null.
func some(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}
