package domain

import "time"

// Quarantined is a stream that a background projection passes over, because it could not take in one of
// its events. The events wait in the log.
type Quarantined struct {
	Projection string
	Stream     string
	Position   int64  // of the event that could not be taken in: the first of those that wait
	EventID    string // of that event
	Error      string // why it could not
	Since      time.Time
	Attempts   int   // how often it was tried, replays included
	Waiting    int64 // events: that one, and what came to the stream later
}

// Replayed is what became of a stream in quarantine.
type Replayed struct {
	Stream   string
	Events   int64        // that were taken in
	Released bool         // nothing waits any more
	Left     *Quarantined // what still waits, and why; nil if it was released
}

// Skipped are events that a projection will never take in, unless it begins anew.
type Skipped struct {
	Stream string
	Events []Event
}
