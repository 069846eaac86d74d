package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// Media types of bodies.
const (
	jsonType  = "application/json"
	patchType = "application/merge-patch+json"
	linesType = "application/x-ndjson"
)

// mediaType is the media type that the body declares; without a body there may be none. It must be one of those
// accepted, so that a form that another website makes a browser send is refused.
func mediaType(r *http.Request, accepted ...string) (string, error) {
	claimed := r.Header.Get("Content-Type")
	if claimed != jsonType {
		claimed, _, _ = mime.ParseMediaType(claimed)
	}
	if known := slices.Contains(accepted, claimed); !known && r.ContentLength == 0 {
		return "", nil
	} else if !known {
		return "", domain.Refuse(errMediaType, "bodies are read in UTF-8 as %s", strings.Join(accepted, " or ")).
			WithFix("send the header Content-Type: %s", accepted[0])
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "", domain.Refuse(errMediaType, "bodies are not read compressed").
			WithFix("send it without Content-Encoding")
	}
	return claimed, nil
}

// body reads the whole body; empty if nothing was sent.
func (s *Server) body(c *call, accepted ...string) ([]byte, error) {
	if _, err := mediaType(c.request, accepted...); err != nil {
		return nil, err
	}
	return s.readWhole(c, c.request.Body)
}

// readWhole reads a single request's body from where it begins.
func (s *Server) readWhole(c *call, from io.Reader) ([]byte, error) {
	const usual = 64 << 10 // the most to allocate at first, whatever length the caller declares
	if c.request.ContentLength > s.cfg.MaxBody {
		return nil, s.tooLarge(c, from)
	}
	var whole bytes.Buffer
	whole.Grow(int(min(max(0, c.request.ContentLength), usual)) + bytes.MinRead)
	_, err := whole.ReadFrom(io.LimitReader(from, s.cfg.MaxBody+1))
	body := whole.Bytes()
	switch {
	case err != nil:
		c.response.Header().Set("Connection", "close") // the start of the next request is unknown
		return nil, bodyError(err)
	case int64(len(body)) > s.cfg.MaxBody:
		return nil, s.tooLarge(c, from)
	}
	return body, nil
}

// tooLarge refuses a body. It first reads and drops some of the rest: a caller that is cut off while it sends would
// not read the answer.
func (s *Server) tooLarge(c *call, rest io.Reader) error {
	const patience = 32 << 20
	if c.request.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, rest, patience)
	}
	return domain.Refuse(domain.ErrTooLarge, "a body may have at most %d bytes", s.cfg.MaxBody)
}

// bodyError is the refusal of a body that could not be read to its end.
func bodyError(err error) error {
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok {
		return refusal
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return domain.Refuse(errSlow, "the body did not arrive in time")
	}
	return domain.Refuse(domain.ErrMalformed, "the body ended too early")
}

// decide makes the command of a request. The error names every bad field at once.
type decide func(domain.Target) (domain.Command, error)

// change submits a command about one item, at the revisions that If-Match names.
func (s *Server) change(ctx context.Context, c *call, id string, body []byte, decide decide) (domain.Receipt, error) {
	if !domain.IsItemID(id) {
		return domain.Receipt{}, domain.NotFound(id)
	}
	revisions, err := c.expectedRevisions()
	if err != nil {
		return domain.Receipt{}, err
	}
	command, err := decide(c.target(id, revisions))
	if err := merge(c.found, err); err != nil {
		return domain.Receipt{}, err
	}
	return s.cfg.Writer.Submit(ctx, c.submission(command, body))
}

// readBody reads a JSON body. It adds bad fields to c.found.
func readBody[T any](s *Server, c *call, accepted ...string) (value T, sent []byte, err error) {
	if sent, err = s.body(c, append(accepted, jsonType)...); err != nil {
		return value, nil, err
	}
	value, err = body.Decode[T](sent, &c.found)
	c.noteMisplaced()
	return value, sent, err
}

// readAny is readBody for bodies that may be left out.
func readAny[T any](s *Server, c *call) (value T, sent []byte, err error) {
	if sent, err = s.body(c, jsonType); err != nil || len(bytes.TrimSpace(sent)) == 0 {
		return value, nil, err
	}
	value, err = body.Decode[T](sent, &c.found)
	c.noteMisplaced()
	return value, sent, err
}

// noteMisplaced tells the caller which unknown fields of the body are parameters of the URL.
func (c *call) noteMisplaced() {
	for i, bad := range c.found {
		if _, is := c.known[bad.Field]; is && bad.Message == body.NoField {
			c.found[i].Message = "is not a field here, but a parameter of the URL: ?" + bad.Field + "=…"
		}
	}
}

// validated is a command whose Validate names every bad field at once.
type validated interface {
	domain.Command
	Validate() error
}

// changeRoute registers an operation that changes one item. It makes a command of the body. The body is optional
// unless the operation requires it.
func changeRoute[B any](
	s *Server, required bool, op huma.Operation, command func(c *call, t domain.Target, in B) validated,
) {
	op.RequestBody, op.Errors = bodies(s, required, map[string]any{jsonType: *new(B)}), changeErrors
	read := readAny[B]
	if required {
		read = func(s *Server, c *call) (B, []byte, error) { return readBody[B](s, c) }
	}
	handle(s, op, func(ctx context.Context, c *call, in *itemInput) (*reply, error) {
		given, sent, err := read(s, c)
		if err != nil {
			return nil, err
		}
		return replied(s.change(ctx, c, in.ID, sent, func(t domain.Target) (domain.Command, error) {
			command := command(c, t, given)
			return command, command.Validate()
		}))
	})
}

// replied answers a change with the item afterwards.
func replied(receipt domain.Receipt, err error) (*reply, error) {
	if err != nil {
		return nil, err
	}
	return replyOf(receipt), nil
}
