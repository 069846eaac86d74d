package main

import (
	"context"
	"io"
	"net/http"
	"time"
)

// open sends one request and leaves the reading of the answer, however long it is, to the caller, who
// closes it. Any other status than 2xx is a [failure]. The time limit is for the answer's beginning.
func (c *client) open(ctx context.Context, r request) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(c.patience(), cancel)
	req, err := c.prepare(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := c.http.Do(req) //nolint:bodyclose // its reader closes it, see closing
	if err != nil || !late.Stop() {
		defer cancel()
		return nil, c.unreachable(ctx, err)
	}
	body := &closing{ReadCloser: response.Body, cancel: cancel}
	if response.StatusCode != http.StatusOK {
		defer body.Close() //nolint:errcheck // it has been read
		said, err := io.ReadAll(io.LimitReader(body, largestAnswer))
		if err != nil {
			return nil, c.unreachable(ctx, err)
		}
		return nil, c.problem(&answer{Status: response.StatusCode, Header: response.Header, Body: said})
	}
	return body, nil
}

// patience is how long an answer may take to begin.
func (c *client) patience() time.Duration {
	if c.timeout > 0 {
		return c.timeout
	}
	return 24 * time.Hour
}

// closing ends the request with its answer.
type closing struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *closing) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
