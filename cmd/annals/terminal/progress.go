package terminal

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
)

// Progress shows the progress of long work: a bar on a terminal, otherwise a line at the beginning of a phase and
// every few seconds.
type Progress struct {
	c     *Console
	phase string
	bar   *progressbar.ProgressBar
	last  time.Time // of the last printed line
}

const betweenLines = 5 * time.Second

// Watch begins a phase of work.
func Watch(c *Console, phase string) *Progress {
	return &Progress{c: c, phase: phase, last: time.Now()}
}

// Set shows how much of the phase is done; total is 0 if it is unknown.
func (p *Progress) Set(done, total int64) {
	text := fmt.Sprintf("%s: %s", p.phase, humanize.Comma(done))
	if total > 0 {
		text += " of " + humanize.Comma(total)
	}
	p.Show(p.phase, text, done, total)
}

// Show shows a phase with a text and its progress. A new phase begins a new bar or line.
func (p *Progress) Show(phase, text string, done, total int64) {
	begins := phase != p.phase
	p.phase = phase
	if p.c.Watched {
		p.draw(begins, text, done, total)
		return
	}
	if p.c.JSON || !begins && time.Since(p.last) < betweenLines {
		return
	}
	p.last = time.Now()
	p.c.Note("%s", text)
}

func (p *Progress) draw(begins bool, text string, done, total int64) {
	if total == 0 {
		total = -1
	}
	if begins {
		p.End()
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.c.Err), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		)
	}
	// A failure to draw the bar must not stop the work.
	if total > 0 {
		p.bar.ChangeMax64(total)
		_ = p.bar.Set64(min(done, total))
	} else {
		_ = p.bar.Add(1)
	}
	p.bar.Describe(text)
}

// End removes the bar.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
