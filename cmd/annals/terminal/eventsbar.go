package terminal

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// EventsBar shows how many of how many events were read: a bar if somebody is watching, else a line now and then.
type EventsBar struct {
	verb string
	c    *Console
	bar  *progressbar.ProgressBar
	said time.Time
}

func WatchEvents(c *Console) *EventsBar { return WatchCount(c, "verifying", 1) }

// WatchCount shows how many of how many things are done.
func WatchCount(c *Console, verb string, of int64) *EventsBar {
	b := &EventsBar{verb: verb, c: c, said: time.Now()}
	if c.Watched {
		b.bar = progressbar.NewOptions64(max(1, of),
			progressbar.OptionSetWriter(c.Err), progressbar.OptionSetDescription(verb), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		)
	}
	return b
}

func (b *EventsBar) Set(events, of int64) {
	if b.bar != nil {
		b.bar.ChangeMax64(max(1, of))
		_ = b.bar.Set64(events) // a bar that cannot be drawn stops nothing
		return
	}
	if time.Since(b.said) < BetweenLines || b.c.JSON {
		return
	}
	b.said = time.Now()
	b.c.Note("%s: %s of %s", b.verb, Counted(events), Counted(of))
}

func (b *EventsBar) End() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
