package record

import (
	"io"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// notJSON says where a line breaks, and not on what.
func notJSON(line []byte) error {
	switch broken, is := body.FindJSONError(line); {
	case !is:
		return nil
	case broken.Why != "":
		return domain.Refuse(domain.ErrMalformed, "%s", broken.Why)
	default:
		return domain.Refuse(domain.ErrMalformed, "this is not valid JSON: it breaks at column %d", broken.Column)
	}
}

// counting is a reader that knows at which line a place of what was read lies. It keeps the ends of the
// lines that were read and not passed yet.
type counting struct {
	in   io.Reader
	read int64
	ends []int64
	line int // of the place that was passed last, from 1
}

// Read implements [io.Reader].
func (c *counting) Read(into []byte) (int, error) {
	n, err := c.in.Read(into)
	for i, b := range into[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

// pass goes on to a place.
func (c *counting) pass(place int64) {
	passed := 0
	for passed < len(c.ends) && c.ends[passed] < place {
		passed++
	}
	c.line += passed
	c.ends = c.ends[passed:]
}
