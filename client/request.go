package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// request is what is asked of the server.
type request struct {
	method string
	path   []string // segments, unescaped
	query  url.Values
	body   any // encoded as JSON; nil for none
	header http.Header
}

// largestAnswer bounds what is held in memory.
const largestAnswer = 64 << 20

// ask sends a request, again if that does no harm and may help, and decodes the answer into out unless that is
// nil. The error is an [*Error] if a server refused.
func (c *Client) ask(ctx context.Context, r request, out any) (http.Header, error) {
	if c.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.Timeout)
		defer cancel()
	}
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
	}
	header := c.header.Clone()
	maps.Copy(header, r.header)
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	if r.method != http.MethodGet && header.Get("Idempotency-Key") == "" {
		header.Set("Idempotency-Key", rand.Text()) // so that it happens once, however often it is sent
	}
	pause := 50 * time.Millisecond
	for try := 0; ; try++ {
		answered, err := c.attempt(ctx, r, header, body, out)
		again, wait := worthAnother(err)
		if err == nil || !again || try >= c.cfg.Retries || ctx.Err() != nil {
			return answered, err
		}
		wait = max(wait, pause)
		if deadline, limited := ctx.Deadline(); limited && time.Until(deadline) <= wait {
			return answered, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return answered, err
		}
		pause *= 4
	}
}

func (c *Client) attempt(ctx context.Context, r request, header http.Header, body []byte, out any) (http.Header, error) {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(body)
	}
	asked, err := http.NewRequestWithContext(ctx, r.method, c.address(r), sent)
	if err != nil {
		return nil, fmt.Errorf("prepare request: %w", err)
	}
	asked.Header = header.Clone()
	response, err := c.http.Do(asked)
	if err != nil {
		c.health.note(false)
		return nil, c.unreachable(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	said, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	if err != nil {
		return response.Header, c.unreachable(err)
	}
	c.health.note(response.StatusCode < http.StatusInternalServerError)
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return response.Header, refusal(response, said)
	}
	if out == nil || len(said) == 0 {
		return response.Header, nil
	}
	if raw, whole := out.(*json.RawMessage); whole {
		*raw = said
		return response.Header, nil
	}
	if err := json.Unmarshal(said, out); err != nil {
		return response.Header, &Error{Status: response.StatusCode, Title: "What answers is no Annals server", err: err}
	}
	return response.Header, nil
}

// address escapes each segment: an id may not leave its place.
func (c *Client) address(r request) string {
	escaped := make([]string, len(r.path))
	for i, segment := range r.path {
		escaped[i] = url.PathEscape(segment)
	}
	address := strings.TrimRight(c.base.String(), "/") + "/" + strings.Join(escaped, "/")
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	return address
}

// worthAnother tells whether a request may succeed if it is sent again, and how long the server wants to be
// left alone.
func worthAnother(err error) (bool, time.Duration) {
	refused, known := errors.AsType[*Error](err)
	if !known {
		return false, 0
	}
	switch refused.Status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, refused.RetryAfter
	}
	return false, 0
}

func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{
		Title: "No server answers at " + c.base.Redacted(), Fix: "start one with: annals serve", err: errors.Join(ErrUnavailable, err),
	}
	if refused, isRefused := errors.AsType[*tls.CertificateVerificationError](err); isRefused {
		e.Title = fmt.Sprintf("The certificate of the server at %s is not trusted: %s", c.base.Redacted(), refused.Err)
		e.Fix = "let SSL_CERT_FILE or the system's trust store have what it was signed with, and name the server as its certificate does"
	}
	return e
}

// refusal reads a problem (RFC 9457).
func refusal(response *http.Response, said []byte) error {
	e := &Error{}
	if json.Unmarshal(said, e) != nil || e.Title == "" {
		e = envelopeOf(said)
	}
	if e.Title == "" {
		e.Title = http.StatusText(response.StatusCode)
	}
	e.Status = response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
