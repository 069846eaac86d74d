package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// client speaks to one server. It is safe for concurrent use.
type client struct {
	base    *url.URL
	header  http.Header
	timeout time.Duration
	http    *http.Client
}

// request is what is asked of the server.
type request struct {
	Method string
	Path   []string // segments, unescaped
	Query  url.Values
	Header http.Header
	Body   any // encoded as JSON; nil for none, []byte as it is
}

// answer is what the server said.
type answer struct {
	Status int
	Header http.Header
	Body   json.RawMessage
}

// largestAnswer bounds what a command holds in memory.
const largestAnswer = 64 << 20

// ask sends one request and reads its answer. Any other status than 2xx is a [failure].
func (c *client) ask(ctx context.Context, r request) (*answer, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	req, err := c.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	a := &answer{Status: response.StatusCode, Header: response.Header, Body: body}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return a, c.problem(a)
	}
	return a, nil
}

// read asks and decodes the answer into out.
func (c *client) read(ctx context.Context, r request, out any) (*answer, error) {
	a, err := c.ask(ctx, r)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		return a, c.stranger(a)
	}
	return a, nil
}

// readAny is read for answers that say something whatever their status.
func (c *client) readAny(ctx context.Context, r request, out any) (*answer, error) {
	a, err := c.ask(ctx, r)
	if a != nil && json.Unmarshal(a.Body, out) == nil {
		return a, nil
	}
	return a, err
}

func (c *client) prepare(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	switch b := r.Body.(type) {
	case nil:
		kind = ""
	case []byte:
		body = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.address(r.Path, r.Query), body)
	if err != nil {
		return nil, fmt.Errorf("prepare request: %w", err)
	}
	for _, header := range []http.Header{c.header, r.Header} {
		maps.Copy(req.Header, header)
	}
	if kind != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

// address escapes each segment: an id may not leave its place.
func (c *client) address(path []string, query url.Values) string {
	escaped := make([]string, len(path))
	for i, segment := range path {
		escaped[i] = url.PathEscape(segment)
	}
	address := strings.TrimRight(c.base.String(), "/") + "/" + strings.Join(escaped, "/")
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// unreachable says that nobody answered, or not in time.
func (c *client) unreachable(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if f := c.untrusted(err); f != nil {
		return f
	}
	f := &failure{
		Code:   exitUnavailable,
		Detail: fmt.Sprintf("no server answers at %s", c.base.Redacted()),
		Fix:    "start one with: annals serve, or name another with --server URL or ANNALS_SERVER",
	}
	if ctx.Err() != nil {
		f.Detail = fmt.Sprintf("the server at %s did not answer within %s", c.base.Redacted(), c.timeout)
		f.Fix, f.Late = "wait longer with --timeout, or ask: annals doctor", true
	}
	return f
}

// stranger says that what answers is not Annals.
func (c *client) stranger(a *answer) error {
	return &failure{
		Code: exitUnavailable, Status: a.Status,
		Detail: fmt.Sprintf("what answers at %s is no Annals server (status %d)", c.base.Redacted(), a.Status),
		Fix:    "name the server with --server URL or ANNALS_SERVER",
	}
}

// problem decodes an RFC 9457 problem.
func (c *client) problem(a *answer) error {
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if kind != "application/problem+json" {
		return c.stranger(a)
	}
	var p problem
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return c.stranger(a)
	}
	p.Status = a.Status
	f := p.failure()
	f.Fix = ownWords(f.Fix)
	if rest, is := strings.CutPrefix(f.Detail, "a body may"); is {
		f.Detail, f.Fix = "what is sent at once may"+rest, "one piece of knowledge has at most 64 KiB of content: divide it; many at once are for annals import"
	}
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && f.Fix == "" {
		f.Fix = fmt.Sprintf("try again in %d s", seconds)
	}
	return f
}

// problem is how the server refuses (RFC 9457).
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Errors []field `json:"errors"`
	Fix    string  `json:"fix"`
}

func (p problem) failure() *failure {
	detail := p.Detail
	if detail == "" || len(p.Errors) > 0 && p.Title != "" {
		detail = p.Title
	}
	return &failure{
		Code: exitCodeOf(p.Status), Status: p.Status, Type: p.Type,
		Detail: detail, Fields: p.Errors, Fix: p.Fix,
	}
}
