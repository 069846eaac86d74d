package terminal

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows how far long work has come: a bar if somebody is watching, else a line now and then.
type Progress struct {
	c     *Console
	verb  string
	size  int64 // bytes in all; 0 if unknown
	bar   *progressbar.ProgressBar
	bytes int64
	items int
	began time.Time
	said  time.Time
}

// BetweenLines is how long a log hears nothing.
const BetweenLines = 5 * time.Second

func Watch(c *Console, verb string, size int64) *Progress {
	p := &Progress{c: c, verb: verb, size: size, began: time.Now(), said: time.Now()}
	if c.Watched {
		total := size
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(c.Err), progressbar.OptionSetDescription(verb),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
		)
	}
	return p
}

func (p *Progress) Add(bytes int64, items int) {
	p.bytes, p.items = p.bytes+bytes, p.items+items
	if p.bar != nil {
		_ = p.bar.Add64(bytes) // a bar that cannot be drawn stops nothing
		p.bar.Describe(p.verb + " " + p.pace(time.Since(p.began)))
		return
	}
	if time.Since(p.said) < BetweenLines || p.c.JSON {
		return
	}
	p.said = time.Now()
	if p.size > 0 {
		p.c.Note("%s: %s, %d %%", p.verb, p.pace(time.Since(p.began)), min(100, 100*p.bytes/p.size))
		return
	}
	p.c.Note("%s: %s", p.verb, p.pace(time.Since(p.began)))
}

// pace is how many records were read, how many in a second, and how long the rest takes at that rate.
func (p *Progress) pace(took time.Duration) string {
	text := fmt.Sprintf("%s records, %s/s", Counted(int64(p.items)), Counted(int64(float64(p.items)/max(took.Seconds(), 0.001))))
	if p.size > 0 && p.bytes > 0 {
		text += ", " + Lasting(took.Seconds()*float64(max(0, p.size-p.bytes))/float64(p.bytes)) + " left"
	}
	return text
}

func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
