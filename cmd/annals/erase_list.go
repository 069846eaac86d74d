package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// erasure is a line of a list of erasures: what a backup that is restored may not know.
type erasure struct {
	ID          string `json:"id"`
	EventID     string `json:"event_id"`
	RecordedAt  string `json:"recorded_at"`
	ReasonCode  string `json:"reason_code"`
	LegalBasis  string `json:"legal_basis,omitempty"`
	RequestedBy string `json:"requested_by,omitempty"`
	Ticket      string `json:"ticket,omitempty"`
}

func decodeInto(raw json.RawMessage, out any) error { return json.Unmarshal(raw, out) }

// exportList writes what the log says was erased.
func (e *eraseCommand) exportList(ctx context.Context, c *console, api *client) error {
	count := 0
	err := writeWhole(c, e.ExportList, func(buffer *bytes.Buffer, flush func() error) error {
		query := url.Values{"name": {"knowledge.erased", "session.erased"}, "limit": {"500"}}
		return api.pages(ctx, []string{"v1", "events"}, query, func(page []json.RawMessage) error {
			for _, raw := range page {
				var event struct {
					EventID    string  `json:"event_id"`
					Stream     string  `json:"stream"`
					RecordedAt string  `json:"recorded_at"`
					Data       erasure `json:"data"`
				}
				if err := decodeInto(raw, &event); err != nil {
					return err
				}
				line := event.Data
				line.ID, line.EventID, line.RecordedAt = strings.TrimPrefix(event.Stream, "knowledge:"), event.EventID, event.RecordedAt
				if err := json.NewEncoder(buffer).Encode(line); err != nil {
					return err
				}
				count++
			}
			return flush()
		})
	})
	if err == nil {
		c.note("%d erasures in %s", count, e.ExportList)
	}
	return err
}

// replay erases what a list names. What the server does not know, and what is erased already, stays so.
func (e *eraseCommand) replay(ctx context.Context, c *console, api *client) error {
	file, err := os.Open(e.Replay)
	if err != nil {
		return wrong("it is the file that annals erase --export-list has written", "the list cannot be read: %s", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	erased, known, unknown := 0, 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line erasure
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.ID == "" {
			return wrong("it is the file that annals erase --export-list has written", "a line of the list cannot be read")
		}
		again := eraseCommand{ReasonCode: line.ReasonCode, LegalBasis: line.LegalBasis, RequestedBy: line.RequestedBy, Ticket: line.Ticket}
		if (doomed{Stream: line.ID}).isSession() {
			again.writing = e.writing
			switch done, err := again.eraseSession(ctx, line.ID); {
			case err != nil:
				return err
			case done:
				erased++
			default:
				known++
			}
			continue
		}
		header := http.Header{"Annals-Causation-Id": {line.EventID}}
		a, err := api.ask(ctx, request{Method: http.MethodDelete, Path: []string{"v1", "knowledge", line.ID}, Query: again.grounds(), Header: header})
		f, failed := errors.AsType[*failure](err)
		switch {
		case failed && f.Code == exitNotFound:
			unknown++
		case err != nil:
			return err
		case a.Header.Get("Annals-Events") == "":
			known++
		default:
			erased++
		}
	}
	if c.json {
		return c.document(map[string]int{"erased": erased, "erased_before": known, "unknown": unknown})
	}
	c.say("erased %d; %d were erased before, %d are not known here", erased, known, unknown)
	return nil
}
