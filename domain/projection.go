package domain

import (
	"fmt"
	"slices"
	"time"
)

// Projection is the recorded history of a projection: its active version, its kept versions, and the stage of the
// newest one.
type Projection struct {
	Version int             `json:"version"`          // the newest recorded version
	Stage   ProjectionStage `json:"stage"`            // the stage of that version
	Active  int             `json:"active,omitempty"` // 0 until there was a switch
	Kept    []int           `json:"kept,omitempty"`   // versions to which a rollback is possible
}

// ProjectionStage is the progress of building a version.
type ProjectionStage int

// The stages, in their order. A version ends at one of the last five.
const (
	StageStarted ProjectionStage = iota + 1
	StageLoaded
	StageCaughtUp
	StageVerified
	StageSwitched
	StageRefused
	StageCancelled
	StageFailed
	StageRetired
)

var ProjectionStreams = StreamKind{
	Name: "projection", State: Projection{}, Form: 1,
	Facts: []Fact{
		ProjectionStarted{},
		ProjectionLoaded{},
		ProjectionCaughtUp{},
		ProjectionVerified{},
		ProjectionRefused{},
		ProjectionSwitched{},
		ProjectionRolledBack{},
		ProjectionCancelled{},
		ProjectionFailed{},
		ProjectionRetired{},
	},
}

// ProjectionStream is the stream of a projection, in the log of [SystemTenant].
func ProjectionStream(name string) string { return ProjectionStreams.Of(name) }

// Evolve implements [State]. The stages of a version come in order, each once. A version that was begun before this
// record existed may lack some.
func (p Projection) Evolve(fact Fact, _ EventMetadata) (State, error) {
	switch f := fact.(type) {
	case ProjectionStarted:
		return p.reach(f.Version, StageStarted)
	case ProjectionLoaded:
		return p.reach(f.Version, StageLoaded)
	case ProjectionCaughtUp:
		return p.reach(f.Version, StageCaughtUp)
	case ProjectionVerified:
		return p.reach(f.Version, StageVerified)
	case ProjectionRefused:
		return p.reach(f.Version, StageRefused)
	case ProjectionCancelled:
		return p.reach(f.Version, StageCancelled)
	case ProjectionFailed:
		return p.reach(f.Version, StageFailed)
	case ProjectionSwitched:
		next, err := p.reach(f.Version, StageSwitched)
		if err != nil {
			return p, err
		}
		return next.read(f.Version, f.From), nil
	case ProjectionRolledBack:
		if f.Version == p.Active {
			return p, fmt.Errorf("version %d is active already", f.Version)
		}
		return p.read(f.Version, f.From), nil
	case ProjectionRetired:
		if f.Version == p.Version && p.Stage != StageSwitched { // a what-if
			return p.end(StageRetired)
		}
		if !slices.Contains(p.Kept, f.Version) {
			return p, fmt.Errorf("version %d is not kept", f.Version)
		}
		p.Kept = without(p.Kept, f.Version)
		return p, nil
	}
	return p, fmt.Errorf("not a fact about a projection")
}

func (p Projection) reach(version int, stage ProjectionStage) (Projection, error) {
	if version < p.Version || version == p.Version && (stage <= p.Stage || p.Stage >= StageSwitched) {
		return p, fmt.Errorf(
			"version %d cannot come to stage %d when version %d is at stage %d", version, stage, p.Version, p.Stage,
		)
	}
	p.Version, p.Stage = version, stage
	return p, nil
}

// end ends a what-if, whatever its verification found.
func (p Projection) end(stage ProjectionStage) (Projection, error) {
	if p.Stage != StageVerified && p.Stage != StageRefused {
		return p, fmt.Errorf("version %d is at stage %d", p.Version, p.Stage)
	}
	p.Stage = stage
	return p, nil
}

// read makes a version the active one, and keeps the one before.
func (p Projection) read(version, before int) Projection {
	p.Active = version
	p.Kept = append(without(without(p.Kept, version), before), before)
	return p
}

func without(list []int, value int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(v int) bool { return v == value })
}

// RecordProjection asks to record what happened to a projection. Repeating it records nothing, so an unsure caller
// may submit it again.
type RecordProjection struct {
	Projection string
	Facts      []Fact
}

func (c RecordProjection) Stream() string { return ProjectionStreams.Of(c.Projection) }

func (c RecordProjection) Reads() Reads { return Reads{} }

func (c RecordProjection) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	return c.NewFacts(dc.Stream(c.Stream())), nil
}

// NewFacts are the facts that are not recorded yet.
func (c RecordProjection) NewFacts(known Stream) (news []Fact) {
	state := known.State
	if state == nil {
		state = Projection{}
	}
	for _, fact := range c.Facts {
		next, err := state.Evolve(fact, EventMetadata{})
		if err != nil {
			continue // known already
		}
		state, news = next, append(news, fact)
	}
	return news
}

var (
	_ Command = RecordProjection{}
	_ State   = Projection{}
)

// Quarantined is a stream that a background projection skips because it could not process one of its events. The
// stream's later events wait, too.
type Quarantined struct {
	Projection string
	Stream     string
	Position   int64  // of the event that failed, the first one that waits
	EventID    string // of that event
	Error      string // why it failed
	Since      time.Time
	Attempts   int   // how often it was tried, retries included
	Waiting    int64 // events of the stream that wait, the failed one included
}

// Replayed is the result of retrying a quarantined stream.
type Replayed struct {
	Stream   string
	Events   int64        // that were processed
	Released bool         // no event waits any more
	Left     *Quarantined // what still waits, and why; nil if it was released
}

// Skipped are events that a projection will not process until its next rebuild.
type Skipped struct {
	Stream string
	Events []Event
}

// ProjectionStatus is the status of a projection.
type ProjectionStatus struct {
	Name       string
	Version    int
	State      string // building, catching_up, verifying, ready, active, standby, retired, failed
	Inline     bool   // written in the transaction of the event, so it never lags
	WhatIf     bool   // built only to be compared, then deleted
	Position   int64  // how far it has read the tenant's log
	Head       int64  // the log's newest position
	LagEvents  int64
	LagSeconds float64 // age of the oldest event it has not yet read
	// Ahead is how far the time of the newest event is ahead of this server's clock. Only the active version of
	// knowledge has it.
	Ahead       time.Duration
	Settings    map[string]string
	Error       string    // why it failed or stopped; empty otherwise
	Halted      bool      // it stopped and needs an operator
	Holder      string    // the process that holds its lease; empty if no process works on it
	ReadAt      time.Time // when it last read the log; zero for an inline projection
	Quarantined int64     // streams that it skips
	// Unindexed counts the items whose words are not indexed yet, up to 100,000. A search reads them all.
	Unindexed int64
	CreatedAt time.Time
	UpdatedAt time.Time      // when it entered its state
	Report    *RebuildReport // of its verification; nil if there was none
}
