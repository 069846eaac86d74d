package domain

import (
	"cmp"
	"strings"
)

// Detection is something in a recorded text that the rules for scrubbing of today would have taken out. It never
// says what.
type Detection struct {
	Position int64
	EventID  string
	Name     string // of the event
	Stream   string
	Field    string // of the event's text
	Class    string
	Count    int
	InName   bool // it is in a URI or the key of something, which cannot be redacted
}

// Compare orders findings by where they are.
func (f Detection) Compare(other Detection) int {
	return cmp.Or(
		cmp.Compare(f.Position, other.Position), strings.Compare(f.Field, other.Field), strings.Compare(f.Class, other.Class),
	)
}

// Redaction is what was taken out of the recorded texts of a stream.
type Redaction struct {
	Stream   string
	Events   []string       // ids of those that say so
	Redacted map[string]int // by class
	Err      error          // why no more was
	More     bool           // there was no time for the rest
}

// Add takes in what one command came to.
func (r *Redaction) Add(result Result) {
	r.Err = result.Err
	for _, event := range result.Receipt.Events {
		r.Events = append(r.Events, event.EventID)
		if redacted, is := event.Fact.(Redacted); is {
			for class, n := range redacted.Redacted {
				r.Redacted[class] += n
			}
		}
	}
}
