package record

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// follow shows past events and then new ones, until Ctrl-C. While the server is unavailable, it waits and then
// resumes where it stopped.
func (l *LogCommand) follow(
	ctx context.Context, c *terminal.Console, server *client.Client, query url.Values, items []terminal.Kept[Event],
) error {
	seen := &seen{position: l.After, path: []string{"v1", "events"}}
	for _, item := range items {
		seen.show(c, item)
	}
	if len(items) == 0 {
		c.Note("nothing yet; waiting (Ctrl-C ends)")
	}
	query.Set("after", strconv.FormatInt(seen.position, 10))
	return seen.follow(ctx, c, server, query)
}

// following are the flags that say what to follow.
type following struct {
	Scope  string   `complete:"scopes" placeholder:"SCOPE"`
	Item   string   `complete:"items" placeholder:"ID"`
	Tag    string   `placeholder:"KEY=VALUE"`
	Query  string   `placeholder:"WORDS"`
	Events []string `placeholder:"EVENT"`
}

type WatchCommand struct {
	terminal.Remote
	following
}

func (w *WatchCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := w.Connect()
	if err != nil {
		return err
	}
	var now api.Moment // a reconnect before the first event goes on from here
	if _, err := server.Do(ctx, client.Get("v1", "log", "moment"), &now); err != nil {
		return err
	}
	query := url.Values{"after": {strconv.FormatInt(now.HeadPosition, 10)}}
	terminal.Put(query, "scope", w.Scope)
	terminal.Put(query, "item", w.Item)
	terminal.Put(query, "tag", w.Tag)
	terminal.Put(query, "query", w.Query)
	terminal.Put(query, "events", w.Events...)
	begun := "waiting for what happens from now on (Ctrl-C ends)"
	return (&seen{path: []string{"v1", "watch"}, texts: true, begun: begun}).follow(ctx, c, server, query)
}

// follow shows events until Ctrl-C.
func (s *seen) follow(ctx context.Context, c *terminal.Console, server *client.Client, query url.Values) error {
	away := false
	for {
		err := s.read(ctx, c, server, query)
		f := terminal.AsFailure(err)
		switch {
		case ctx.Err() != nil:
			return nil // Ctrl-C is the normal end
		case err != nil && f.Code != terminal.ExitUnavailable:
			return err
		}
		if !away && err != nil {
			c.Note("annals: %s; waiting for it", f.Detail)
		}
		away = err != nil
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// seen is the last event that was shown.
type seen struct {
	path     []string // of the feed
	position int64
	id       string
	texts    bool   // show the beginning of what was written
	begun    string // to say once the server has accepted the request
}

// content is the content of an item that the event wrote.
func (e Event) content() string {
	var text struct{ Content string }
	_ = json.Unmarshal(e.Text, &text) // most events have none
	return text.Content
}

// read shows events until the stream ends.
func (s *seen) read(ctx context.Context, c *terminal.Console, server *client.Client, query url.Values) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if s.id != "" {
		header.Set("Last-Event-ID", s.id)
	}
	q := client.Get(s.path...)
	q.Query, q.Header = query, header
	body, err := server.Open(ctx, q)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	if s.begun != "" {
		c.Note("%s", s.begun)
		s.begun = ""
	}
	for m, err := range messages(body) {
		switch {
		case err != nil:
			return terminal.Unreachable(err, "no server answers at "+server.Server())
		case m.name == "closed":
			var p api.Problem
			if err := json.Unmarshal(m.data, &p); err != nil {
				return fmt.Errorf("read why the stream ended: %w", err)
			}
			return terminal.ProblemOf(p)
		case m.name == "":
			var e terminal.Kept[Event]
			if err := json.Unmarshal(m.data, &e); err != nil {
				return fmt.Errorf("read the server's answer: %w", err)
			}
			s.show(c, e)
		}
	}
	return nil
}

// show prints an event as a line, or with --json as it arrived.
func (s *seen) show(c *terminal.Console, item terminal.Kept[Event]) {
	e := item.Value
	s.position, s.id = e.Position, e.EventID
	if c.JSON {
		c.Print("%s", item.Raw)
		return
	}
	const widestWhat, widestWho = 15, 24
	what, who := terminal.Bold.Render(terminal.Padded(e.What(), widestWhat)), terminal.Padded(e.Who(), widestWho)
	line := terminal.Markupf("%s  %s  %s  %s", terminal.Moment(e.RecordedAt), what, who, e.Stream)
	text := e.Reason
	if s.texts {
		text = cmp.Or(text, e.content())
	}
	if text != "" {
		room := c.Width - ansi.StringWidth(string(line)) - 12
		line += terminal.Faint.Render("  " + terminal.OneLine(text, max(20, room)))
	}
	c.Say("%s  %s", line, terminal.Faint.Render(fmt.Sprintf("#%d", e.Position)))
}

// message is a server-sent event.
type message struct {
	name string
	data json.RawMessage
}

// messages reads a stream of server-sent events without comments. It drops an incomplete message at the end.
func messages(from io.Reader) func(yield func(message, error) bool) {
	return func(yield func(message, error) bool) {
		var m message
		for reader := bufio.NewReader(from); ; {
			line, err := reader.ReadString('\n')
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(message{}, err)
				}
				return
			}
			name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case name == "" && value == "" && len(m.data) > 0:
				if !yield(m, nil) {
					return
				}
				m = message{}
			case name == "event":
				m.name = value
			case name == "data":
				m.data = append(m.data, value...)
			}
		}
	}
}
