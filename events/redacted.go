package events

import (
	"encoding/json"

	"github.com/annals-kb/annals/domain"
)

type redactedData struct {
	Events   []string       `json:"events"`
	Redacted map[string]int `json:"redacted"`
}

// splitRedacted has for its text that of the event which it replaces, as that event would have written it.
func splitRedacted(f domain.Redacted) (redactedData, json.RawMessage) {
	return redactedData{Events: f.Events, Redacted: f.Redacted}, f.Text
}

func joinRedacted(d redactedData, text json.RawMessage) domain.Redacted {
	if string(text) == "null" { // as of every other fact, no text
		text = nil
	}
	return domain.Redacted{Events: d.Events, Redacted: d.Redacted, Text: text}
}

func splitTextsErased(f domain.TextsErased) erasedData { return splitErased(domain.Erased(f)) }
func joinTextsErased(d erasedData) domain.TextsErased  { return domain.TextsErased(d) }
