package api

import (
	"time"
)

// Projection is the status of a version of a projection.
type Projection struct {
	Name        string            `json:"name" example:"knowledge"`
	Version     int               `json:"version"`
	State       string            `json:"state" enum:"building,catching_up,verifying,ready,active,standby,retired,failed" doc:"active is read, and beside it the built-in vectors of meaning, which are ready; standby was active before, and is written so that going back loses nothing."`
	Inline      bool              `json:"inline" doc:"Written together with the event: never behind."`
	WhatIf      bool              `json:"what_if,omitempty" doc:"Built only to be compared, and thrown away."`
	Position    int64             `json:"position" doc:"How far it has read the log."`
	Head        int64             `json:"head" doc:"The log's newest position."`
	LagEvents   int64             `json:"lag_events"`
	LagSeconds  float64           `json:"lag_seconds" doc:"Age of the oldest event it has not read."`
	Ahead       float64           `json:"ahead_seconds,omitempty" doc:"The log is ahead of the server's clock: its newest event was recorded so long after now. Set the clock; new events get no earlier time."`
	Settings    map[string]string `json:"settings,omitempty" doc:"What it is computed with."`
	Error       string            `json:"error,omitempty" doc:"Why it stands still, failed, or comes to nothing; missing when it does not."`
	Halted      bool              `json:"halted" doc:"It does not go on by itself: see error."`
	Holder      string            `json:"holder,omitempty" doc:"The process that works on it now; missing when no process works on it."`
	ReadAt      *time.Time        `json:"read_at,omitempty" doc:"When it last read something; missing for one that is written with the log."`
	Quarantined int64             `json:"quarantined" doc:"Streams that it passes over, because it could not take in one of their events."`
	Unindexed   int64             `json:"unindexed" doc:"The words of so many items wait to be indexed by the background: a search reads them all. Counted up to 100,000."`
	CreatedAt   *time.Time        `json:"created_at,omitempty"`
	UpdatedAt   *time.Time        `json:"updated_at,omitempty" doc:"When it came into its state."`
	Report      *RebuildReport    `json:"report,omitempty" doc:"What its verification found; for root."`
}

// Projections are the projections of a server, each with all of its versions, the active one first.
type Projections struct {
	Items []Projection `json:"items" nullable:"false"`
}

// Quarantined is a stream that a projection skips.
type Quarantined struct {
	Stream   string     `json:"stream" example:"knowledge:profile_001"`
	Position int64      `json:"position" doc:"Of the event that could not be taken in, the first of those that wait."`
	EventID  string     `json:"event_id"`
	Error    string     `json:"error" doc:"Why it could not."`
	Since    *time.Time `json:"since,omitempty"`
	Attempts int        `json:"attempts" doc:"Replays included."`
	Waiting  int64      `json:"waiting" doc:"Events: that one, and what came to the stream later."`
}

// Replayed is the result of retrying a quarantined stream.
type Replayed struct {
	Stream   string       `json:"stream"`
	Events   int64        `json:"events" doc:"That were taken in."`
	Released bool         `json:"released"`
	Left     *Quarantined `json:"left,omitempty" doc:"What still waits; missing when the stream was released."`
}

// Skipped are events that a projection will not process.
type Skipped struct {
	Stream string         `json:"stream"`
	Events []SkippedEvent `json:"events" nullable:"false"`
}

type SkippedEvent struct {
	Position int64  `json:"position"`
	EventID  string `json:"event_id"`
	Name     string `json:"name" example:"knowledge.revised"`
}

// Short is a list that is always short.
type Short[T any] struct {
	Items []T `json:"items" nullable:"false"`
}
