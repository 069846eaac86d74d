package domain

import "time"

// ProjectionStarted began to compute a version of a projection beside the one that is read.
type ProjectionStarted struct {
	Version  int               `data:"version"`
	Settings map[string]string `data:"settings,omitempty"` // what it is built with
	Items    int64             `data:"items"`              // that there were
}

// ProjectionLoaded says that a version has what the log said when it was begun.
type ProjectionLoaded struct {
	Version int           `data:"version"`
	Streams int64         `data:"streams"` // folded
	Events  int64         `data:"events"`  // that these consist of
	Took    time.Duration `data:"seconds"`
}

// ProjectionCaughtUp says that a version has what the log says: from here on it is written with every
// append.
type ProjectionCaughtUp struct {
	Version int           `data:"version"`
	Took    time.Duration `data:"seconds"`
}

// ProjectionVerified says that a version is what the log says and differs from the one that is read in
// nothing but what its change intends.
type ProjectionVerified struct{ VerificationResult }

// ProjectionRefused says that a version failed its verification, and was given up.
type ProjectionRefused struct{ VerificationResult }

// VerificationResult are what a verification found, in short.
type VerificationResult struct {
	Version  int              `data:"version"`
	Against  int              `data:"against"` // the version that is read
	Items    int64            `data:"items"`
	Wrong    int              `data:"deviations"`         // rows that are not what the log says; those that were kept for the report
	Changed  map[string]int64 `data:"changed,omitempty"`  // items that differ, by column
	Intended []string         `data:"intended,omitempty"` // columns that were meant to differ
	Overlap  float64          `data:"overlap"`            // 0…1, of the first ten hits
	Searches int              `data:"searches"`
	Took     time.Duration    `data:"seconds"`
}

// ProjectionSwitched let readers read a version.
type ProjectionSwitched struct {
	Version int `data:"version"`
	From    int `data:"from"` // what they read before; it is kept
}

// ProjectionRolledBack let readers read a version again that was kept.
type ProjectionRolledBack struct {
	Version int `data:"version"`
	From    int `data:"from"` // what they read before; it is kept
}

// ProjectionCancelled says that somebody gave up a version that was being computed.
type ProjectionCancelled struct {
	Version int `data:"version"`
}

// ProjectionFailed says that a version could not be computed, or not be written any more.
type ProjectionFailed struct {
	Version int    `data:"version"`
	Reason  string `text:"reason,omitempty"`
}

// ProjectionRetired says that a version is not kept any more: there is no way back to it.
type ProjectionRetired struct {
	Version int    `data:"version"`
	Reason  string `text:"reason,omitempty"` // if it was not asked for
}

// Name implements [Fact].
func (ProjectionStarted) Name() string    { return "projection.started" }
func (ProjectionLoaded) Name() string     { return "projection.loaded" }
func (ProjectionCaughtUp) Name() string   { return "projection.caught_up" }
func (ProjectionVerified) Name() string   { return "projection.verified" }
func (ProjectionRefused) Name() string    { return "projection.refused" }
func (ProjectionSwitched) Name() string   { return "projection.switched" }
func (ProjectionRolledBack) Name() string { return "projection.rolled_back" }
func (ProjectionCancelled) Name() string  { return "projection.cancelled" }
func (ProjectionFailed) Name() string     { return "projection.failed" }
func (ProjectionRetired) Name() string    { return "projection.retired" }
