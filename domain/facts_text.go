package domain

import "encoding/json"

// Redacted replaced a text of an event of the same stream, whatever the stream is about: what the rules for
// scrubbing found in it is gone for good. Whoever reads the event whose text it was is given what stands here.
type Redacted struct {
	Events   []string        `data:"events"`   // ids: of the event whose text it was, and of earlier redactions of it
	Redacted map[string]int  `data:"redacted"` // what was taken out, by class
	Text     json.RawMessage `text:"*"`
}

// TextsErased destroyed what people wrote in a stream of something other than an item or a session, for good.
type TextsErased struct {
	ReasonCode  string   `data:"reason_code"`
	LegalBasis  string   `data:"legal_basis,omitempty"`
	RequestedBy string   `data:"requested_by,omitempty"`
	Ticket      string   `data:"ticket,omitempty"`
	Events      []string `data:"events,list"` // ids of the events that lost their text
}

// Name implements [Fact].
func (Redacted) Name() string    { return "text.redacted" }
func (TextsErased) Name() string { return "text.erased" }

// Destroys are the ids of the events whose texts a fact destroys.
func Destroys(fact Fact) []string {
	switch f := fact.(type) {
	case Erased:
		return f.Events
	case SessionErased:
		return f.Events
	case TextsErased:
		return f.Events
	case Redacted:
		return f.Events
	}
	return nil
}
