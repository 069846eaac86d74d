package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// exportList writes what the log says was erased, and which keys were revoked or rotated, or had their role changed.
func (e *EraseCommand) exportList(ctx context.Context, c *terminal.Console, server *client.Client) error {
	lines := map[string]int64{}
	caller, err := server.Whoami(ctx)
	if err != nil {
		return err
	}
	// Whoever may not see all erasures would get a list of some, that looks like one of all.
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures"}}, nil); err != nil {
		return err
	}
	err = terminal.WriteWhole(c, e.ExportList, func(buffer *bytes.Buffer, flush func() error) error {
		query := url.Values{"name": {"knowledge.erased", "session.erased", "text.erased", "erasure.ordered", serve.Revocation, serve.Rotation, serve.RoleChange}, "limit": {"500"}}
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
						serve.Erasure

						Of string `json:"of"` // of an order: what is erased is named by itself, but for a tenant
						By string `json:"by"` // of a rotation: the prefix of the other key

						Role domain.Role `json:"role"` // of a change of it, and of an order: of whoever gave that
					} `json:"data"`
				}
				if err := json.Unmarshal(raw, &event); err != nil {
					return err
				}
				line := event.Data.Erasure
				line.Tenant, line.Stream, line.EventID, line.RecordedAt = caller.Tenant, event.Stream, event.EventID, event.RecordedAt
				line.Revoked, line.ReplacedBy = event.Name == serve.Revocation, event.Data.By
				if event.Name == serve.RoleChange {
					line.Role = event.Data.Role
				}
				if event.Data.Of != "" {
					if line.Stream = event.Data.Of; !line.IsTenant() {
						continue
					}
				}
				if err := json.NewEncoder(buffer).Encode(line); err != nil {
					return err
				}
				lines[line.OfKey()]++
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
	c.Note("%s of tenant %s in %s", terminal.Some(lines[""], "erasure", "erasures"), terminal.Printable(caller.Tenant), e.ExportList)
	for _, also := range []struct{ what, one, many string }{
		{serve.Revocation, "revoked key is", "revoked keys are"},
		{serve.Rotation, "rotated key is", "rotated keys are"},
		{serve.RoleChange, "change of a key's role is", "changes of keys' roles are"},
	} {
		if n := lines[also.what]; n > 0 {
			c.Note("%s there, too", terminal.Some(n, also.one, also.many))
		}
	}
	return nil
}
