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

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

const (
	perCommit = 500                   // records
	batchWait = 50 * time.Millisecond // a commit waits no longer for its next record
)

// bulk is a request to remember many.
type bulk struct {
	server   *Server
	call     *call
	revise   bool
	answered int // records
	out      *responseBuffer
}

// rememberMany answers records while they arrive. One that is refused never spoils the others,
// and none is answered before it is durable.
func (s *Server) rememberMany(c *call, sent io.Reader, split body.Splitter, in *rememberInput) (*streamed, error) {
	const forOne = "is for one item: send what it is for by itself"
	revise := valueOf(in.Update.read(&c.found, "update"))
	if c.request.Header.Get("If-Match") != "" {
		c.found.Add("If-Match", forOne)
	}
	if in.UnlessSaidSince != "" {
		c.found.Add("unless_said_since", forOne)
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	return &streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", linesType)
		control := http.NewResponseController(c.response)
		_ = control.EnableFullDuplex() // only HTTP/1.1 on a real connection needs it
		from := &timedBody{from: sent, control: control, patience: s.cfg.Timeout, left: s.cfg.MaxBulk}
		out := newResponseBuffer(c.response, s.cfg.Timeout, func() {
			if !from.ended.Load() { // and perhaps never will be: then nothing can follow it
				to.SetHeader("Connection", "close")
			}
		})
		b := &bulk{server: s, call: c, revise: revise, out: out}
		stop := make(chan struct{})
		incoming := make(chan body.Record, perCommit)
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
			c.err = fmt.Errorf("send answers: %w: %w", context.Canceled, err)
		}
	}}, nil
}

// answer answers records until there are no more; false if the caller does not read the answers, or if the
// server closes.
func (b *bulk) answer(incoming <-chan body.Record) bool {
	for more := true; more; {
		var batch []body.Record
		batch, more = b.nextBatch(incoming)
		select {
		case <-b.server.cut:
			_ = b.out.add(b.lines([]api.BulkAnswer{b.failed("", b.answered+1, errServerClosing())}))
			return false
		default:
		}
		if b.out.add(b.lines(b.commit(batch))) != nil {
			return false
		}
	}
	return true
}

func errServerClosing() error {
	return domain.Refuse(errClosing, "the server shuts down; this record and those after it were not taken").
		WithFix("send them again")
}

// nextBatch waits for a record, and a little for those that follow.
func (b *bulk) nextBatch(incoming <-chan body.Record) (batch []body.Record, more bool) {
	select {
	case <-b.server.cut:
		return nil, true
	case first, more := <-incoming:
		if !more {
			return nil, false
		}
		batch = append(make([]body.Record, 0, perCommit), first)
	}
	timer := time.NewTimer(batchWait)
	defer timer.Stop()
	for len(batch) < perCommit {
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

// commit submits what can be submitted, in one go, and answers each record.
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
		// What has arrived is taken, though its sender may have left meanwhile.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(b.call.request.Context()), b.server.cfg.Timeout)
		defer cancel()
		for i, result := range b.submit(ctx, submissions) {
			place := places[i]
			if result.Err != nil {
				id, _ := domain.ItemOf(submissions[i].Command.Stream())
				answers[place] = b.failed(id, b.answered+place+1, contextError(ctx, result.Err))
				continue
			}
			k := result.Receipt.Knowledge
			answers[place] = api.BulkAnswer{
				ID: k.ID, Status: result.Receipt.Outcome, Revision: k.Revision, Receipt: keptOf(result.Receipt),
				Redacted: result.Receipt.Redacted,
			}
		}
	}
	b.answered += len(batch)
	return answers
}

// submit waits for room in the queue instead of refusing what the caller would only send again.
func (b *bulk) submit(ctx context.Context, all []domain.Submission) []domain.Result {
	const feedDelay = 50 * time.Millisecond
	results := b.server.cfg.Writer.SubmitAll(ctx, all)
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
		for i, r := range b.server.cfg.Writer.SubmitAll(ctx, again) {
			results[waiting[i]] = r
		}
	}
}

// submission reads one record; with an error, its command tells at most the id.
func (b *bulk) submission(r body.Record, number int) (domain.Submission, error) {
	if r.Err != nil {
		return domain.Submission{}, bodyError(r.Err)
	}
	command, provenance, err := remembering(b.call.principal, r.Data, b.revise, nil)
	if err != nil {
		return domain.Submission{Command: command}, err
	}
	command.OrSame = true
	submission := b.call.submission(command, r.Data)
	provenance.into(&submission.Origin)
	submission.Origin.RequestID += "#" + strconv.Itoa(number)
	if submission.Request != nil {
		submission.Request.Key += "#" + strconv.Itoa(number)
	}
	return submission, nil
}

func (b *bulk) failed(id string, number int, err error) api.BulkAnswer {
	if isServerError(err) {
		b.call.err = err
	}
	return api.BulkAnswer{
		ID: id, Status: "error",
		Error: &problemOf(err, b.call.instance()+"#"+strconv.Itoa(number)).Problem,
	}
}

func (b *bulk) lines(answers []api.BulkAnswer) []byte {
	var all bytes.Buffer
	for _, answer := range answers {
		b.server.metrics.records.WithLabelValues(answer.Status).Inc()
		write(&all, answer)
	}
	return all.Bytes()
}

// timedBody reads a body that may take as long as it likes, if only it does not pause too long.
type timedBody struct {
	from        io.Reader
	control     *http.ResponseController // not every connection has deadlines: its errors do not matter
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

// interrupt ends a Read that waits for the caller in another goroutine, and all that follow.
func (p *timedBody) interrupt() {
	p.interrupted.Store(true)
	_ = p.control.SetReadDeadline(time.Unix(1, 0))
}

// finish leaves the connection to its next request, or closes it: net/http would wait for a
// rest that may never come.
func (p *timedBody) finish() {
	if !p.ended.Load() {
		p.interrupt()
		return
	}
	_ = p.control.SetReadDeadline(time.Time{})
}
