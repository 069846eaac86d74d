package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// Event is an entry of the log as the commands show it; a history adds what it changed, and what caused it.
type Event struct{ api.Event }

// UnmarshalJSON keeps numbers as they were written.
func (e *Event) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(&e.Event)
}

func (e Event) Who() string {
	return terminal.Printable(terminal.Joined(" for ", e.Actor, e.OnBehalfOf))
}

// What is the event's name without its kind: "knowledge.found_helpful" reads "found helpful". A projection that is
// rolled back to a later version goes forward again.
func (e Event) What() string {
	if e.Name == "projection.rolled_back" {
		var to struct{ Version, From int }
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
	return terminal.Printable(strings.ReplaceAll(what, "_", " "))
}

// why is the word that somebody gave for it, the case that it belongs to, and what was written about it.
func (e Event) why() string {
	grounds := e.grounds()
	return terminal.Joined(": ", terminal.Joined(", ", cmp.Or(e.ReasonCode, grounds.ReasonCode), grounds.Ticket), e.Reason)
}

func (e Event) grounds() (g grounds) {
	_ = json.Unmarshal(e.Data, &g) // most events have none
	return g
}

// grounds are why something was erased, held or released.
type grounds struct {
	ReasonCode  string `json:"reason_code"`
	LegalBasis  string `json:"legal_basis"`
	RequestedBy string `json:"requested_by"`
	Ticket      string `json:"ticket"`
}

// said is what a voter said: what for, and what came of it.
func (e Event) said() []string {
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
