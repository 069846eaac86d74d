package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// sender sends batches to the server, and again while it is unavailable.
type sender struct {
	api      *client
	update   bool
	patience time.Duration // how long a batch may be tried again
}

// send answers for each record of the batch, in order.
func (s *sender) send(ctx context.Context, b batch) ([]lineAnswer, error) {
	answers := make([]lineAnswer, len(b.Records))
	for i, r := range b.Records {
		if r.Err != nil {
			answers[i] = lineAnswer{Status: "failed", Error: problemOf(r.Err)}
		}
	}
	if len(b.Sent) == 0 {
		return answers, nil
	}
	query := url.Values{}
	if s.update {
		query.Set("update", "true")
	}
	a, err := s.persist(ctx, request{
		Method: http.MethodPost, Path: []string{"v1", "knowledge"}, Query: query,
		Header: http.Header{"Content-Type": {"application/x-ndjson"}}, Body: b.body(),
	})
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	for _, i := range b.Sent {
		if err := decoder.Decode(&answers[i]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("read the server's answer to line %d: %w", b.Records[i].Number, err)
		}
	}
	return answers, nil
}

// persist sends the same request again while the server is unavailable: the same content again
// changes nothing. A request under way is finished even if ctx ends.
func (s *sender) persist(ctx context.Context, r request) (*answer, error) {
	pause := 250 * time.Millisecond
	deadline := time.Now().Add(s.patience)
	for {
		a, err := s.api.ask(context.WithoutCancel(ctx), r)
		f, failed := errors.AsType[*failure](err)
		if !failed || f.Code != exitUnavailable || time.Now().Add(pause).After(deadline) {
			return a, err
		}
		wait := pause
		if a != nil {
			if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil {
				wait = max(wait, time.Duration(seconds)*time.Second)
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		pause *= 2
	}
}

// problemOf is the answer to a line that was not sent.
func problemOf(err error) json.RawMessage {
	encoded, _ := json.Marshal(problem{Type: "about:blank", Title: "Unreadable", Status: http.StatusBadRequest, Detail: err.Error()})
	return encoded
}
