package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// chart is a step chart of a confidence over time, in the units of its view box.
type chart struct {
	Width, Height int
	Line          string // the commands of an SVG path
	Marks         []mark
	Grid          []gridLine
	Events        int
	First, Last   *api.Event
	End           float64 // the last confidence
}

// mark is an event on a chart.
type mark struct {
	X, Y  string
	Kind  string // a CSS class: helpful, harmful, stale, confirmed or other
	Event *api.Event
}

// gridLine is a confidence with a line across the chart.
type gridLine struct{ Y, Line, Label string }

// Small tells whether the chart is one without marks and labels.
func (c *chart) Small() bool { return c.Height < 60 }

// mostMarks limits the marks of a chart.
const mostMarks = 300

// confidenceChart draws the confidences of a history, oldest first. It returns nil if no event has one. Time begins
// with the first event and ends with the last one.
func confidenceChart(history []api.Event, width, height int) *chart {
	c := &chart{Width: width, Height: height}
	for i := range history {
		if history[i].Confidence != nil {
			c.Marks = append(c.Marks, mark{Event: &history[i]})
		}
	}
	if c.Events = len(c.Marks); c.Events == 0 {
		return nil
	}
	c.First, c.Last = c.Marks[0].Event, c.Marks[c.Events-1].Event
	c.End = *c.Last.Confidence
	left, right, top, bottom := 2.0, 12.0, 4.0, 4.0
	if !c.Small() {
		left, right, top, bottom = 32, 20, 12, 28
	}
	across, down := float64(width)-left-right, float64(height)-top-bottom
	y := func(confidence float64) string { return short(top + down*(1-min(max(confidence, 0), 1))) }
	x := func(at time.Time) string {
		span := max(c.Last.RecordedAt.Sub(c.First.RecordedAt), 1)
		return short(left + across*float64(at.Sub(c.First.RecordedAt))/float64(span))
	}
	var line strings.Builder
	for i, one := range c.Marks {
		m := mark{x(one.Event.RecordedAt), y(*one.Event.Confidence), markOf(one.Event.Name), one.Event}
		if c.Marks[i] = m; i == 0 {
			line.WriteString("M" + m.X + " " + m.Y)
			continue
		}
		line.WriteString("H" + m.X + "V" + m.Y)
	}
	end := short(float64(width) - 2)
	c.Line = line.String() + "H" + end
	c.Marks = c.Marks[max(0, c.Events-mostMarks):]
	for _, confidence := range []float64{0, 0.5, 1} {
		across := "M" + short(left) + " " + y(confidence) + "H" + end
		c.Grid = append(c.Grid, gridLine{y(confidence), across, confidenceOf(confidence)})
	}
	return c
}

// Shape is the mark around the origin, as the commands of an SVG path. Each kind has a shape of its own.
func (m mark) Shape() string {
	switch m.Kind {
	case "helpful":
		return "M0-5L5 4H-5Z"
	case "harmful":
		return "M0 5L5-4H-5Z"
	case "stale":
		return "M-4-4L4 4M-4 4L4-4"
	case "confirmed":
		return "M0-5L5 0L0 5L-5 0Z"
	}
	return "M-2-2H2V2H-2Z"
}

// confidenceOf writes a confidence with three digits.
func confidenceOf(value any) string {
	switch value := value.(type) {
	case float64:
		return percent(value)
	case *float64:
		if value != nil {
			return percent(*value)
		}
	}
	return ""
}

// short writes a coordinate.
func short(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func markOf(name string) string {
	switch name {
	case "knowledge.found_helpful":
		return "helpful"
	case "knowledge.found_harmful":
		return "harmful"
	case "knowledge.reported_stale":
		return "stale"
	case "knowledge.confirmed":
		return "confirmed"
	}
	return "other"
}
