package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// eventsBar shows how many of how many events were read: a bar if somebody is watching, else a line now and then.
type eventsBar struct {
	verb string
	c    *console
	bar  *progressbar.ProgressBar
	said time.Time
}

func watchEvents(c *console) *eventsBar { return watchCount(c, "verifying", 1) }

// watchCount shows how many of how many things are done.
func watchCount(c *console, verb string, of int64) *eventsBar {
	b := &eventsBar{verb: verb, c: c, said: time.Now()}
	if c.watched {
		b.bar = progressbar.NewOptions64(max(1, of),
			progressbar.OptionSetWriter(c.err), progressbar.OptionSetDescription(verb), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		)
	}
	return b
}

func (b *eventsBar) set(events, of int64) {
	if b.bar != nil {
		b.bar.ChangeMax64(max(1, of))
		_ = b.bar.Set64(events) // a bar that cannot be drawn stops nothing
		return
	}
	if time.Since(b.said) < betweenLines || b.c.json {
		return
	}
	b.said = time.Now()
	b.c.note("%s: %s of %s", b.verb, counted(events), counted(of))
}

func (b *eventsBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
