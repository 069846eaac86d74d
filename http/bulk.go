package http

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

const (
	perCommit     = 500                   // records
	mostPerCommit = 64 << 20              // bytes of them
	batchWait     = 50 * time.Millisecond // how long a commit waits for its next record
)

// bulk is a request with many records, each of which is a command.
type bulk struct {
	server   *Server
	call     *serve.Call
	command  commandOf
	answered int // records
	out      *responseBuffer
}

// commandOf makes a command of a record. With an error, the command holds at most the id.
type commandOf func(record []byte) (domain.Command, provenance, error)

// rememberMany answers records while others still arrive. A refused record does not affect the others. A record is
// answered only after it is durable.
func (s *Server) rememberMany(
	c *serve.Call, sent io.Reader, split body.Splitter, in *rememberInput,
) (*serve.Streamed, error) {
	const forOne = "is for one item: send what it is for by itself"
	revise := serve.Value(in.Update.Read(&c.Found, "update"))
	lesson := serve.Value(in.Lesson.Read(&c.Found, "lesson"))
	if c.Request.Header.Get("If-Match") != "" {
		c.Found.Add("If-Match", forOne)
	}
	if in.OnSimilar != "" {
		c.Found.Add("on_similar", forOne)
	}
	if in.Supersedes != "" {
		c.Found.Add("supersedes", forOne)
	}
	return s.answerMany(c, sent, split, func(record []byte) (domain.Command, provenance, error) {
		command, provenance, err := remembering(c.Principal, record, revise, nil)
		command.OrSame = true
		if lesson && s.cfg.Lesson != nil && err == nil {
			command, err = s.cfg.Lesson(c.Request.Context(), command)
		}
		return command, provenance, err
	})
}

// acts does something to many items.
func (s *Server) acts(_ context.Context, c *serve.Call, _ *struct{}) (*serve.Streamed, error) {
	media, err := serve.MediaType(c.Request, serve.JSONType, serve.LinesType)
	if err != nil {
		return nil, err
	}
	split := body.Lines
	if media == serve.JSONType {
		split = body.Elements
	}
	return s.answerMany(c, c.Request.Body, split, func(record []byte) (domain.Command, provenance, error) {
		var found domain.Problems
		in, err := body.Decode[api.Act](record, &found)
		target := c.Target(in.ID, nil)
		if in.IfMatch != 0 {
			target.Revisions = []int64{in.IfMatch}
		}
		command, known := actOf(target, in, c.Now)
		switch {
		case err != nil:
			return domain.Restore{Target: target}, provenance{}, err
		case !known:
			found.Add("act", "must be one of confirm, stale, supersede, transfer, forget, restore, helpful, harmful")
			return domain.Restore{Target: target}, provenance{}, found.Err()
		case !domain.IsItemID(in.ID):
			return command, provenance{}, serve.Merge(found, domain.NotFound(in.ID))
		}
		for _, field := range []struct {
			name        string
			given, fits bool
		}{
			{"until", in.Until != nil, in.Act == "confirm"},
			{"by", in.By != "", in.Act == "supersede"},
			{"owner", in.Owner != "", in.Act == "transfer"},
			{"reason", in.Reason != "", !isVote(in.Act)},
			{"query", in.Query != "", isVote(in.Act)},
			{"outcome", in.Outcome != "", isVote(in.Act)},
			{"trace_id", in.TraceID != "", isVote(in.Act)},
		} {
			if field.given && !field.fits {
				found.Add(field.name, "is not a field of %s", in.Act)
			}
		}
		if in.Act == "transfer" && in.Owner == "" {
			found.Add("owner", "must name the new owner")
		}
		return command, provenance{}, serve.Merge(found, command.Validate())
	})
}

func isVote(act string) bool {
	return act == string(domain.Helpful) || act == string(domain.Harmful)
}

// actOf is the command of an act; false if there is no such act.
func actOf(t domain.Target, in api.Act, now time.Time) (command serve.Validated, known bool) {
	switch in.Act {
	case "confirm":
		return domain.Confirm{Target: t, Until: serve.Value(in.Until), Reason: in.Reason}, true
	case "stale":
		return domain.ReportStale{Target: t, Reason: in.Reason}, true
	case "supersede":
		return domain.Supersede{Target: t, Successor: in.By, Reason: in.Reason}, true
	case "transfer":
		return domain.Revise{Target: t, Owner: domain.Entity(in.Owner), Reason: in.Reason}, true
	case "forget":
		return domain.Delete{Target: t, Reason: in.Reason}, true
	case "restore":
		return domain.Restore{Target: t, Reason: in.Reason}, true
	}
	return domain.GiveFeedback{
		Target: t, Verdict: domain.Verdict(in.Act), Query: in.Query, TraceID: in.TraceID, Outcome: in.Outcome, Day: now,
	}, isVote(in.Act)
}

// answerMany answers records one by one, in order.
func (s *Server) answerMany(
	c *serve.Call, sent io.Reader, split body.Splitter, command commandOf,
) (*serve.Streamed, error) {
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", serve.LinesType)
		control := http.NewResponseController(c.Response)
		_ = control.EnableFullDuplex() // only HTTP/1.1 needs it, so an error is harmless
		from := &timedBody{from: sent, control: control, patience: s.cfg.Timeout, left: s.cfg.MaxBulk}
		out := newResponseBuffer(c.Response, s.cfg.Timeout, func() {
			if !from.ended.Load() { // the body may never end, so no other request can follow it
				to.SetHeader("Connection", "close")
			}
		})
		b := &bulk{server: s, call: c, command: command, out: out}
		stop := make(chan struct{})
		incoming := make(chan body.Record, perCommit/4)
		var reading sync.WaitGroup
		reading.Go(func() {
			defer close(incoming)
			for r := range split(bufio.NewReaderSize(from, 64<<10), s.cfg.MaxLine) {
				select {
				case incoming <- r:
				case <-stop:
					return
				}
			}
		})
		if !b.answer(incoming) {
			from.interrupt()
		}
		close(stop)
		reading.Wait()
		from.finish()
		if err := b.out.close(); err != nil {
			c.Err = fmt.Errorf("send answers: %w: %w", context.Canceled, err)
		}
	}}, nil
}

// answer answers records until there are no more. It returns false if the caller does not read the answers, or if the
// server shuts down.
func (b *bulk) answer(incoming <-chan body.Record) bool {
	for more := true; more; {
		var batch []body.Record
		batch, more = b.nextBatch(incoming)
		if err := b.server.api.MayGoOn(b.call); err != nil {
			_ = b.out.add(b.lines([]api.BulkAnswer{b.failed("", b.answered+1, err)}))
			return false
		}
		if b.out.add(b.lines(b.commit(batch))) != nil {
			return false
		}
	}
	return true
}

// nextBatch waits for a record, and then up to batchWait for more.
func (b *bulk) nextBatch(incoming <-chan body.Record) (batch []body.Record, more bool) {
	select {
	case <-b.server.api.Cut:
		return nil, true
	case first, more := <-incoming:
		if !more {
			return nil, false
		}
		batch = append(make([]body.Record, 0, perCommit), first)
	}
	timer := time.NewTimer(batchWait)
	defer timer.Stop()
	for size := len(batch[0].Data); len(batch) < perCommit && size < mostPerCommit; size += len(batch[len(batch)-1].Data) {
		select {
		case next, more := <-incoming:
			if !more {
				return batch, false
			}
			batch = append(batch, next)
		case <-timer.C:
			return batch, true
		}
	}
	return batch, true
}

// commit submits all valid records in one call and answers each record.
func (b *bulk) commit(batch []body.Record) []api.BulkAnswer {
	answers := make([]api.BulkAnswer, len(batch))
	var submissions []domain.Submission
	var places []int
	for i, r := range batch {
		submission, err := b.submission(r, b.answered+i+1)
		if err != nil {
			id := ""
			if submission.Command != nil {
				id, _ = domain.ItemOf(submission.Command.Stream())
			}
			answers[i] = b.failed(id, b.answered+i+1, err)
			continue
		}
		submissions, places = append(submissions, submission), append(places, i)
	}
	if len(submissions) > 0 {
		// A record that has arrived is committed, even if the caller has left.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(b.call.Request.Context()), b.server.cfg.Timeout)
		defer cancel()
		for i, result := range b.submit(ctx, submissions) {
			place := places[i]
			if result.Err != nil {
				id, _ := domain.ItemOf(submissions[i].Command.Stream())
				answers[place] = b.failed(id, b.answered+place+1, b.server.api.Reason(ctx, result.Err))
				continue
			}
			k := result.Receipt.Knowledge
			answers[place] = api.BulkAnswer{
				ID: k.ID, Status: result.Receipt.Outcome, Revision: k.Revision, Receipt: serve.KeptOf(result.Receipt),
				Redacted: result.Receipt.Redacted,
			}
		}
	}
	b.answered += len(batch)
	return answers
}

// submit repeats submissions that the full queue refused, since the caller would only send them again.
func (b *bulk) submit(ctx context.Context, all []domain.Submission) []domain.Result {
	const feedDelay = 50 * time.Millisecond
	results := b.server.api.Writer.SubmitAll(ctx, all)
	for {
		var waiting []int
		var again []domain.Submission
		for i, r := range results {
			if errors.Is(r.Err, domain.ErrBusy) {
				waiting, again = append(waiting, i), append(again, all[i])
			}
		}
		if len(again) == 0 {
			return results
		}
		select {
		case <-ctx.Done():
			return results
		case <-time.After(feedDelay):
		}
		for i, r := range b.server.api.Writer.SubmitAll(ctx, again) {
			results[waiting[i]] = r
		}
	}
}

// submission makes a submission of one record. With an error, its command holds at most the id.
func (b *bulk) submission(r body.Record, number int) (domain.Submission, error) {
	if r.Err != nil {
		return domain.Submission{}, serve.BodyError(r.Err)
	}
	command, provenance, err := b.command(r.Data)
	if err != nil {
		return domain.Submission{Command: command}, err
	}
	b.call.Sent = r.Data
	submission := b.call.Submission(command)
	provenance.into(&submission.Origin)
	submission.Origin.RequestID += "#" + strconv.Itoa(number)
	if submission.Request != nil {
		submission.Request.Key += "#" + strconv.Itoa(number)
	}
	return submission, nil
}

func (b *bulk) failed(id string, number int, err error) api.BulkAnswer {
	if serve.IsServerError(err) {
		b.call.Err = err
	}
	return api.BulkAnswer{
		ID: id, Status: "error",
		Error: &serve.ProblemOf(err, b.call.Instance()+"#"+strconv.Itoa(number)).Problem,
	}
}

func (b *bulk) lines(answers []api.BulkAnswer) []byte {
	var all bytes.Buffer
	for _, answer := range answers {
		b.server.metrics.records.WithLabelValues(answer.Status).Inc()
		serve.WriteJSON(&all, answer)
	}
	return all.Bytes()
}

// timedBody reads a body without a limit to its total time. It limits each pause and the size.
type timedBody struct {
	from        io.Reader
	control     *http.ResponseController // errors are ignored: not every connection has deadlines
	patience    time.Duration
	left        int64
	ended       atomic.Bool // everything was read
	interrupted atomic.Bool
}

func (p *timedBody) Read(into []byte) (int, error) {
	if p.left <= 0 {
		return 0, domain.Refuse(domain.ErrTooLarge, "the rest is too much for one request")
	}
	_ = p.control.SetReadDeadline(time.Now().Add(p.patience))
	if p.interrupted.Load() {
		p.interrupt()
	}
	n, err := p.from.Read(into[:min(int64(len(into)), p.left)])
	p.left -= int64(n)
	if errors.Is(err, io.EOF) {
		p.ended.Store(true)
	}
	return n, err
}

// interrupt ends a Read that waits in another goroutine, and every later one.
func (p *timedBody) interrupt() {
	p.interrupted.Store(true)
	_ = p.control.SetReadDeadline(time.Unix(1, 0))
}

// finish lets the connection serve its next request, or ends reading: otherwise net/http would wait for the rest of
// the body.
func (p *timedBody) finish() {
	if !p.ended.Load() {
		p.interrupt()
		return
	}
	_ = p.control.SetReadDeadline(time.Time{})
}
