package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
)

// importer sends several batches at a time, and passes their answers on in the order of the input.
type importer struct {
	from     source // what is read
	send     func(context.Context, Batch) ([]lineAnswer, error)
	parallel int // requests under way at once, at least 1

	torn error // why the input could not be read to its end
}

// pending is a batch that was sent.
type pending struct {
	batch   Batch
	answers []lineAnswer // one for each record
	err     error
	done    chan struct{}
}

// run reads the input as far as possible. After a failure or the end of ctx, it stops reading and waits for the
// outstanding answers. The error joins those of the server, of take and of the context.
func (m *importer) run(ctx context.Context, input io.Reader, take func(Batch, []lineAnswer) error) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	source := readBatches(reading, input)
	interrupted := ctx.Done()
	var underway []*pending
	var failed error
	for source != nil || len(underway) > 0 {
		var next <-chan readBatch
		if len(underway) < m.parallel {
			next = source
		}
		var first <-chan struct{}
		if len(underway) > 0 {
			first = underway[0].done
		}
		select {
		case read, more := <-next:
			switch {
			case !more:
				source = nil
			case read.err != nil:
				m.torn, source = m.from.broken(read.err), nil
			default:
				underway = append(underway, m.begin(ctx, read.batch))
			}
		case <-first:
			p := underway[0]
			underway = underway[1:]
			err := p.err
			if err == nil {
				err = take(p.batch, p.answers)
			}
			if err != nil {
				failed, source = errors.Join(failed, err), nil
			}
		case <-interrupted:
			failed, source, interrupted = errors.Join(failed, ctx.Err()), nil, nil
		}
	}
	return failed
}

// begin sends a batch.
func (m *importer) begin(ctx context.Context, b Batch) *pending {
	p := &pending{batch: b, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.answers, p.err = m.send(ctx, b)
	}()
	return p
}

type readBatch struct {
	batch Batch
	err   error
}

// readBatches reads one batch ahead. Its goroutine ends with the input, or at the next batch after ctx has ended. No
// function waits for it, since reading standard input cannot be interrupted.
func readBatches(ctx context.Context, input io.Reader) <-chan readBatch {
	source := make(chan readBatch)
	go func() {
		defer close(source)
		for b, err := range batches(input) {
			select {
			case source <- readBatch{b, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return source
}

// Batch is the content of one request of an import.
type Batch struct {
	Records []Record
	Sent    []int // indices of the valid records, which are sent
}

const (
	batchRecords = 100
	batchBytes   = 1 << 20
)

// batches groups records, in order. An error comes after the records before it.
func batches(in io.Reader) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		var b Batch
		size := 0
		flush := func() bool {
			full := b
			b, size = Batch{}, 0
			return len(full.Records) == 0 || yield(full, nil)
		}
		for r, err := range records(in) {
			if err != nil {
				if flush() {
					yield(Batch{}, err)
				}
				return
			}
			if len(b.Records) == batchRecords || size+len(r.Raw) > batchBytes {
				if !flush() {
					return
				}
			}
			if r.Err == nil {
				b.Sent = append(b.Sent, len(b.Records))
			}
			b.Records = append(b.Records, r)
			size += len(r.Raw)
		}
		flush()
	}
}

// body is the body of a request: a record per line, each with an id, its origin and the reason.
func (b Batch) body(records []int, who string, from source, reason string) []byte {
	var body bytes.Buffer
	for _, i := range records {
		raw := b.Records[i].Raw
		if from.laid != "" {
			raw = withPlacement(raw, from.laid)
		}
		raw = withField(identified(raw, who), "causation_id", b.Records[i].origin(from.name))
		body.Write(withField(raw, "reason", reason))
		body.WriteByte('\n')
	}
	return body.Bytes()
}

// size is the number of input bytes of the batch.
func (b Batch) size() int64 {
	size := 0
	for _, r := range b.Records {
		size += r.Size
	}
	return int64(size)
}
