package api

import (
	"time"
)

// RebuildImpact says how a new version changes confidences and answers.
type RebuildImpact struct {
	Confidence ConfidenceImpact `json:"confidence"`
	Answers    AnswerImpact     `json:"answers"`
}

type ConfidenceImpact struct {
	Items   int64            `json:"items" doc:"That answers may contain."`
	Raised  int64            `json:"raised"`
	Lowered int64            `json:"lowered"`
	Mean    float64          `json:"mean" doc:"By how much it moves, up or down, where it moves."`
	Before  []int64          `json:"before" nullable:"false" doc:"Items by tenths of confidence: 0 to 0.1, and so on."`
	After   []int64          `json:"after" nullable:"false"`
	Most    []ConfidenceMove `json:"most" nullable:"false" doc:"The ten that move farthest."`
}

type ConfidenceMove struct {
	Tenant    string  `json:"tenant"`
	ID        string  `json:"id"`
	Before    float64 `json:"before"`
	After     float64 `json:"after"`
	Helpful   int     `json:"helpful"`
	Harmful   int     `json:"harmful"`
	Reporters int     `json:"stale_reporters"`
}

type AnswerImpact struct {
	Others    int          `json:"others" doc:"Answers that have other items among their first ten."`
	Reordered int          `json:"reordered" doc:"Answers that have the same items in another order."`
	First     int          `json:"first" doc:"Answers that begin with another item."`
	Most      []AnswerMove `json:"most" nullable:"false" doc:"The ten that differ most."`
}

type AnswerMove struct {
	Tenant string   `json:"tenant"`
	ID     string   `json:"id" doc:"The item whose task was searched for."`
	Same   float64  `json:"same" doc:"The share of items that both have."`
	Before []string `json:"before" nullable:"false" doc:"Ids of the first hits."`
	After  []string `json:"after" nullable:"false"`
}

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
	Impact    RebuildImpact     `json:"impact" doc:"Whose confidence moves, and which answers differ."`
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
	Seconds    float64           `json:"seconds" doc:"An estimate, from a sample of the log; 0 when there is nothing to sample."`
}
