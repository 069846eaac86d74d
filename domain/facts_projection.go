package domain

import "time"

// ProjectionStarted began to compute a version of a projection beside the one that is read.
type ProjectionStarted struct {
	Version  int
	Settings map[string]string // what it is built with
	Items    int64             // that there were
}

// ProjectionLoaded says that a version has what the log said when it was begun.
type ProjectionLoaded struct {
	Version int
	Streams int64 // folded
	Events  int64 // that these consist of
	Took    time.Duration
}

// ProjectionCaughtUp says that a version has what the log says: from here on it is written with every
// append.
type ProjectionCaughtUp struct {
	Version int
	Took    time.Duration
}

// ProjectionVerified says that a version is what the log says and differs from the one that is read in
// nothing but what its change intends.
type ProjectionVerified struct{ VerificationResult }

// ProjectionRefused says that a version failed its verification, and was given up.
type ProjectionRefused struct{ VerificationResult }

// VerificationResult are what a verification found, in short.
type VerificationResult struct {
	Version  int
	Against  int // the version that is read
	Items    int64
	Wrong    int              // rows that are not what the log says; those that were kept for the report
	Changed  map[string]int64 // items that differ, by column
	Intended []string         // columns that were meant to differ
	Overlap  float64          // 0…1, of the first ten hits
	Searches int
	Took     time.Duration
}

// ProjectionSwitched let readers read a version.
type ProjectionSwitched struct {
	Version int
	From    int // what they read before; it is kept
}

// ProjectionRolledBack let readers read a version again that was kept.
type ProjectionRolledBack struct {
	Version int
	From    int // what they read before; it is kept
}

// ProjectionCancelled says that somebody gave up a version that was being computed.
type ProjectionCancelled struct{ Version int }

// ProjectionFailed says that a version could not be computed, or not be written any more.
type ProjectionFailed struct {
	Version int
	Reason  string
}

// ProjectionRetired says that a version is not kept any more: there is no way back to it.
type ProjectionRetired struct {
	Version int
	Reason  string // if it was not asked for
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
