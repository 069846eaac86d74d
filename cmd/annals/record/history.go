package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type HistoryCommand struct {
	terminal.Remote

	ID   string `complete:"ids" arg:""`
	Diff bool
	IDs  bool `name:"ids"`

	TraceURL string `name:"trace-url" env:"ANNALS_TRACE_URL" placeholder:"URL"`
}

func (h *HistoryCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := h.Connect()
	if err != nil {
		return err
	}
	query := url.Values{"diff": {strconv.FormatBool(h.Diff)}}
	items, err := terminal.ReadList[terminal.Kept[Event]](
		ctx, server, []string{"v1", "knowledge", h.ID, "history"}, query,
	)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	t := timeline{console: c, ids: h.IDs, diff: h.Diff, traces: h.TraceURL, confidence: -1}
	for i, item := range items {
		t.last = i == len(items)-1
		t.show(item.Value)
	}
	h.expired(ctx, c, server)
	return nil
}

// expired reports that the last confirmation has expired, which is not an event. It reports nothing about a deleted
// item.
func (h *HistoryCommand) expired(ctx context.Context, c *terminal.Console, server *client.Client) {
	var k knowledge.Knowledge
	_, err := server.Do(ctx, client.Get("v1", "knowledge", h.ID), &k)
	if err == nil && k.ConfirmationExpired && k.ConfirmUntil != nil {
		c.Say("○ %s  %s\n    %s", k.ConfirmUntil, terminal.Bold.Render("confirmation expired"),
			terminal.Bold.Render(fmt.Sprintf("confidence %.2f", k.Rating().Confidence)))
	}
}

// Event is an event as the commands show it. In a history it has its changes and its causes.
type Event struct{ api.Event }

// UnmarshalJSON keeps the digits of numbers.
func (e *Event) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(&e.Event)
}

func (e Event) Who() string {
	return terminal.Joined(" for ", e.Actor, e.OnBehalfOf)
}

// What is the event's name without its kind: "knowledge.found_helpful" becomes "found helpful". A rollback to a later
// version is shown as a step forward.
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
	return strings.ReplaceAll(what, "_", " ")
}

// why is the reason code, the ticket and the reason of an event.
func (e Event) why() string {
	grounds := e.grounds()
	return terminal.Joined(": ", terminal.Joined(", ", cmp.Or(e.ReasonCode, grounds.ReasonCode), grounds.Ticket), e.Reason)
}

func (e Event) grounds() (g grounds) {
	_ = json.Unmarshal(e.Data, &g) // most events have none
	return g
}

// grounds are the reasons of an erasure, a hold or a release.
type grounds struct {
	ReasonCode  string `json:"reason_code"`
	LegalBasis  string `json:"legal_basis"`
	RequestedBy string `json:"requested_by"`
	Ticket      string `json:"ticket"`
}
