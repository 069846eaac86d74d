package serve

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
	JSONType  = "application/json"
	PatchType = "application/merge-patch+json"
	LinesType = "application/x-ndjson"
)

// MediaType is the media type that the body declares; without a body there may be none. It must be one of those
// accepted, so that a form that another website makes a browser send is refused.
func MediaType(r *http.Request, accepted ...string) (string, error) {
	claimed := r.Header.Get("Content-Type")
	if claimed != JSONType {
		claimed, _, _ = mime.ParseMediaType(claimed)
	}
	if known := slices.Contains(accepted, claimed); !known && r.ContentLength == 0 {
		return "", nil
	} else if !known {
		return "", domain.Refuse(ErrMediaType, "bodies are read in UTF-8 as %s", strings.Join(accepted, " or ")).
			WithFix("send the header Content-Type: %s", accepted[0])
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "", domain.Refuse(ErrMediaType, "bodies are not read compressed").
			WithFix("send it without Content-Encoding")
	}
	return claimed, nil
}

// body reads the whole body; empty if nothing was sent.
func (c *Call) body(accepted ...string) ([]byte, error) {
	if _, err := MediaType(c.Request, accepted...); err != nil {
		return nil, err
	}
	return c.ReadWhole(c.Request.Body)
}

// ReadWhole reads a single request's body from where it begins.
func (c *Call) ReadWhole(from io.Reader) ([]byte, error) {
	const usual = 64 << 10 // the most to allocate at first, whatever length the caller declares
	if c.Request.ContentLength > c.API.MaxBody {
		return nil, c.tooLarge(from)
	}
	var whole bytes.Buffer
	whole.Grow(int(min(max(0, c.Request.ContentLength), usual)) + bytes.MinRead)
	_, err := whole.ReadFrom(io.LimitReader(from, c.API.MaxBody+1))
	body := whole.Bytes()
	switch {
	case err != nil:
		c.Response.Header().Set("Connection", "close") // the start of the next request is unknown
		return nil, BodyError(err)
	case int64(len(body)) > c.API.MaxBody:
		return nil, c.tooLarge(from)
	}
	return body, nil
}

// tooLarge refuses a body. It first reads and drops some of the rest: a caller that is cut off while it sends would
// not read the answer.
func (c *Call) tooLarge(rest io.Reader) error {
	const patience = 32 << 20
	if c.Request.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, rest, patience)
	}
	return domain.Refuse(domain.ErrTooLarge, "a body may have at most %d bytes", c.API.MaxBody)
}

// BodyError is the refusal of a body that could not be read to its end.
func BodyError(err error) error {
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

// Change submits a command about one item, at the revisions that If-Match names.
func (c *Call) Change(ctx context.Context, id string, decide decide) (domain.Receipt, error) {
	return c.ChangeAll(ctx, id, func(t domain.Target) (domain.Command, []domain.Command, error) {
		command, err := decide(t)
		return command, nil, err
	})
}

// ChangeAll is [Call.Change] with commands that follow the first one: all of them take effect, or none.
func (c *Call) ChangeAll(
	ctx context.Context, id string, decide func(domain.Target) (command domain.Command, then []domain.Command, err error),
) (domain.Receipt, error) {
	if !domain.IsItemID(id) {
		return domain.Receipt{}, domain.NotFound(id)
	}
	revisions, err := c.ExpectedRevisions()
	if err != nil {
		return domain.Receipt{}, err
	}
	command, then, invalid := decide(c.Target(id, revisions))
	return c.Submit(ctx, command, invalid, then...)
}

// ReadBody reads a JSON body. It adds bad fields to c.Found, and keeps the body for the fingerprint of the request.
func ReadBody[T any](c *Call, accepted ...string) (value T, err error) {
	if c.Sent, err = c.body(append(accepted, JSONType)...); err != nil {
		return value, err
	}
	return decodeSent[T](c)
}

// ReadAny is [ReadBody] for bodies that may be left out.
func ReadAny[T any](c *Call) (value T, err error) {
	if c.Sent, err = c.body(JSONType); err != nil || len(bytes.TrimSpace(c.Sent)) == 0 {
		return value, err
	}
	return decodeSent[T](c)
}

// HandleBody registers an operation with a JSON body, which may be left out unless it is required. Its errors are
// NamedErrors, unless it has others.
func HandleBody[B, I, O any](
	a *API, required bool, op huma.Operation, do func(ctx context.Context, c *Call, in *I, body B) (*O, error),
) {
	op.RequestBody = JSONBody[B](a, required)
	if op.Errors == nil {
		op.Errors = NamedErrors
	}
	Handle(a, op, func(ctx context.Context, c *Call, in *I) (*O, error) {
		read := ReadAny[B]
		if required {
			read = func(c *Call) (B, error) { return ReadBody[B](c) }
		}
		value, err := read(c)
		if err != nil {
			return nil, err
		}
		return do(ctx, c, in, value)
	})
}

// decodeSent decodes the body, and tells the caller which of its unknown fields are parameters of the URL.
func decodeSent[T any](c *Call) (T, error) {
	value, err := body.Decode[T](c.Sent, &c.Found)
	for i, bad := range c.Found {
		if _, is := c.known[bad.Field]; is && bad.Message == body.NoField {
			c.Found[i].Message = "is not a field here, but a parameter of the URL: ?" + bad.Field + "=…"
		}
	}
	return value, err
}

// Validated is a command whose Validate names every bad field at once.
type Validated interface {
	domain.Command
	Validate() error
}

// ChangeRoute registers an operation that changes one item. It makes a command of the body. The body is optional
// unless the operation requires it.
func ChangeRoute[B any](
	a *API, required bool, op huma.Operation, command func(c *Call, t domain.Target, in B) Validated,
) {
	op.Errors = ChangeErrors
	HandleBody(a, required, op, func(ctx context.Context, c *Call, in *ItemInput, change B) (*Reply, error) {
		return Replied(c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
			command := command(c, t, change)
			return command, command.Validate()
		}))
	})
}
