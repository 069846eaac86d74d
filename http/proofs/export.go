package proofs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

type exportLogInput struct {
	After   serve.Integer `query:"after" doc:"Only positions after this one."`
	Through serve.Integer `query:"through" doc:"Only positions up to this one; to the end of the log if left out."`
	Texts   serve.Boolean `query:"texts" doc:"With what people wrote; true if left out. Without, the records still verify."`
}

// mostExports is how many exports run at once. Each holds a connection to the database until its caller has read
// everything.
const mostExports = 2

// exportLog answers with the log as it is stored. An export without progress ends after Config.Timeout.
func (s Room) exportLog(_ context.Context, c *serve.Call, in *exportLogInput) (*serve.Streamed, error) {
	x := domain.Export{
		Tenant:  c.Principal.Tenant,
		After:   in.After.Read(&c.Found, "after", 0, serve.NoLimit),
		Through: in.Through.Read(&c.Found, "through", 1, serve.NoLimit),
	}
	texts := in.Texts.Read(&c.Found, "texts")
	x.Texts = texts == nil || *texts
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if !c.Principal.SeesAll() {
		return nil, domain.Refuse(domain.ErrForbidden, "only auditors and admins export the log").
			WithFix("ask for the proof of each event that you may read: GET /v1/log/proof/{event_id}")
	}
	select {
	case s.exports <- struct{}{}:
	default:
		return nil, domain.Refuse(domain.ErrBusy, "%d exports of the log run already", mostExports).
			WithFix("try again when one has ended")
	}
	// The context of an operation would end with the time limit; that of the request does not.
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	stalled := time.AfterFunc(s.api.Timeout, func() { cancel(context.DeadlineExceeded) })
	from, to := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		err := s.Prover.Export(ctx, x, to)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		_ = to.CloseWithError(err)
	}()
	end := func() {
		stalled.Stop()
		cancel(nil)
		_ = from.Close()
		<-written
		<-s.exports
	}
	first := make([]byte, 64<<10)
	n, err := from.Read(first)
	if n == 0 {
		end()
		return nil, err
	}
	return &serve.Streamed{Body: func(hc huma.Context) {
		defer end()
		hc.SetHeader("Content-Type", serve.LinesType)
		c.Err = s.copyUntilShutdown(c, first, n, from, stalled)
	}}, nil
}

// copyUntilShutdown copies until the reader ends, the caller stops reading or loses rights, or the server shuts down.
// Each piece restarts the timer that ends an export without progress. After an error the output is incomplete.
func (s Room) copyUntilShutdown(c *serve.Call, buffer []byte, n int, from io.Reader, stalled *time.Timer) error {
	control := http.NewResponseController(c.Response)
	for {
		stalled.Reset(s.api.Timeout)
		_ = control.SetWriteDeadline(time.Now().Add(s.api.Timeout)) // not every writer has deadlines
		if _, err := c.Response.Write(buffer[:n]); err != nil {
			return fmt.Errorf("send an export: %w: %w", context.Canceled, err)
		}
		if err := s.api.MayGoOn(c); err != nil {
			return err
		}
		var err error
		if n, err = from.Read(buffer); n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
