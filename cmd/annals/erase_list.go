package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/domain"
)

// erasure is a line of a list of erasures: what a backup that is restored may not know. Keys that were revoked or rotated,
// or whose role was changed, are on it, too.
type erasure struct {
	Tenant      string      `json:"tenant"`
	Stream      string      `json:"stream"`
	EventID     string      `json:"event_id"`
	RecordedAt  time.Time   `json:"recorded_at,omitzero"`
	Revoked     bool        `json:"revoked,omitempty"` // it is a key, and not erased
	ReplacedBy  string      `json:"replaced_by,omitempty"`
	Until       time.Time   `json:"until,omitzero"` // it is a key that was rotated, and opened until then
	Role        domain.Role `json:"role,omitempty"` // it is a key that had this role from then on
	ReasonCode  string      `json:"reason_code,omitempty"`
	LegalBasis  string      `json:"legal_basis,omitempty"`
	RequestedBy string      `json:"requested_by,omitempty"`
	Ticket      string      `json:"ticket,omitempty"`
}

const (
	revocation = "key.revoked"
	rotation   = "key.rotated"
	roleChange = "key.role_changed"
)

// ofKey is the name of what happened to a key; empty if the line is of what was erased.
func (e erasure) ofKey() string {
	switch {
	case e.Revoked:
		return revocation
	case !e.Until.IsZero():
		return rotation
	case e.Role != "":
		return roleChange
	}
	return ""
}

// exportList writes what the log says was erased, and which keys were revoked or rotated, or had their role changed.
func (e *eraseCommand) exportList(ctx context.Context, c *console, server *client.Client) error {
	lines := map[string]int64{}
	caller, err := server.Whoami(ctx)
	if err != nil {
		return err
	}
	// Whoever may not see all erasures would get a list of some, that looks like one of all.
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures"}}, nil); err != nil {
		return err
	}
	err = writeWhole(c, e.ExportList, func(buffer *bytes.Buffer, flush func() error) error {
		query := url.Values{"name": {"knowledge.erased", "session.erased", "text.erased", "erasure.ordered", revocation, rotation, roleChange}, "limit": {"500"}}
		for page, err := range client.Pages[json.RawMessage](ctx, server, []string{"v1", "events"}, query) {
			if err != nil {
				return err
			}
			for _, raw := range page.Items {
				var event struct {
					Name       string    `json:"name"`
					EventID    string    `json:"event_id"`
					Stream     string    `json:"stream"`
					RecordedAt time.Time `json:"recorded_at"`
					Data       struct {
						erasure

						Of string `json:"of"` // of an order: what is erased is named by itself, but for a tenant
						By string `json:"by"` // of a rotation: the prefix of the other key

						Role domain.Role `json:"role"` // of a change of it, and of an order: of whoever gave that
					} `json:"data"`
				}
				if err := json.Unmarshal(raw, &event); err != nil {
					return err
				}
				line := event.Data.erasure
				line.Tenant, line.Stream, line.EventID, line.RecordedAt = caller.Tenant, event.Stream, event.EventID, event.RecordedAt
				line.Revoked, line.ReplacedBy = event.Name == revocation, event.Data.By
				if event.Name == roleChange {
					line.Role = event.Data.Role
				}
				if event.Data.Of != "" {
					if line.Stream = event.Data.Of; !line.isTenant() {
						continue
					}
				}
				if err := json.NewEncoder(buffer).Encode(line); err != nil {
					return err
				}
				lines[line.ofKey()]++
			}
			if err := flush(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.note("%s of tenant %s in %s", some(lines[""], "erasure", "erasures"), printable(caller.Tenant), e.ExportList)
	for _, also := range []struct{ what, one, many string }{
		{revocation, "revoked key is", "revoked keys are"},
		{rotation, "rotated key is", "rotated keys are"},
		{roleChange, "change of a key's role is", "changes of keys' roles are"},
	} {
		if n := lines[also.what]; n > 0 {
			c.note("%s there, too", some(n, also.one, also.many))
		}
	}
	return nil
}
