package record

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type HistoryCommand struct {
	terminal.Remote

	ID   string `complete:"ids" arg:""`
	Diff bool
	IDs  bool `name:"ids"`
}

// Run implements the command.
func (h *HistoryCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := h.Connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	if h.Diff {
		query.Set("diff", "true")
	}
	items, err := terminal.ReadList(ctx, server, []string{"v1", "knowledge", h.ID, "history"}, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	t := timeline{console: c, ids: h.IDs, diff: h.Diff, confidence: -1}
	for i, raw := range items {
		var e Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		t.last = i == len(items)-1
		t.show(e)
	}
	h.expired(ctx, c, server)
	return nil
}

// expired says that the last confirmation has expired, which is no event. An item that is gone says nothing.
func (h *HistoryCommand) expired(ctx context.Context, c *terminal.Console, server *client.Client) {
	var k knowledge.Knowledge
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge", h.ID}}, &k)
	if err == nil && k.ConfirmationExpired && k.ConfirmUntil != nil {
		c.Say("○ %s  %s\n    %s", terminal.Moment(*k.ConfirmUntil), terminal.Bold.Render("confirmation expired"), terminal.Bold.Render(fmt.Sprintf("confidence %.2f", k.Rating().Confidence)))
	}
}
