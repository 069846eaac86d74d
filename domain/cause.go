package domain

// MaxCauses is how far back the causes of an event are followed.
const MaxCauses = 16

// Cause is a step of the way back to what an event began with.
type Cause struct {
	ID    string // of an event, or a word of the caller's own such as "file:knowledge.ndjson:7"
	Event *Event // nil if it is none of this log, or one that the caller may not see
}

// CausesOf follows an event's causes back, the nearest first. known are events by id, as a look-up of
// its causation id and of theirs found them. The last one is the root, unless there are more than
// [MaxCauses]; a circle ends where it began.
func CausesOf(event Event, known map[string]Event) []Cause {
	var causes []Cause
	seen := map[string]bool{event.EventID: true}
	for id := event.CausationID; id != "" && !seen[id] && len(causes) < MaxCauses; {
		seen[id] = true
		cause, found := known[id]
		if !found {
			return append(causes, Cause{ID: id})
		}
		causes = append(causes, Cause{ID: id, Event: &cause})
		id = cause.CausationID
	}
	return causes
}
