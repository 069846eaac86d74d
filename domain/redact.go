package domain

import (
	"encoding/json"
	"slices"
	"time"
)

// Scrub rewrites the text of an event, and counts by class what it took out; nil if there was nothing.
type Scrub func(text json.RawMessage) (clean json.RawMessage, found map[string]int, err error)

// MostRedactions is how many texts one command redacts: what is left takes another one.
const MostRedactions = 1000

// Redact asks to take out of a stream's recorded texts what a scrubbing finds, for good. For admins. A text
// may come out longer than it might have been written.
type Redact struct {
	By       Principal
	Of       string // the stream
	From, To int64  // positions, both included
	Scrub    Scrub
}

// Stream implements [Command].
func (c Redact) Stream() string { return c.Of }

// Reads implements [Command].
func (c Redact) Reads() Reads { return Reads{} }

// Decide implements [Command].
func (c Redact) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if !c.By.IsTenantAdmin() {
		return nil, Refuse(ErrForbidden, "redacting what is recorded is for admins")
	}
	var facts []Fact
	for _, w := range dc.TextsOf(c.Of) {
		if w.Position < c.From || w.Position > c.To {
			continue
		}
		text, found, err := c.Scrub(w.Text)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		facts = append(facts, Redacted{Events: append([]string{w.EventID}, w.Instead...), Redacted: found, Text: text})
		if len(facts) == MostRedactions {
			break
		}
	}
	if id, isItem := ItemOf(c.Of); isItem && len(facts) > 0 {
		if k := dc.Knowledge(id); k.Held {
			return nil, onHold(dc, k)
		}
	}
	return facts, nil
}

// Refold is what an item comes to by a version of its stream, as its history is read when all of it is known:
// each text that an event of the history replaced is what that one says instead. The history is whole, in
// order; read gives an event with another text.
func Refold(id string, history []Event, through int64, policy ConfidencePolicy, read func(Event, json.RawMessage) (Event, error)) (*Knowledge, error) {
	instead := map[string]json.RawMessage{}
	for _, event := range history {
		if redacted, is := event.Fact.(Redacted); is && len(event.Text) > 0 {
			for _, replaced := range redacted.Events {
				instead[replaced] = event.Text
			}
		}
	}
	k := &Knowledge{ID: id}
	for _, event := range history {
		if event.Version > through {
			break
		}
		if text, replaced := instead[event.EventID]; replaced {
			var err error
			if event, err = read(event, text); err != nil {
				return nil, err
			}
		}
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// idsOf are the ids of the events that texts belong to.
func idsOf(texts []RecordedText) []string {
	ids := make([]string, len(texts))
	for i, w := range texts {
		ids[i] = w.EventID
	}
	return slices.Clip(ids)
}

var _ Command = Redact{}
