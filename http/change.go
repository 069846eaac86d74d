package http

import (
	"bytes"
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// decide makes the command that a request is; the error names every bad field at once.
type decide func(domain.Target) (domain.Command, error)

// change submits a command about one item, for the revision that the caller expects.
func (s *Server) change(ctx context.Context, c *call, id string, body []byte, decide decide) (domain.Receipt, error) {
	if !possible(id) {
		return domain.Receipt{}, domain.NotFound(id)
	}
	revisions, err := c.expected()
	if err != nil {
		return domain.Receipt{}, err
	}
	command, err := decide(c.target(id, revisions))
	if err := merge(c.found, err); err != nil {
		return domain.Receipt{}, err
	}
	return s.cfg.Writer.Submit(ctx, c.submission(command, body))
}

// read takes a JSON body. Bad fields are noted in the call's findings.
func read[T any](s *Server, c *call, accepted ...string) (value T, sent []byte, err error) {
	if sent, err = s.body(c, append(accepted, jsonType)...); err != nil {
		return value, nil, err
	}
	value, err = body.Decode[T](sent, &c.found)
	c.misplaced()
	return value, sent, err
}

// readAny is read for bodies that may be left out.
func readAny[T any](s *Server, c *call) (value T, sent []byte, err error) {
	if sent, err = s.body(c, jsonType); err != nil || len(bytes.TrimSpace(sent)) == 0 {
		return value, nil, err
	}
	value, err = body.Decode[T](sent, &c.found)
	c.misplaced()
	return value, sent, err
}

// misplaced says of parameters of the URL that stand in the body where they belong.
func (c *call) misplaced() {
	for i, bad := range c.found {
		if _, is := c.known[bad.Field]; is && bad.Message == body.NoField {
			c.found[i].Message = "is not a field here, but a parameter of the URL: ?" + bad.Field + "=…"
		}
	}
}

// replied answers a change with the item afterwards.
func replied(receipt domain.Receipt, err error) (*reply, error) {
	if err != nil {
		return nil, err
	}
	return replyOf(receipt), nil
}
