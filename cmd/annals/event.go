package main

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// event is an entry of the log; a history adds what it changed, and what caused it.
type event struct {
	Name           string          `json:"name"`
	Position       int64           `json:"position"`
	EventID        string          `json:"event_id"`
	Stream         string          `json:"stream"`
	RecordedAt     time.Time       `json:"recorded_at"`
	OccurredAt     time.Time       `json:"occurred_at"`
	Actor          string          `json:"actor"`
	OnBehalfOf     string          `json:"on_behalf_of"`
	Authentication string          `json:"authentication"`
	RequestID      string          `json:"request_id"`
	CorrelationID  string          `json:"correlation_id"`
	Traceparent    string          `json:"traceparent"`
	ReasonCode     string          `json:"reason_code"`
	Reason         string          `json:"reason"`
	Data           json.RawMessage `json:"data"`
	Text           json.RawMessage `json:"text"`
	TextErased     bool            `json:"text_erased"`
	TextRedacted   bool            `json:"text_redacted"`
	Changes        []change        `json:"changes"`
	Confidence     *float64        `json:"confidence"`
	Revision       int64           `json:"revision"`
	CausedBy       []cause         `json:"caused_by"`
}

type change struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	Policy string          `json:"policy"`
	Diff   []edit          `json:"diff"`
}

type edit struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

type cause struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Stream     string `json:"stream"`
	Position   int64  `json:"position"`
	Actor      string `json:"actor"`
	OnBehalfOf string `json:"on_behalf_of"`
}

func (e event) who() string { return printable(joined(" for ", e.Actor, e.OnBehalfOf)) }

// what is the event's name without its kind: "knowledge.found_helpful" reads "found helpful". A projection that is
// rolled back to a later version goes forward again.
func (e event) what() string {
	if e.Name == "projection.rolled_back" {
		var to stage
		if json.Unmarshal(e.Data, &to) == nil && to.Version > to.From {
			return "rolled forward"
		}
	}
	return happened(e.Name)
}

func happened(name string) string {
	_, what, found := strings.Cut(name, ".")
	if !found {
		what = name
	}
	return printable(strings.ReplaceAll(what, "_", " "))
}

// why is the word that somebody gave for it, the case that it belongs to, and what was written about it.
func (e event) why() string {
	grounds := e.grounds()
	return joined(": ", joined(", ", cmp.Or(e.ReasonCode, grounds.ReasonCode), grounds.Ticket), e.Reason)
}

// grounds are why something was erased, held or released.
func (e event) grounds() (g grounds) {
	_ = json.Unmarshal(e.Data, &g) // most events have none
	return g
}

type grounds struct {
	ReasonCode  string `json:"reason_code"`
	LegalBasis  string `json:"legal_basis"`
	RequestedBy string `json:"requested_by"`
	Ticket      string `json:"ticket"`
}

// said is what a voter said: what for, and what came of it.
func (e event) said() []string {
	var vote struct{ Query, Outcome string }
	if json.Unmarshal(e.Text, &vote) != nil {
		return nil
	}
	var lines []string
	if vote.Query != "" {
		lines = append(lines, "used for: "+vote.Query)
	}
	if vote.Outcome != "" {
		lines = append(lines, "outcome: "+vote.Outcome)
	}
	return lines
}
