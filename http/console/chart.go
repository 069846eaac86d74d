package console

import (
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
)

// chart is a step line of a confidence over time, from the first event to the last, in a box of 100 by 100 units.
type chart struct {
	Line   string // the commands of an SVG path
	Points []point
}

// point is an event on a chart.
type point struct {
	*api.Event
	X, Y string
}

// Kind is a CSS class, such as found_helpful.
func (p point) Kind() string { return strings.TrimPrefix(p.Name, "knowledge.") }

// First is the first event.
func (c *chart) First() point { return c.Points[0] }

// Last is the last event.
func (c *chart) Last() point { return c.Points[len(c.Points)-1] }

// confidenceChart draws the confidences of a history, oldest first. It returns nil if no event has one.
func confidenceChart(history []api.Event) *chart {
	c := &chart{}
	for i := range history {
		if history[i].Confidence != nil {
			c.Points = append(c.Points, point{Event: &history[i]})
		}
	}
	if c.Points == nil {
		return nil
	}
	began := c.First().RecordedAt
	lasted := float64(max(c.Last().RecordedAt.Sub(began), 1))
	for i := range c.Points {
		p := &c.Points[i]
		p.X, p.Y = short(100*float64(p.RecordedAt.Sub(began))/lasted), short(100-100**p.Confidence)
		if i == 0 {
			c.Line = "M0 " + p.Y
		}
		c.Line += "H" + p.X + "V" + p.Y
	}
	c.Line += "H104" // the last one holds on
	return c
}

// short writes a coordinate.
func short(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
