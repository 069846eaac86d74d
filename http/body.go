package http

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Media types of bodies.
const (
	jsonType  = "application/json"
	patchType = "application/merge-patch+json"
	linesType = "application/x-ndjson"
)

// mediaType is what the body claims to be; without a body it may claim nothing. It must be one of those
// accepted: what a browser would send for another website's form is not.
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

// body reads what was sent, whole: nothing if nothing was sent.
func (s *Server) body(c *call, accepted ...string) ([]byte, error) {
	if _, err := mediaType(c.request, accepted...); err != nil {
		return nil, err
	}
	return s.whole(c, c.request.Body)
}

// whole reads a single request's body from where it begins.
func (s *Server) whole(c *call, from io.Reader) ([]byte, error) {
	const usual = 64 << 10 // for so much there is room at once, if it is said to come
	if c.request.ContentLength > s.cfg.MaxBody {
		return nil, s.tooLarge(c, from)
	}
	var whole bytes.Buffer
	whole.Grow(int(min(max(0, c.request.ContentLength), usual)) + bytes.MinRead)
	_, err := whole.ReadFrom(io.LimitReader(from, s.cfg.MaxBody+1))
	body := whole.Bytes()
	switch {
	case err != nil:
		c.response.Header().Set("Connection", "close") // where the next request begins nobody knows
		return nil, unread(err)
	case int64(len(body)) > s.cfg.MaxBody:
		return nil, s.tooLarge(c, from)
	}
	return body, nil
}

// tooLarge refuses a body. It lets a moderate excess arrive, for nothing: a caller who is cut
// off in the middle of sending would not read the answer.
func (s *Server) tooLarge(c *call, rest io.Reader) error {
	const patience = 32 << 20
	if c.request.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, rest, patience)
	}
	return domain.Refuse(domain.ErrTooLarge, "a body may have at most %d bytes", s.cfg.MaxBody)
}

// unread is the refusal of a body that did not arrive.
func unread(err error) error {
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok {
		return refusal
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return domain.Refuse(errSlow, "the body did not arrive in time")
	}
	return domain.Refuse(domain.ErrMalformed, "the body ended too early")
}
