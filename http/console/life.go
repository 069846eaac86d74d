package console

import (
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
)

// life is what happened to an item, as a line of time. Its height is the confidence.
type life struct {
	Points []lifePoint
	Left   int // points between the first and the second that the line leaves out
}

// lifePoint is an entry of the history, or the present as the last point.
type lifePoint struct {
	step

	X, Y    string // from the left in percent, from the top in pixels
	FromX   string // of the point before; empty for the first
	FromY   string
	Address string // of the item as it was then
	Here    bool   // the page shows it
	Now     bool
}

const (
	mostPoints      = 40 // on a line
	lifeTop, lifeUp = 62, 44
)

// Width is the least width of the line in pixels, so that the words of its points do not touch.
func (l *life) Width() int { return 88 * (len(l.Points) - 1) }

// Last is the index of the last point.
func (l *life) Last() int { return len(l.Points) - 1 }

// Kind is a CSS class, such as reported_stale.
func (p lifePoint) Kind() string { return strings.TrimPrefix(p.Name, "knowledge.") }

// lifeOf draws the line of an item by its history, oldest first. It is nil if the history is empty. The points lead to
// the item's address, as of then.
func lifeOf(p *page, address string, history []api.Event) *life {
	steps := timeline(history, false)
	if len(steps) == 0 {
		return nil
	}
	l := &life{Left: max(len(steps)-mostPoints, 0)}
	steps = append(steps[:1:1], steps[1+l.Left:]...)
	height, here := lifeTop-lifeUp/2, len(steps)
	for i, one := range append(steps, step{}) {
		if one.Confidence != nil {
			height = lifeTop - int(lifeUp**one.Confidence)
		}
		at := lifePoint{step: one, X: short(100 * float64(i) / float64(len(steps))), Y: strconv.Itoa(height)}
		if at.Now = i == len(steps); at.Now {
			at.Address = address
		} else {
			at.Address = address + encode(nil, "as_of", strconv.FormatInt(one.Position, 10))
			if p.Moment.Past() && one.Position <= p.Moment.Position {
				here = i
			}
		}
		if i > 0 {
			at.FromX, at.FromY = l.Points[i-1].X, l.Points[i-1].Y
		}
		l.Points = append(l.Points, at)
	}
	l.Points[here].Here = true
	return l
}

// then is the entry of a history that the page shows. It is nil for the present, and for a moment at which nothing
// happened to the item.
func then(p *page, history []api.Event) *step {
	if len(history) == 0 || !p.Moment.Past() {
		return nil
	}
	steps := timeline(history, false)
	last := &steps[len(steps)-1]
	if last.Position != p.Moment.Position {
		return nil
	}
	return last
}

// Content is how the entry changed the content; nil if it did not.
func (s step) Content() []api.FieldChange {
	for _, change := range s.Changes {
		if change.Field == "content" && !s.Began {
			return change.Diff
		}
	}
	return nil
}
