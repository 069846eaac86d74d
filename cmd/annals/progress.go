package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far long work has come: a bar if somebody is watching, else a line now and then.
type progress struct {
	c     *console
	verb  string
	size  int64 // bytes in all; 0 if unknown
	bar   *progressbar.ProgressBar
	bytes int64
	items int
	said  time.Time
}

// betweenLines is how long a log hears nothing.
const betweenLines = 5 * time.Second

func watch(c *console, verb string, size int64) *progress {
	p := &progress{c: c, verb: verb, size: size, said: time.Now()}
	if c.watched {
		total := size
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(c.err), progressbar.OptionSetDescription(verb),
			progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		)
	}
	return p
}

func (p *progress) add(bytes int64, items int) {
	p.bytes, p.items = p.bytes+bytes, p.items+items
	if p.bar != nil {
		_ = p.bar.Add64(bytes) // a bar that cannot be drawn stops nothing
		p.bar.Describe(fmt.Sprintf("%s %d", p.verb, p.items))
		return
	}
	if time.Since(p.said) < betweenLines || p.c.json {
		return
	}
	p.said = time.Now()
	if p.size > 0 {
		p.c.note("%s: %d so far, %d %%", p.verb, p.items, min(100, 100*p.bytes/p.size))
		return
	}
	p.c.note("%s: %d so far", p.verb, p.items)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
