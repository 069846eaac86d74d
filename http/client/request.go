package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// Request is one request to the API.
type Request struct {
	Method string
	Path   []string // segments, unescaped
	Query  url.Values
	Header http.Header
	Body   any // encoded as JSON; nil for none, []byte is sent as it is
}

// Get is a GET request.
func Get(path ...string) Request { return Request{Method: http.MethodGet, Path: path} }

// Post is a POST request whose body is encoded as JSON.
func Post(body any, path ...string) Request {
	return Request{Method: http.MethodPost, Path: path, Body: body}
}

type redactedKey struct{}

// OnRedacted is a context for requests that call note with what the server removed from their texts, such as
// "email=1,phone=2".
func OnRedacted(ctx context.Context, note func(what string)) context.Context {
	return context.WithValue(ctx, redactedKey{}, note)
}

type receiptKey struct{}

// OnReceipt is a context for requests that call note with the id of the receipt of each answer that has one. Note is
// nil for requests whose answers nobody sees.
func OnReceipt(ctx context.Context, note func(id string)) context.Context {
	return context.WithValue(ctx, receiptKey{}, note)
}

// Response is the server's answer.
type Response struct {
	Status int
	Header http.Header
	Body   json.RawMessage
}

// Redacted counts what was taken out of the texts before they were recorded, by class.
func (r *Response) Redacted() map[string]int {
	found := map[string]int{}
	for part := range strings.SplitSeq(r.Header.Get("Annals-Redacted"), ",") {
		class, count, _ := strings.Cut(part, "=")
		if n, err := strconv.Atoi(count); err == nil {
			found[class] += n
		}
	}
	return found
}

// Receipt is the id of the receipt of an answer; empty if it has none.
func (r *Response) Receipt() string {
	receipt := r.Header.Get("Annals-Receipt")
	if strings.Contains(receipt, " ") { // what proves a write
		return ""
	}
	return receipt
}

// maxAnswer is the largest answer in bytes.
const maxAnswer = 64 << 20

// Do sends a request and decodes the answer into out, unless out is nil. It repeats a safe request after a temporary
// error. The error is an [*Error] unless ctx was cancelled. With a refusal, Do also returns the response.
func (c *connection) Do(ctx context.Context, r Request, out any) (*Response, error) {
	patience := c.cfg.Patience
	if patience == 0 {
		var cancel context.CancelFunc
		ctx, cancel = c.limited(ctx)
		defer cancel()
	}
	body, err := encode(r.Body)
	if err != nil {
		return nil, err
	}
	header := c.header.Clone()
	maps.Copy(header, r.Header)
	if body != nil && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	if (c.cfg.Retries > 0 || patience > 0) && r.Method != http.MethodGet && header.Get("Idempotency-Key") == "" {
		header.Set("Idempotency-Key", rand.Text()) // a repeated request takes effect once
	}
	const longest = 2 * time.Second
	pause, failing := 50*time.Millisecond, time.Time{}
	for try := 0; ; try++ {
		answer, err := c.attempt(ctx, r, header, body, out)
		again, wait := retryable(err)
		if !again || patience == 0 && try >= c.cfg.Retries || ctx.Err() != nil {
			return answer, err
		}
		if failing.IsZero() {
			failing = time.Now()
		}
		wait = max(wait, min(pause, longest))
		deadline, limited := ctx.Deadline()
		if limited && time.Until(deadline) <= wait || patience > 0 && time.Since(failing)+wait > patience {
			return answer, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return answer, err
		}
		pause *= 4
	}
}

// limited limits a context to the timeout, if there is one.
func (c *connection) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.cfg.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.cfg.Timeout)
}

func encode(body any) ([]byte, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return b, nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return encoded, nil
}

func (c *connection) attempt(
	ctx context.Context, r Request, header http.Header, body []byte, out any,
) (*Response, error) {
	ctx, cancel := c.limited(ctx) // within that of all attempts
	defer cancel()
	response, err := c.send(ctx, r, header, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	answer, err := c.read(response)
	note, is := ctx.Value(redactedKey{}).(func(string))
	if what := response.Header.Get("Annals-Redacted"); is && what != "" {
		note(what)
	}
	if note, is := ctx.Value(receiptKey{}).(func(string)); is && note != nil && err == nil && answer.Receipt() != "" {
		note(answer.Receipt())
	}
	if err != nil || out == nil || len(answer.Body) == 0 {
		return answer, err
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return answer, c.foreign(answer.Status, err)
	}
	return answer, nil
}

func (c *connection) send(ctx context.Context, r Request, header http.Header, body []byte) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.address(r), sent)
	if err != nil {
		return nil, fmt.Errorf("prepare request: %w", err)
	}
	request.Header = header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		c.health.note(false)
		return nil, c.unreachable(err)
	}
	return response, nil
}

// read reads a whole answer. A status outside of 2xx becomes an [*Error].
func (c *connection) read(response *http.Response) (*Response, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unreachable(err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	c.health.note(response.StatusCode < http.StatusInternalServerError)
	answer := &Response{Status: response.StatusCode, Header: response.Header, Body: body}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return answer, c.refusal(answer)
	}
	return answer, nil
}

// address escapes each segment, so that an id cannot change the path.
func (c *connection) address(r Request) string {
	escaped := make([]string, len(r.Path))
	for i, segment := range r.Path {
		escaped[i] = url.PathEscape(segment)
	}
	address := strings.TrimRight(c.base.String(), "/") + "/" + strings.Join(escaped, "/")
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	return address
}

// Open sends a request once and returns the body of the answer, of any length. The caller closes it. The time limit
// applies until the answer begins.
func (c *connection) Open(ctx context.Context, r Request) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.cfg.Timeout > 0 {
		late := time.AfterFunc(c.cfg.Timeout, func() { cancel(context.DeadlineExceeded) })
		defer late.Stop()
	}
	header := c.header.Clone()
	maps.Copy(header, r.Header)
	response, err := c.send(ctx, r, header, nil) //nolint:bodyclose // the caller closes it, see stream
	if err != nil {
		cause := context.Cause(ctx)
		cancel(nil)
		if errors.Is(cause, context.DeadlineExceeded) {
			return nil, c.unreachable(cause)
		}
		return nil, err
	}
	body := &stream{ReadCloser: response.Body, cancel: cancel}
	if response.StatusCode != http.StatusOK {
		defer body.Close() //nolint:errcheck // it has been read
		_, err := c.read(response)
		return nil, err
	}
	return body, nil
}

// stream is a body that ends its request when it is closed.
type stream struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (s *stream) Close() error {
	defer s.cancel(nil)
	return s.ReadCloser.Close()
}

// Pages reads the pages of a list as needed. An error ends the sequence.
func Pages[T any](ctx context.Context, c *Client, path []string, query url.Values) iter.Seq2[api.Page[T], error] {
	return func(yield func(api.Page[T], error) bool) {
		query = maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		sent := map[string]bool{}
		for {
			var page api.Page[T]
			_, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query}, &page)
			if !yield(page, err) || err != nil || page.NextCursor == "" {
				return
			}
			if sent[page.NextCursor] {
				yield(api.Page[T]{}, c.foreign(http.StatusOK, errors.New("a cursor is repeated: the list has no end")))
				return
			}
			sent[page.NextCursor] = true
			query.Set("cursor", page.NextCursor)
		}
	}
}

// all reads the items of all pages of a list.
func all[T any](ctx context.Context, c *Client, path []string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range Pages[T](ctx, c, path, query) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
